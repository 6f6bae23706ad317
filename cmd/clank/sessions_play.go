package main

import (
	"context"
	"errors"

	"clank/internal/recording"
	"clank/internal/server"
)

// replayRun opens a browser of its own, which keeps nothing, and plays the run there.
func replayRun(ctx context.Context, e *commandEnv, p *recording.Player, allow []string, found func(recording.StepComparison)) (_ recording.ReplaySummary, err error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	a, err := server.Open(ctx, h, server.Options{
		Getenv: e.Getenv, Logger: e.newLogger("warn"), Version: version, AbortContext: e.AbortContext, Ephemeral: true, ShopAddr: server.DefaultShopAddr,
	})
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	defer func() { err = errors.Join(err, a.Close(e.AbortContext)) }()
	if err := a.CopySettings(ctx, h); err != nil {
		return recording.ReplaySummary{}, err
	}
	defer localRunner{a, e}.startQuestions(ctx)()
	p.Places(a.NamedPages()) // the demo shop is elsewhere while a server runs
	return p.Replay(ctx, a.ReplayBackend(p, allow), "replay", found)
}
