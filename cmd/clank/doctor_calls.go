package main

import (
	"context"

	"clank/internal/command"
	"clank/internal/doctorcli"
	"clank/internal/phone"
	"clank/internal/settingscli"
)

// callsStand says what of calls and shares works.
func callsStand(ctx context.Context, v settingscli.View) []doctorcli.Standing {
	var list []doctorcli.Standing
	for _, a := range phone.Abilities(ctx, v.Live.Now(), v.Present, !v.Far) {
		list = append(list, doctorcli.Standing(a))
	}
	return list
}

// callsLine says in one line what of calls works, and what is missing.
func (a *app) callsLine(ctx context.Context, e *command.Env) string {
	return phone.Summary(phone.Abilities(ctx, a.settings.Now(), func(name string) bool { return settingscli.Present(e, name) }, false))
}
