package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"clank/voice/discord/conn"
	"clank/voice/discord/dave"
)

const (
	opVoiceState = 4 // of the main gateway

	defaultPatience = 10 * time.Second
	connectTimeout  = 30 * time.Second
	leaveTimeout    = 2 * time.Second
)

// Joiner joins calls in voice channels, at most one in each guild. Set the fields before the first dispatch. Its
// methods are safe for concurrent use.
type Joiner struct {
	// Send sends an operation over the main gateway.
	Send func(ctx context.Context, op int, d any) error

	Key           *dave.SigningKey // shared by all our connections; nil creates one for each
	Transport     conn.NewTransport
	HTTPClient    *http.Client  // of the voice gateway; nil is the default client
	Logger        *slog.Logger  // nil is silent
	AnswerTimeout time.Duration // for each answer of the main gateway; 10 s when zero

	// Deaf and Mute are what we show people in our voice state, of an account that neither listens nor speaks. Nothing is
	// held back by them.
	Deaf, Mute bool

	// RequireEncryption reports whether calls that begin now must be end-to-end encrypted. Nil means no.
	RequireEncryption func() bool

	MinWait   time.Duration // see [conn.Conn]
	MaxOutage time.Duration

	// OnMoved is called whenever someone moves us to another channel of a guild, in addition to the line's [voice.Moved]
	// event. It must not block, and may be nil.
	OnMoved func(guild, channel string)

	mu     sync.Mutex
	selfID string
	guilds map[string]*guildState
	closed bool
}

// joinError returns why a call could not be joined, and by which layer: "main gateway" or "voice connection".
func joinError(channel, layer string, err error) error {
	return fmt.Errorf("join the voice channel %s: %s: %w", channel, layer, err)
}

// Reasons that callers distinguish.
var (
	ErrNoAnswer = errors.New( //nolint:staticcheck // a name
		"Discord did not answer: clank may lack the permissions View Channel and Connect " +
			"there, or it was removed")
	ErrNoServer = errors.New( //nolint:staticcheck // a name
		"Discord let clank into the channel but named no voice server; try again in a moment")
	ErrFull          = errors.New("the channel is full; somebody must leave, or a moderator raise its limit")
	ErrRemoved       = errors.New("somebody has disconnected clank from the call")
	errNoDestination = errors.New("clank was taken out of the call, and Discord did not say where to")
	errClosing       = errors.New("clank is shutting down")
	ErrOtherChannel  = errors.New("clank was asked into another channel")
)

// Join joins the call in a channel and returns our end of it once it is connected; its encryption keys may still be
// missing, see [voice.Connected]. Joining the current channel returns the same line. In another channel of the guild,
// the existing line ends with [ErrOtherChannel].
func (j *Joiner) Join(ctx context.Context, guild, channel string) (*Line, error) {
	if _, err := strconv.ParseUint(channel, 10, 64); err != nil {
		return nil, fmt.Errorf("join the voice channel %q: its id is no number", channel)
	}
	j.mu.Lock()
	r := j.guildState(guild)
	self, closed := j.selfID, j.closed
	j.mu.Unlock()
	if closed {
		return nil, joinError(channel, "main gateway", errClosing)
	}
	if self == "" {
		return nil, joinError(channel, "main gateway",
			errors.New("clank is not connected to Discord yet; try again in a moment"))
	}
	select {
	case r.joinTurn <- struct{}{}:
		defer func() { <-r.joinTurn }()
	case <-ctx.Done():
		return nil, joinError(channel, "main gateway", context.Cause(ctx))
	}
	j.mu.Lock()
	there := r.line
	j.mu.Unlock()
	if there != nil && there.Channel() == channel && there.alive() {
		return there, nil
	}
	if there != nil {
		there.cancel(ErrOtherChannel)
		select {
		case <-there.done:
		case <-ctx.Done():
			return nil, joinError(channel, "main gateway", context.Cause(ctx))
		}
	}
	return j.joinAndConnect(ctx, r, guild, channel)
}

