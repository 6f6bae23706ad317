package main

import (
	"context"

	"clank/internal/server"
)

// callStandings says what of calls and shares works.
func callStandings(ctx context.Context, v settingsView) []standing {
	var list []standing
	for _, a := range server.CallCapabilities(ctx, v.Live.Current(), v.Present, !v.Remote) {
		list = append(list, standing(a))
	}
	return list
}
