package main

import (
	"context"
	"strings"

	"clank/internal/command"
	"clank/internal/home"
	"clank/vault"
)

// openVault opens the vault of the home. One that cannot be opened is said, and leaves the rest as it is.
func (a *app) openVault(ctx context.Context, e *command.Env) {
	opts, err := vaultOptions(e, a.home)
	if err == nil {
		a.vault, err = vault.Open(ctx, opts)
	}
	if err != nil {
		a.logger.Warn("the vault cannot be used; \"clank vault status\" says more", "error", err)
	}
}

// vaultOptions say where the vault of a home and its key are.
func vaultOptions(e *command.Env, h *home.Home) (vault.Options, error) {
	opts := vault.Options{Path: h.Path("vault.json"), KeyFile: h.Path("vault.key"), Keyring: vault.SystemKeyring{}}
	if strings.EqualFold(e.Getenv("CLANK_VAULT_KEYRING"), "off") {
		opts.Keyring = nil
	}
	return opts, readVaultKey(e, &opts)
}
