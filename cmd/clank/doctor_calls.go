package main

import (
	"context"

	"clank/internal/phone"
)

// callsStand says what of calls and shares works.
func callsStand(ctx context.Context, v configView) []standing {
	var list []standing
	for _, a := range phone.Abilities(ctx, v.live.Now(), v.present, !v.far) {
		list = append(list, standing(a))
	}
	return list
}

// callsLine says in one line what of calls works, and what is missing.
func (a *app) callsLine(ctx context.Context, e *env) string {
	return phone.Summary(phone.Abilities(ctx, a.settings.Now(), func(name string) bool { return present(e, name) }, false))
}
