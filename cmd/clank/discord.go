package main

import (
	"context"
	"errors"
	"time"

	"clank/bot"
	"clank/bot/gateway"
	"clank/cancel"
	"clank/settings"
)

const (
	discordPatience = 2 * time.Second  // before the rest is greeted without Discord
	discordPause    = 30 * time.Second // between two attempts to reach Discord
)

// discordDoor connects to Discord beside the rest, which goes on without it.
type discordDoor struct {
	news chan string   // how it stands, whenever that changes
	done chan struct{} // closed when nothing will change any more
}

// openDiscord begins to connect, if there is a token. It tries again until ctx
// ends, unless Discord refuses the bot.
func (a *app) openDiscord(ctx context.Context) (*discordDoor, error) {
	token, err := settings.ReadSecret("DISCORD_TOKEN", a.getenv)
	if err != nil {
		return nil, err
	}
	d := &discordDoor{news: make(chan string, 1), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for last := ""; ; {
			how, again := a.connectBot(ctx, token)
			if how != last {
				select {
				case d.news <- how:
				case <-ctx.Done():
				}
				last = how
			}
			if !again {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(discordPause):
			}
		}
	}()
	return d, nil
}

// first returns how it stands after a short while.
func (d *discordDoor) first(ctx context.Context) string {
	select {
	case how := <-d.news:
		return how
	case <-time.After(discordPatience):
		return "connecting …"
	case <-ctx.Done():
		return "not connected"
	}
}

// follow tells what changes until ctx ends, and waits for the end of connecting.
func (d *discordDoor) follow(ctx context.Context, tell func(how string)) {
	for {
		select {
		case how := <-d.news:
			tell(how)
		case <-ctx.Done():
			<-d.done
			return
		}
	}
}

// connectBot connects to Discord, and says how that went and whether it is worth
// another try.
func (a *app) connectBot(ctx context.Context, token settings.SecretValue) (how string, again bool) {
	if !token.Present() {
		return "not connected (set DISCORD_TOKEN to bring clank to a server)", false
	}
	b := &bot.Bot{
		Token:         token.Reveal(),
		Base:          a.getenv("CLANK_DISCORD_API"),
		Tasks:         a.manager,
		Brain:         a.brain(a.phone.Tools),
		Budgets:       discordBudgets(a.budget),
		Watches:       a.web.watches,
		Runtimes:      settings.Runtimes(),
		Scopes:        &a.scopes,
		Questions:     a.asker.Desk,
		IsStop:        cancel.IsStop,
		AnyoneMayStop: a.anyoneMayStop,
		Disabled:      a.refusalFor,
		Logger:        a.logger,
	}
	a.lendCalls(b)
	err := b.Open(ctx)
	if err == nil {
		a.web.bot.Store(b)
		a.onClose(b.Close)
		return "connected as " + b.UserName(), false
	}
	if closing := b.Close(ctx); closing != nil {
		a.logger.Debug("close a bot that never connected", "error", closing)
	}
	if _, refused := errors.AsType[*gateway.RefusedError](err); refused {
		return "not connected: " + err.Error(), false
	}
	return "not connected, trying again: " + err.Error(), true
}
