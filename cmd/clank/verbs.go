package main

import (
	"context"

	"clank/internal/browsecli"
	"clank/internal/command"
	"clank/internal/doctorcli"
	"clank/internal/models"
	"clank/internal/sessioncli"
	"clank/internal/settingscli"
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
