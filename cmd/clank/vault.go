package main

import (
	"context"
	"os"

	"clank/internal/tokencli"
	"clank/internal/vaultcli"
	"clank/settings"
	"clank/vault"
)

func workVault(ctx context.Context, e *env, args []string) error {
	c := vaultcli.Command{Stdin: os.Stdin, Stdout: e.stdout, Stderr: e.stderr, Vault: func() (vault.Options, error) {
		h, err := openHome(e.getenv)
		if err != nil {
			return vault.Options{}, err
		}
		return vaultOptions(e, h)
	}}
	return c.Run(ctx, args)
}

// readVaultKey takes the key from the environment, if it is there.
func readVaultKey(e *env, opts *vault.Options) error {
	key, err := settings.ReadSecret("CLANK_VAULT_KEY", e.getenv)
	if err != nil {
		return err
	}
	if key.Present() {
		opts.Key, opts.KeySource = key.Reveal(), "CLANK_VAULT_KEY"
		if path := e.getenv("CLANK_VAULT_KEY_FILE"); path != "" {
			opts.KeySource = path + " (CLANK_VAULT_KEY_FILE)"
		}
	}
	return nil
}

func manageTokens(_ context.Context, e *env, args []string) error {
	c := tokencli.Command{Stdout: e.stdout, Stderr: e.stderr, File: func() (string, error) {
		h, err := openHome(e.getenv)
		if err != nil {
			return "", err
		}
		return h.tokenFile(), nil
	}}
	return c.Run(args)
}
