package server

import (
	"context"
	"encoding/json"
	"errors"

	"clank/bot"
	"clank/internal/assistant"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/conversation"

	"github.com/bwmarrin/discordgo"
)

// OpenCalls makes calls possible, on Discord and on the call page.
func (a *Server) OpenCalls(ctx context.Context, watchAddr string) error {
	x := &CallService{
		Dir: a.StateDir, Settings: a.Settings.Current, Secret: a.models.Secret, Sessions: a.Sessions, Scopes: &a.scopes, PrivacyStore: a.Db, CallLog: a.Db,
		Screenshotter: a.screenshotter, DisabledReason: a.accessRefusal, ViewerAddr: watchAddr, Logger: a.logger,
		NewAssistant: func(tools func(context.Context, sessions.Origin) []sessions.Tool) conversation.Replier {
			return a.newReplier(tools)
		},
		Budget: a.budget,
	}
	x.DiscordBase = a.models.VendorURL("CLANK_DISCORD_API")
	alone := a.newAssistant(x.Tools)
	x.NewBrowseTool, x.Instructions = alone.BrowseTool, alone.StandingInstructions
	if err := x.Open(ctx); err != nil {
		return err
	}
	a.CallService = x
	a.onClose(x.Close)
	return a.OwnListeners.addURL(x.ViewerURL())
}

// screenshotter takes the pictures of a session's page.
func (a *Server) screenshotter(_ context.Context, s sessions.Session) (videosource.Screenshotter, error) {
	w, ok := a.Browsers.Lookup(s.ID)
	if !ok {
		return nil, errors.New("its page is not open; ask for something in that session first")
	}
	return w, nil
}

// newReplier is who answers people, with tools beside its own.
func (a *Server) newReplier(more func(context.Context, sessions.Origin) []sessions.Tool) ChargedReplier {
	return ChargedReplier{a.newAssistant(more)}
}

// newAssistant is a brain whose calls of models belong to nobody yet.
func (a *Server) newAssistant(more func(context.Context, sessions.Origin) []sessions.Tool) *assistant.Assistant {
	return &assistant.Assistant{
		Model:           a.assistantModel,
		Tasks:           a.Sessions,
		Tools:           a.Tools.AssistantTools,
		SingleCallTools: more,
		Web:             a.Web.AssistantWeb(),
		Instructions:    func() string { return a.Settings.Current().AssistantGuidance },
		Logger:          a.logger,
	}
}

// attachCalls gives a bot what calls need of it, and the commands about them.
func (a *Server) attachCalls(b *bot.Bot) {
	b.Calls = a.CallService
	b.Intents |= discordgo.IntentsGuildVoiceStates
	b.OnDispatch = func(kind string, data json.RawMessage) { a.CallService.HandleDispatch(kind, data) }
	a.CallService.SetBot(b)
}
