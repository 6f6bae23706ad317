package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/bot"
	botdiscord "clank/bot/discord"
	"clank/browsermgr"
	"clank/cancel"
	"clank/internal/activity"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/liveview"
	"clank/internal/sqlite"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/discord"
	"clank/voice/discord/dave"
	"clank/voice/share"
	"clank/voice/speech/keyword"
	"clank/voice/webrtc"

	"github.com/bwmarrin/discordgo"
)

// DiscordBot is what calls need of the bot. A *bot.Bot implements it.
type DiscordBot interface { //nolint:interfacebloat // what calls need of the bot
	Send(ctx context.Context, op int, d any) error
	Post(ctx context.Context, channel, text string, images []llm.Image) error
	UserID() string
	AppID() string
	ActivityInstance(ctx context.Context, id string) (botdiscord.ActivityInstance, error)
	ViewerOrigin(ctx context.Context, o sessions.Origin) (sessions.Origin, error)
	RefreshOrigin(ctx context.Context, o sessions.Origin) (sessions.Origin, error)
	Locale(guild string) i18n.Locale // the language of texts that everyone on a server reads
}

// CallAccess decides what people in calls may do. A *Server implements it.
type CallAccess interface {
	// AccessRefusal returns why the person of o may not ask for anything now; empty if they may.
	AccessRefusal(o sessions.Origin) string
	// Rights names the resources that the person of o may use; people with equal rights may act for each other.
	Rights(ctx context.Context, o sessions.Origin) ([]string, error)
}

// CallService manages all calls of this process. Set its fields, then call Open; Close ends every call.
type CallService struct {
	Dir          string // of the state; transcripts are stored in a folder of it, if enabled
	Settings     SettingsSource
	Getenv       func(string) string // the environment and the vault's service keys
	Sessions     *sessions.Manager
	Browsers     *browsermgr.Manager
	Scopes       *cancel.Scopes
	PrivacyStore voice.PrivacyStore
	CallLog      *sqlite.DB // stores when calls began; nil: the daily limit of calls counts only this process

	// Assistant answers in calls, with the tools of [CallService.Tools] in addition to its own.
	Assistant *assistant.Assistant

	// Budget charges speech recognition and synthesis; nil charges nothing.
	Budget *budget.Enforcer

	// Access decides what people may do; nil means that all may ask, and that nobody may act for another.
	Access CallAccess

	// Models describes images for a model without vision; nil describes none.
	Models *ModelFinder

	// Live lets people control shared pages; nil makes all links view-only.
	Live *liveview.Server

	// ViewerAddr is the listen address of the viewer's page.
	ViewerAddr string

	// DiscordBase is the scheme and host of Discord; empty means https://discord.com.
	DiscordBase string

	Logger *slog.Logger

	callsContext   context.Context //nolint:containedctx // of the calls, which outlive the requests that start them
	endCalls       context.CancelCauseFunc
	background     sync.WaitGroup
	privacy        *voice.PrivacyList
	spotter        *keyword.Spotter // nil if not installed
	spotterProblem string           // why the spotter is nil
	signingKey     *dave.SigningKey
	joiner         *discord.Joiner
	bot            atomic.Pointer[DiscordBot]
	goLive         goLiveAccount
	registry       *conversation.CallRegistry
	webrtcEngine   *webrtc.Engine
	callPage       *webrtc.CallHost
	shareLinks     share.Links
	shares         *share.Manager
	players        sync.Map // [*playout.Player] of the last conversation in each call, by [share.CallRef.ID]
	viewerPage     *share.ViewerPage
	fileLinks      FileLinks
	viewerURL      string
	signIn         *botdiscord.SignIn
	activity       *activity.Server

	closers []func(context.Context) error
}

// Open prepares calls without starting one. Optional parts that fail are left out with a log message.
func (x *CallService) Open(ctx context.Context) (err error) {
	x.callsContext, x.endCalls = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close(context.WithoutCancel(ctx)))
		}
	}()
	if x.privacy, err = voice.OpenPrivacyList(ctx, x.PrivacyStore); err != nil {
		return err
	}
	x.openSpotter()
	x.openTranscripts()
	if err := x.openEngine(ctx); err != nil {
		return err
	}
	if err := x.openSharing(ctx); err != nil {
		return err
	}
	if err := x.openDiscord(ctx); err != nil {
		return err
	}
	x.callPage = &webrtc.CallHost{Engine: x.webrtcEngine, Calls: pageCalls{x}, Logger: x.Logger}
	x.onClose(x.callPage.Close)
	x.openGoLive() // the account stays connected as long as the service
	return nil
}

// Close ends all calls and shares and waits for their goroutines, at most until ctx ends.
func (x *CallService) Close(ctx context.Context) error {
	cause := &cancel.Cause{Reason: cancel.ShuttingDown}
	x.endCalls(cause)
	var errs []error
	if x.registry != nil {
		errs = append(errs, x.registry.Close(ctx, cause))
	}
	for _, closeIt := range slices.Backward(x.closers) {
		errs = append(errs, closeIt(ctx))
	}
	x.closers = nil
	if err := cancel.WaitFor(ctx, &x.background); err != nil {
		errs = append(errs, fmt.Errorf("end the calls: %w", err))
	}
	return errors.Join(errs...)
}

func (x *CallService) onClose(f func(context.Context) error) { x.closers = append(x.closers, f) }

// openSpotter loads the local recognizer for stop words.
func (x *CallService) openSpotter() {
	s, err := keyword.Open(keyword.Options{
		Log: x.Logger, Dir: filepath.Join(x.Dir, stopWordsFolder),
		Speech: func() (names []string, language string) {
			v := x.Settings.Current().Voice
			return v.NameList(), v.Transcription.Language
		},
	})
	if err != nil {
		x.spotterProblem = err.Error()
		x.Logger.Info("stop words are not spotted in calls", "error", err)
		return
	}
	x.spotter = s
	x.onClose(func(context.Context) error { return s.Close() })
}

