package main

import (
	"context"
	"os"
	"strings"

	"clank/internal/command"
	"clank/internal/home"
	"clank/internal/tokencli"
	"clank/internal/vaultcli"
	"clank/settings"
	"clank/vault"
)

func workVault(ctx context.Context, e *command.Env, args []string) error {
	c := vaultcli.Command{Stdin: os.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Vault: func() (vault.Options, error) {
		h, err := home.Open(e.Getenv)
		if err != nil {
			return vault.Options{}, err
		}
		return vaultOptions(e, h)
	}}
	return c.Run(ctx, args)
}

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

// readVaultKey takes the key from the environment, if it is there.
func readVaultKey(e *command.Env, opts *vault.Options) error {
	key, err := settings.ReadSecret("CLANK_VAULT_KEY", e.Getenv)
	if err != nil {
		return err
	}
	if key.Present() {
		opts.Key, opts.KeySource = key.Reveal(), "CLANK_VAULT_KEY"
		if path := e.Getenv("CLANK_VAULT_KEY_FILE"); path != "" {
			opts.KeySource = path + " (CLANK_VAULT_KEY_FILE)"
		}
	}
	return nil
}

func manageTokens(_ context.Context, e *command.Env, args []string) error {
	c := tokencli.Command{Stdout: e.Stdout, Stderr: e.Stderr, File: func() (string, error) {
		h, err := home.Open(e.Getenv)
		if err != nil {
			return "", err
		}
		return h.TokenFile(), nil
	}}
	return c.Run(args)
}
