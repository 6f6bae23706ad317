// Package phone puts the calls of the program together: lines on Discord and on the call page, who hears and speaks in them, what
// they show, and the commands about them.
//
// It is wiring, and decides nothing about a conversation: that is voice/talk's, and who may join what is voice/talk/calls'.
package phone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/brain"
	"clank/budget"
	"clank/cancel"
	"clank/sessions"
	"clank/settings"
	"clank/sharing"
	"clank/sharing/viewer"
	"clank/videosource"
	"clank/voice/discord"
	"clank/voice/discord/dave"
	"clank/voice/privacy"
	"clank/voice/rtc"
	"clank/voice/speech/spot"
	"clank/voice/talk"
	"clank/voice/talk/calls"
	"clank/voice/webcall"
)

// Discord is what calls need of the bot. A *bot.Bot is one.
type Discord interface {
	Send(ctx context.Context, op int, d any) error
	Post(ctx context.Context, channel, text string, images []sessions.Image) error
	UserID() string
}

// Diary keeps when calls were begun, so that a day's limit holds over restarts.
type Diary interface {
	CallsBegun(ctx context.Context, since time.Time) ([]time.Time, error)
	NoteCall(ctx context.Context, at, keep time.Time) error
}

// Exchange is all calls of this program. Set its fields, then Open; Close ends every call.
type Exchange struct {
	Dir      string // transcripts are kept in a folder there, if the settings want it
	Settings func() settings.Settings
	Secret   func(name string) (settings.SecretValue, error)
	Sessions *sessions.Manager
	Scopes   *cancel.Scopes
	LeftOut  privacy.Store
	Diary    Diary // nil: a day's limit of calls holds until the program ends

	// Screen takes the pictures of a session's page.
	Screen func(ctx context.Context, s sessions.Session) (videosource.Screenshotter, error)

	// Brain answers in calls, with tools for the person who speaks beside its own.
	Brain func(tools func(ctx context.Context, o sessions.Origin) []brain.Tool) talk.Replier

	// Browse is the brain's tool for the browser, for a model that holds the conversation by itself; show is given what is to be seen.
	Browse func(show func(o sessions.Origin, a brain.Answer)) brain.Tool

	// Standing is what such a model is told beforehand, with how it is to answer.
	Standing func(style string) string

	// Keeper holds what hearing and speaking cost within the budget; nil: nothing is counted.
	Keeper *budget.Keeper

	// Disabled says why somebody may not ask for anything now; see [talk.Talk].
	Disabled func(ctx context.Context, o sessions.Origin) string

	// WatchAddr is where the viewer's page is served.
	WatchAddr string

	// DiscordBase is Discord's scheme and host; empty is https://discord.com.
	DiscordBase string

	HTTPClient *http.Client
	Logger     *slog.Logger

	life    context.Context //nolint:containedctx // of the calls, which outlive the requests that begin them
	end     context.CancelCauseFunc
	work    sync.WaitGroup
	left    *privacy.List
	spotter *spot.Spotter // nil: not installed
	problem string        // why it is not
	key     *dave.SigningKey
	joiner  *discord.Joiner
	bot     atomic.Pointer[Discord]
	live    live
	calls   *calls.Registry
	engine  *rtc.Engine
	host    *webcall.Host
	links   sharing.Links
	shares  *sharing.Manager
	viewer  *viewer.Viewer
	watch   *http.Server
	watchAt string

	closers []func(context.Context) error
}

// Open makes everything ready; no call begins by itself. A part that a call can do without is left out, and its absence logged.
func (x *Exchange) Open(ctx context.Context) (err error) {
	x.life, x.end = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close(context.WithoutCancel(ctx)))
		}
	}()
	if x.left, err = privacy.Open(ctx, x.LeftOut); err != nil {
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
	x.host = &webcall.Host{Engine: x.engine, Begin: x.answerPage, Stop: x.stopByPage, Share: x.shareByPage, Logger: x.Logger}
	x.onClose(x.host.Close)
	x.openLive() // the account stays for as long as there are calls
	return nil
}

