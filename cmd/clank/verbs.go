package main

import (
	"context"
	"os"

	"clank/internal/browsecli"
	"clank/internal/command"
	"clank/internal/doctorcli"
	"clank/internal/home"
	"clank/internal/models"
	"clank/internal/sessioncli"
	"clank/internal/settingscli"
	"clank/internal/tokencli"
	"clank/internal/vaultcli"
	"clank/vault"
)

// browseCommand is "clank browse".
func browseCommand(e *command.Env) browsecli.Command {
	return browsecli.Command{Env: e, Open: newRunner, MaxSteps: maxSteps}
}

func browse(ctx context.Context, e *command.Env, args []string) error {
	return browseCommand(e).Run(ctx, args)
}

func workSessions(ctx context.Context, e *command.Env, args []string) error {
	return sessioncli.Command{Env: e, Browse: browseCommand(e), Play: play}.Run(ctx, args)
}

// settingsRules are what this program checks of settings.
func settingsRules() settingscli.Rules {
	return settingscli.Rules{Providers: models.Providers(), Check: reachFaults}
}

func workConfig(ctx context.Context, e *command.Env, args []string) error {
	return settingscli.Run(ctx, e, settingsRules(), args)
}

func examine(ctx context.Context, e *command.Env, args []string) error {
	return doctorcli.Command{Env: e, Rules: settingsRules(), Engine: searchEngine, Further: callsStand}.Run(ctx, args)
}

func workVault(ctx context.Context, e *command.Env, args []string) error {
	c := vaultcli.Command{Stdin: os.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Vault: func() (vault.Options, error) {
		h, err := home.Open(e.Getenv)
		if err != nil {
			return vault.Options{}, err
		}
		return vaultOptions(e.Getenv, h)
	}}
	return c.Run(ctx, args)
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
