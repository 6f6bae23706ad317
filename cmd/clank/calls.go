package main

import (
	"context"
	"encoding/json"
	"errors"

	"clank/bot"
	"clank/brain"
	"clank/internal/phone"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/talk"

	"github.com/bwmarrin/discordgo"
)

// openCalls makes calls possible, on Discord and on the call page.
func (a *app) openCalls(ctx context.Context, watchAddr string) error {
	x := &phone.Exchange{
		Dir: a.place, Settings: a.settings.Now, Secret: a.models.Secret, Sessions: a.manager, Scopes: &a.scopes, LeftOut: a.db, Diary: a.db,
		Screen: a.screen, Disabled: a.refusalFor, WatchAddr: watchAddr, Logger: a.logger,
		Brain: func(tools func(context.Context, sessions.Origin) []brain.Tool) talk.Replier {
			return a.brain(tools)
		},
		Keeper: a.budget,
	}
	x.DiscordBase = a.models.BaseURL("CLANK_DISCORD_API")
	alone := a.mind(x.Tools)
	x.Browse, x.Standing = alone.BrowseTool, alone.Standing
	if err := x.Open(ctx); err != nil {
		return err
	}
	a.phone = x
	a.onClose(x.Close)
	return a.own.addURL(x.ViewerURL())
}

// screen takes the pictures of a session's page.
func (a *app) screen(_ context.Context, s sessions.Session) (videosource.Screenshotter, error) {
	w, ok := a.browsers.Lookup(s.ID)
	if !ok {
		return nil, errors.New("its page is not open; ask for something in that session first")
	}
	return w, nil
}

// brain is who answers people, with tools beside its own.
func (a *app) brain(more func(context.Context, sessions.Origin) []brain.Tool) accounted {
	return accounted{a.mind(more)}
}

// mind is a brain whose calls of models belong to nobody yet.
func (a *app) mind(more func(context.Context, sessions.Origin) []brain.Tool) *brain.Brain {
	return &brain.Brain{
		Model:        a.brainModel,
		Tasks:        a.manager,
		Tools:        a.tools.BrainTools,
		Errands:      more,
		Web:          a.web.brain(),
		Instructions: func() string { return a.settings.Now().BrainGuidance },
		Logger:       a.logger,
	}
}

// lendCalls gives a bot what calls need of it, and the commands about them.
func (a *app) lendCalls(b *bot.Bot) {
	b.Calls = a.phone
	b.Intents |= discordgo.IntentsGuildVoiceStates
	b.OnDispatch = func(kind string, data json.RawMessage) { a.phone.Dispatch(kind, data) }
	a.phone.Connected(b)
}