// Close ends all calls and shares, and waits for what belongs to them, at most until ctx ends.
func (x *Exchange) Close(ctx context.Context) error {
	cause := &cancel.Cause{Reason: cancel.ShuttingDown}
	x.end(cause)
	var errs []error
	if x.calls != nil {
		errs = append(errs, x.calls.Close(ctx, cause))
	}
	for _, closeIt := range slices.Backward(x.closers) {
		errs = append(errs, closeIt(ctx))
	}
	x.closers = nil
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("end the calls: %w", context.Cause(ctx)))
	}
	return errors.Join(errs...)
}

func (x *Exchange) onClose(f func(context.Context) error) { x.closers = append(x.closers, f) }

// openSpotter looks for what hears stop words without a server.
func (x *Exchange) openSpotter() {
	s, err := spot.Open(spot.Options{Log: x.Logger})
	if err != nil {
		x.problem = err.Error()
		x.Logger.Info("stop words are not spotted in calls", "error", err)
		return
	}
	x.spotter = s
	x.onClose(func(context.Context) error { return s.Close() })
}

// openEngine prepares connections to pages. A port that is taken is no reason not to start.
func (x *Exchange) openEngine(ctx context.Context) error {
	s := x.Settings().Share
	x.engine = &rtc.Engine{
		Loopback: true, Logger: x.Logger, Servers: x.iceServers(s),
		Most: webcall.MostPages + viewer.DefaultMost + viewer.MostOffers, // so that none of them takes another's place
	}
	if s.UDPPort != 0 {
		x.engine.UDP = fmt.Sprintf(":%d", s.UDPPort)
	}
	if s.PublicHost != "" {
		x.engine.Public = []string{s.PublicHost}
	}
	if err := x.engine.Open(ctx); err != nil {
		return fmt.Errorf("prepare calls and pictures for pages: %w", err)
	}
	x.onClose(x.engine.Close)
	return nil
}

// openDiscord prepares calls on Discord; a bot is connected later.
func (x *Exchange) openDiscord(ctx context.Context) (err error) {
	var before []time.Time
	if x.Diary != nil {
		if before, err = x.Diary.CallsBegun(ctx, time.Now().Add(-day)); err != nil {
			return err
		}
	}
	if x.key, err = dave.NewSigningKey(); err != nil {
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
		Key: x.key, HTTPClient: x.HTTPClient, Logger: x.Logger, Moved: x.moved,
	}
	x.onClose(x.joiner.Close)
	x.calls = &calls.Registry{
		Begin: x.begin, Where: x.joiner.Where, Now: x.now, Policy: x.policy, Changed: x.changed, Before: before, Logger: x.Logger,
	}
	return nil
}

// Connected tells which bot it is whose gateway is used.
func (x *Exchange) Connected(b Discord) { x.bot.Store(&b) }

// Dispatch takes the dispatches of the bot's gateway, in order.
func (x *Exchange) Dispatch(kind string, data json.RawMessage) { x.joiner.Dispatch(kind, data) }

// Page answers the call page of the dashboard.
func (x *Exchange) Page() http.Handler { return x.host.Handler() }

// Follow joins the person of o if the settings want that; see [calls.Registry.Follow].
func (x *Exchange) Follow(ctx context.Context, o sessions.Origin) {
	if x.bot.Load() == nil || o.Guild == "" || !x.Settings().Voice.AutoJoin {
		return
	}
	x.work.Go(func() { x.calls.Follow(context.WithoutCancel(ctx), o) })
}

// now is the channel of the call in a guild.
func (x *Exchange) now(guild string) (channel string, ok bool) {
	line, ok := x.joiner.Line(guild)
	if !ok {
		return "", false
	}
	return line.Channel(), true
}

func (x *Exchange) policy() calls.Policy {
	v := x.Settings().Voice
	allowed, blocked := v.Channels()
	return calls.Policy{
		Enabled: v.Enabled, Auto: v.AutoJoin, AllowedChannels: allowed, BlockedChannels: blocked, Max: v.MaxCalls, PerDay: v.CallsPerDay,
		Missing: x.noRealtime(v),
	}
}
