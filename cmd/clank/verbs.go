package main

import (
	"context"
	"os"

	"clank/internal/server"
	"clank/internal/vault"
)

// newBrowseCommand is "clank browse".
func newBrowseCommand(e *commandEnv) browseCommand {
	return browseCommand{Env: e, OpenRunner: openTaskRunner, MaxSteps: server.MaxTaskSteps}
}

func browseVerb(ctx context.Context, e *commandEnv, args []string) error {
	return newBrowseCommand(e).runArgs(ctx, args)
}

func sessionsVerb(ctx context.Context, e *commandEnv, args []string) error {
	return sessionsCommand{Env: e, Browse: newBrowseCommand(e), PlayRun: replayRun}.runArgs(ctx, args)
}

// newSettingsRules are what this program checks of settings.
func newSettingsRules() settingsRules {
	return settingsRules{Providers: server.ModelProviders(), Check: server.CheckReach}
}

func configVerb(ctx context.Context, e *commandEnv, args []string) error {
	return runConfig(ctx, e, newSettingsRules(), args)
}

func doctorVerb(ctx context.Context, e *commandEnv, args []string) error {
	return doctorCommand{Env: e, Rules: newSettingsRules(), SearchEngine: server.SearchEngine, MoreStandings: callStandings}.runArgs(ctx, args)
}

func vaultVerb(ctx context.Context, e *commandEnv, args []string) error {
	c := vaultCommand{Stdin: os.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, VaultOptions: func() (vault.Options, error) {
		h, err := server.OpenHome(e.Getenv)
		if err != nil {
			return vault.Options{}, err
		}
		return server.VaultOptions(e.Getenv, h)
	}}
	return c.runArgs(ctx, args)
}

func tokensVerb(_ context.Context, e *commandEnv, args []string) error {
	c := tokensCommand{Stdout: e.Stdout, Stderr: e.Stderr, TokenFile: func() (string, error) {
		h, err := server.OpenHome(e.Getenv)
		if err != nil {
			return "", err
		}
		return h.TokenFile(), nil
	}}
	return c.runArgs(args)
}