// joinAndConnect joins a channel in a guild where we are in no call, and connects.
func (j *Joiner) joinAndConnect(ctx context.Context, r *guildState, guild, channel string) (*Line, error) {
	s, err := j.requestJoin(ctx, r, guild, channel)
	if err != nil {
		j.leaveChannel(ctx, r, guild)
		return nil, joinError(channel, "main gateway", err)
	}
	l, run := newLine(ctx, j, r, guild, channel)
	err = l.connect(ctx, s)
	if err != nil && (needsRejoin(err) || errors.Is(err, errNewerState)) && ctx.Err() == nil {
		j.leaveChannel(ctx, r, guild)
		if s, err = j.requestJoin(ctx, r, guild, channel); err == nil {
			err = l.connect(ctx, s)
		}
	}
	if err != nil {
		l.cancel(errLeft)
		j.leaveChannel(ctx, r, guild)
		return nil, joinError(channel, "voice connection", err)
	}
	j.mu.Lock()
	closed := j.closed
	if !closed {
		r.line = l
	}
	j.mu.Unlock()
	if closed {
		l.cancel(errLeft)
		l.dropConnection(ctx, "")
		j.leaveChannel(ctx, r, guild)
		return nil, joinError(channel, "voice connection", errClosing)
	}
	l.start(run, s)
	return l, nil
}

// requestJoin requests a place in a channel from the main gateway, and waits for everything that a voice connection
// needs.
func (j *Joiner) requestJoin(ctx context.Context, r *guildState, guild, channel string) (voiceSession, error) {
	before := j.currentSession(r)
	if err := j.sendVoiceState(ctx, guild, &channel); err != nil {
		return voiceSession{}, fmt.Errorf("ask for a place: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.answerTimeout(), ErrNoAnswer)
	defer cancel()
	var s voiceSession
	err := j.waitFor(ctx, r, func(now voiceSession) (bool, error) {
		s = now
		if now.stateUpdates > before.stateUpdates && now.channel == "" && before.channel != "" {
			return false, ErrRemoved
		}
		return now.stateUpdates > before.stateUpdates && now.channel == channel && now.serverUpdates > before.serverUpdates &&
			now.endpoint != "", nil
	})
	if errors.Is(err, ErrNoAnswer) && s.stateUpdates > before.stateUpdates && s.channel == channel {
		err = ErrNoServer
	}
	if errors.Is(err, ErrNoAnswer) && j.channelFull(r, channel) {
		err = ErrFull
	}
	return s, err
}

// waitFor waits until done returns true, calling it after each change of our voice state.
func (j *Joiner) waitFor(ctx context.Context, r *guildState, done func(voiceSession) (bool, error)) error {
	for {
		j.mu.Lock()
		s, changed := r.session, r.changed
		j.mu.Unlock()
		if ok, err := done(s); ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (j *Joiner) currentSession(r *guildState) voiceSession {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.session
}

// sendVoiceState sends our voice state; a nil channel leaves.
func (j *Joiner) sendVoiceState(ctx context.Context, guild string, channel *string) error {
	return j.Send(ctx, opVoiceState, map[string]any{
		"guild_id": guild, "channel_id": channel, "self_mute": j.Mute,
		"self_deaf": j.Deaf,
	})
}

// leaveChannel leaves the current channel of the guild, even when ctx has ended, and waits a moment for Discord's
// confirmation, so that it is not mistaken for an answer to a later request.
func (j *Joiner) leaveChannel(ctx context.Context, r *guildState, guild string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if err := j.sendVoiceState(ctx, guild, nil); err != nil {
		j.logger().Warn("leaving the call was not told to Discord", "guild", guild, "error", err)
		return
	}
	_ = j.waitFor(ctx, r, func(now voiceSession) (bool, error) { return now.channel == "", nil }) // or later
}

func (j *Joiner) ownID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.selfID
}

// Line returns our end of the call in a guild, if any.
func (j *Joiner) Line(guild string) (*Line, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[guild]; r != nil && r.line != nil {
		return r.line, true
	}
	return nil, false
}

// Close leaves all calls, refuses new ones, and waits, at most until ctx ends, until all have ended.
func (j *Joiner) Close(ctx context.Context) error {
	j.mu.Lock()
	j.closed = true
	var lines []*Line
	for _, r := range j.guilds {
		if r.line != nil {
			lines = append(lines, r.line)
		}
	}
	j.mu.Unlock()
	for _, l := range lines {
		l.cancel(errLeft)
	}
	var errs []error
	for _, l := range lines {
		errs = append(errs, l.Close(ctx))
	}
	return errors.Join(errs...)
}

func (j *Joiner) answerTimeout() time.Duration { return cmp.Or(j.AnswerTimeout, defaultPatience) }

func (j *Joiner) logger() *slog.Logger { return cmp.Or(j.Logger, slog.New(slog.DiscardHandler)) }
