package main

import (
	"context"
	"os"

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
