package server

import (
	"context"
	"encoding/json"

	"clank/bot"
	"clank/internal/assistant"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// OpenCalls makes calls possible, on Discord and on the call page.
func (a *Server) OpenCalls(ctx context.Context, watchAddr string) error {
	x := &CallService{
		Dir: a.StateDir, Settings: a.Settings.Current, Secret: a.models.Secret, Sessions: a.Sessions, Browsers: a.Browsers, Scopes: &a.scopes, PrivacyStore: a.Db, CallLog: a.Db,
		DisabledReason: a.accessRefusal, ViewerAddr: watchAddr, Logger: a.logger,
		Budget: a.budget, DiscordBase: a.models.VendorURL("CLANK_DISCORD_API"),
	}
	x.Assistant = a.newAssistant(x.Tools)
	if err := x.Open(ctx); err != nil {
		return err
	}
	a.CallService = x
	a.onClose(x.Close)
	return a.OwnListeners.addURL(x.ViewerURL())
}

// newAssistant makes the assistant, with tools beside its own. Its calls of models belong to nobody yet. It may be made
// before the control API is open, which brings the tool "browser".
func (a *Server) newAssistant(tools func(context.Context, sessions.Origin) []sessions.Tool) *assistant.Assistant {
	return &assistant.Assistant{
		Model: a.assistantModel,
		Tasks: a.Sessions,
		Tools: func(ctx context.Context, o sessions.Origin) []sessions.Tool {
			if a.Tools == nil {
				return nil
			}
			return a.Tools.AssistantTools(ctx, o)
		},
		SingleCallTools: tools,
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
