package server

import (
	"context"
	"strings"

	"clank/internal/settings"
	"clank/internal/vault"
)

// openVault opens the vault of the home. One that cannot be opened is said, and leaves the rest as it is.
func (a *Server) openVault(ctx context.Context) {
	opts, err := VaultOptions(a.getenv, a.Home)
	if err == nil {
		a.Vault, err = vault.Open(ctx, opts)
	}
	if err != nil {
		a.logger.Warn("the vault cannot be used; \"clank vault status\" says more", "error", err)
	}
}

// VaultOptions say where the vault of a home and its key are.
func VaultOptions(getenv func(string) string, h *Home) (vault.Options, error) {
	opts := vault.Options{Path: h.Path("vault.json"), KeyFile: h.Path("vault.key"), Keyring: vault.SystemKeyring{}}
	if strings.EqualFold(getenv("CLANK_VAULT_KEYRING"), "off") {
		opts.Keyring = nil
	}
	return opts, readVaultKey(getenv, &opts)
}

// readVaultKey takes the key from the environment, if it is there.
func readVaultKey(getenv func(string) string, opts *vault.Options) error {
	key, err := settings.ReadSecret("CLANK_VAULT_KEY", getenv)
	if err != nil {
		return err
	}
	if key.IsSet() {
		opts.Key, opts.KeySource = key.Reveal(), "CLANK_VAULT_KEY"
		if path := getenv("CLANK_VAULT_KEY_FILE"); path != "" {
			opts.KeySource = path + " (CLANK_VAULT_KEY_FILE)"
		}
	}
	return nil
}
