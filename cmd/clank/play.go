package main

import (
	"context"
	"errors"

	"clank/internal/command"
	"clank/internal/home"
	"clank/runs/replay"
)

// play opens a browser of its own, which keeps nothing, and plays the run there.
func play(ctx context.Context, e *command.Env, p *replay.Player, allow []string, found func(replay.Finding)) (_ replay.Summary, err error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return replay.Summary{}, err
	}
	a, err := openApp(ctx, h, appOptions{
		getenv: e.Getenv, logger: e.Logger("warn"), version: version, hurry: e.Hurry, throwaway: true, shopAddr: defaultShopAddr,
	})
	if err != nil {
		return replay.Summary{}, err
	}
	defer func() { err = errors.Join(err, a.close(e.Hurry)) }()
	if err := a.takeSettings(ctx, h); err != nil {
		return replay.Summary{}, err
	}
	defer localRunner{a, e}.ask(ctx)()
	p.Places(a.places()) // the demo shop is elsewhere while a server runs
	return p.Run(ctx, a.replayer(p, allow), "replay", found)
}