// openEngine prepares WebRTC connections to pages. An occupied port does not prevent the start.
func (x *CallService) openEngine(ctx context.Context) error {
	s := x.Settings.Current().Share
	x.webrtcEngine = &webrtc.Engine{
		Loopback: true, Logger: x.Logger, ICEServers: x.iceServers(s),
		MaxConns: webrtc.MaxPages + share.DefaultMaxViews + share.MaxOffers, // separate shares of the limit for each kind
	}
	if s.UDPPort != 0 {
		x.webrtcEngine.UDP = fmt.Sprintf(":%d", s.UDPPort)
	}
	if s.PublicHost != "" {
		x.webrtcEngine.PublicAddrs = []string{s.PublicHost}
	}
	if err := x.webrtcEngine.Open(ctx); err != nil {
		return fmt.Errorf("prepare calls and pictures for pages: %w", err)
	}
	x.onClose(x.webrtcEngine.Close)
	return nil
}

// openDiscord prepares calls on Discord; the bot connects later.
func (x *CallService) openDiscord(ctx context.Context) (err error) {
	var before []voice.PastCall
	if x.CallLog != nil {
		if before, err = x.CallLog.CallsSince(ctx, time.Now().Add(-callCountWindow)); err != nil {
			return err
		}
	}
	if x.signingKey, err = dave.NewSigningKey(); err != nil {
		return err
	}
	x.joiner = &discord.Joiner{
		Send: func(ctx context.Context, op int, d any) error {
			b := x.bot.Load()
			if b == nil {
				return errors.New("clank is not connected to Discord")
			}
			return (*b).Send(ctx, op, d)
		},
		Key: x.signingKey, Logger: x.Logger, OnMoved: x.handleCallMoved, RequireEncryption: x.requireEncryption,
	}
	x.onClose(x.joiner.Close)
	x.registry = &conversation.CallRegistry{Host: discordCalls{x}, PreviousCalls: before, Logger: x.Logger}
	return nil
}

func (x *CallService) requireEncryption() bool { return x.Settings.Current().Voice.RequireEncryption }

// SetBot sets the bot whose gateway connection is used.
func (x *CallService) SetBot(b DiscordBot) { x.bot.Store(&b) }

// HandleDispatch handles the dispatches of the bot's gateway, in order.
func (x *CallService) HandleDispatch(kind string, data json.RawMessage) {
	x.joiner.Dispatch(kind, data)
}

// CallPage returns the handler of the dashboard's call page.
func (x *CallService) CallPage() http.Handler { return x.callPage.Handler() }

// Follow joins the voice channel of the person of o, if the settings enable that. It does not block.
func (x *CallService) Follow(_ context.Context, o sessions.Origin) {
	if x.Settings.Current().Voice.AutoJoin {
		x.background.Go(func() { x.registry.Follow(x.callsContext, o) })
	}
}

// OpenCalls enables calls on Discord and on the call page.
func (a *Server) OpenCalls(ctx context.Context, watchAddr string) error {
	x := &CallService{
		Dir: a.StateDir, Settings: a.Settings, Getenv: a.getenv, Sessions: a.Sessions, Browsers: a.Browsers,
		Scopes: &a.scopes, PrivacyStore: a.Db, CallLog: a.Db,
		Access: a, Models: a.models, Live: a.Live, Budget: a.budget,
		ViewerAddr: watchAddr, DiscordBase: a.getenv("CLANK_DISCORD_API"), Logger: a.logger,
	}
	x.Assistant = a.newAssistant(x)
	if err := x.Open(ctx); err != nil {
		return err
	}
	a.CallService = x
	a.onClose(x.Close)
	return a.OwnListeners.AddURL(x.ViewerURL())
}

// newAssistant creates the assistant with the tools about calls. Its model calls are not yet charged to a person. It
// may be created before the control API, which provides the tool "browser", is open.
func (a *Server) newAssistant(calls *CallService) *assistant.Assistant {
	return &assistant.Assistant{
		Host: assistantHost{a, calls}, Tasks: a.Sessions, Web: a.Web.AssistantWeb(), Logger: a.logger,
	}
}

// assistantHost connects the assistant to the rest of the program. It implements [assistant.Host].
type assistantHost struct {
	server *Server
	calls  *CallService
}

// Model implements [assistant.Host].
func (h assistantHost) Model(ctx context.Context) (llm.Model, error) {
	return h.server.assistantModel(ctx)
}

// Tools implements [assistant.Host].
func (h assistantHost) Tools(ctx context.Context, o sessions.Origin) []sessions.Tool {
	if h.server.Tools == nil {
		return nil
	}
	return h.server.Tools.AssistantTools(ctx, o)
}

// SingleCallTools implements [assistant.Host].
func (h assistantHost) SingleCallTools(ctx context.Context, o sessions.Origin) []sessions.Tool {
	return h.calls.Tools(ctx, o)
}

// Disabled implements [assistant.Host].
func (h assistantHost) Disabled() string {
	if h.server.Settings.Current().BrowserEnabled {
		return ""
	}
	return sessions.ErrDisabled.Error()
}

// Instructions implements [assistant.Host].
func (h assistantHost) Instructions() string { return h.server.Settings.Current().AssistantGuidance }

// attachCalls connects calls to a bot and registers the call commands.
func (a *Server) attachCalls(b *bot.Bot) {
	b.Calls, b.Links = a.CallService, a.CallService
	b.Activities = a.CallService
	b.Intents |= discordgo.IntentsGuildVoiceStates
	a.CallService.SetBot(b)
}
