package main

import (
	"context"

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
