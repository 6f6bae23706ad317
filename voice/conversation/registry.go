package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
)

// Limits that hold where a [CallPolicy] names none.
const (
	defaultMaxCalls    = 3
	defaultCallsPerDay = 120 // on one server, and for one person
	joinTimeout        = 30 * time.Second
)

// CallInfo is an open call. Guild is empty where there are no servers.
type CallInfo struct {
	Guild       string
	Channel     string    // of the call
	TextChannel string    // the text channel from which it was asked for
	RequesterID string    // id of the person who requested it
	Since       time.Time // when it began
}

// CallRunner runs what happens in a call. One is a [Conversation].
type CallRunner interface {
	// Run blocks until the call has ended, and returns why. When ctx ends, so does the call.
	Run(ctx context.Context) error
}

// CallPolicy is what the operator allows. Zero values mean no calls at all, no lists, three calls at once, and 120 a
// day on each server.
type CallPolicy struct {
	Enabled         bool
	AutoJoin        bool // join the people we talk with, without a request
	BlockedChannels []string
	AllowedChannels []string // if not empty, only these
	Max             int      // concurrent calls
	PerDay          int      // calls begun on one server in 24 hours
	PerDayAndUser   int      // the same for one person
	MissingSetup    string   // what has to be configured before there can be calls, in words for people; empty: nothing
}

// RegistryHost is what a [CallRegistry] needs of the program. Its methods are safe for concurrent use.
type RegistryHost interface {
	// StartCall joins a call and returns the conversation to run in it. It gives up when ctx ends.
	StartCall(ctx context.Context, c CallInfo) (CallRunner, error)

	// ChannelOf returns the voice channel in which a person is now.
	ChannelOf(guild, user string) (channel string, ok bool)

	// CurrentChannel returns the channel in which our call on a server is now: people may have moved us.
	CurrentChannel(guild string) (channel string, ok bool)

	CallPolicy() CallPolicy

	// CallChanged is called when a call begins (open) or has ended, with the reason why it ended. It must not block.
	CallChanged(c CallInfo, open bool, why error)
}

// CallRegistry keeps the open calls. Set its fields before first use; it is then safe for concurrent use.
type CallRegistry struct {
	Host RegistryHost

	// PreviousCalls are calls of earlier processes: those of the last 24 hours count.
	PreviousCalls []voice.PastCall

	Logger *slog.Logger

	mu      sync.Mutex
	active  map[string]*activeCall // by key
	started []voice.PastCall       // the calls of the last 24 hours, the oldest first
	closed  bool
	wg      sync.WaitGroup
}

// activeCall is a call that is open, or about to be.
type activeCall struct {
	CallInfo

	stop context.CancelCauseFunc
	done chan struct{}
}

// key returns the key of the call: each server can have one open call.
func (c CallInfo) key() string {
	if c.Guild == "" {
		return "/" + c.Channel
	}
	return c.Guild
}

// Join opens a call in channel, or in the current channel of the person of o if that is empty. It returns when the call
// is joined. Its error is for the person who asked, or the cause of ctx.
func (r *CallRegistry) Join(ctx context.Context, o sessions.Origin, channel string) (CallInfo, error) {
	here, inVoice := r.requesterChannel(o)
	channel = cmp.Or(channel, here)
	c := CallInfo{Guild: o.Guild, Channel: channel, TextChannel: o.Channel, RequesterID: o.User, Since: time.Now()}
	if why := r.checkPolicy(o, c, inVoice && here == channel); why != nil {
		return CallInfo{}, why
	}
	live, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	run := &activeCall{CallInfo: c, stop: stop, done: make(chan struct{})}
	if why := r.reserve(run); why != nil {
		stop(why)
		return CallInfo{}, why
	}
	session, err := r.startCall(ctx, live, run)
	if err != nil {
		r.remove(run)
		stop(err)
		close(run.done)
		r.wg.Done()
		return CallInfo{}, err
	}
	r.Host.CallChanged(c, true, nil)
	go func() {
		defer r.wg.Done()
		defer close(run.done)
		err := session.Run(live)
		stop(err)
		r.remove(run)
		r.logger().Info("call ended", "guild", c.Guild, "channel", c.Channel, "after", time.Since(c.Since).Round(time.Second),
			"why", err)
		r.Host.CallChanged(c, false, err)
	}()
	return c, nil
}

// startCall joins the call, until ctx or the call itself is given up.
func (r *CallRegistry) startCall(ctx, live context.Context, run *activeCall) (CallRunner, error) {
	ctx, done := context.WithTimeoutCause(ctx, joinTimeout, ErrJoinTimedOut)
	defer done()
	ctx, give := context.WithCancelCause(ctx)
	defer give(context.Canceled)
	defer context.AfterFunc(live, func() { give(context.Cause(live)) })()
	s, err := r.Host.StartCall(ctx, run.CallInfo)
	if err == nil {
		return s, nil
	}
	return nil, r.joinFailure(ctx, run.CallInfo, err)
}

// Leave ends the call of the server of o, or, without a server, the one in its channel. The person who requested the
// call, people who are in it, and moderators may do that. It returns when the call has ended, or with the cause of ctx.
func (r *CallRegistry) Leave(ctx context.Context, o sessions.Origin) error {
	here, inVoice := r.requesterChannel(o)
	r.mu.Lock()
	run := r.active[CallInfo{Guild: o.Guild, Channel: o.Channel}.key()]
	r.mu.Unlock()
	if run == nil {
		return ErrNotInCall
	}
	channel := r.withCurrentChannel(run.CallInfo).Channel
	if o.User != run.RequesterID && (!inVoice || here != channel) && !o.Moderates(o.Guild, channel) {
		return ErrNotAllowedToLeave
	}
	run.stop(&cancel.Cause{Reason: cancel.Stopped, By: o.UserName})
	select {
	case <-run.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Follow joins the person of o if the policy enables that and allows the call, and reports whether it did. It gives no
// reason if not, because nobody asked.
func (r *CallRegistry) Follow(ctx context.Context, o sessions.Origin) bool {
	if !r.Host.CallPolicy().AutoJoin || o.Guild == "" {
		return false
	}
	if _, in := r.requesterChannel(o); !in {
		return false
	}
	_, err := r.Join(ctx, o, "")
	if err != nil {
		r.logger().Info("not joined by itself", "guild", o.Guild, "user", o.User, "why", err)
	}
	return err == nil
}

// ActiveCalls lists the open calls, the oldest first.
func (r *CallRegistry) ActiveCalls() []CallInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []CallInfo
	for _, run := range r.active {
		all = append(all, r.withCurrentChannel(run.CallInfo))
	}
	slices.SortFunc(all, func(a, b CallInfo) int { return a.Since.Compare(b.Since) })
	return all
}

// Close ends all calls with a cause, refuses new ones, and waits for their end until ctx ends.
func (r *CallRegistry) Close(ctx context.Context, cause error) error {
	r.mu.Lock()
	r.closed = true
	for _, run := range r.active {
		run.stop(cause)
	}
	r.mu.Unlock()
	return cancel.WaitFor(ctx, &r.wg) // each call has its own deadlines
}

// reserve adds a call, unless its server already has one.
func (r *CallRegistry) reserve(run *activeCall) error {
	limits := r.Host.CallPolicy()
	r.mu.Lock()
	defer r.mu.Unlock()
	day := time.Now().Add(-24 * time.Hour)
	r.started, r.PreviousCalls = append(r.started, r.PreviousCalls...), nil
	r.started = slices.DeleteFunc(r.started, func(c voice.PastCall) bool { return c.At.Before(day) })
	other := r.active[run.key()]
	switch {
	case r.closed:
		return errRegistryClosed
	case other != nil && r.withCurrentChannel(other.CallInfo).Channel == run.Channel:
		return ErrAlreadyInChannel
	case other != nil:
		return ErrInOtherChannel
	case len(r.active) >= cmp.Or(max(0, limits.Max), defaultMaxCalls):
		return ErrTooManyCalls
	}
	if why := r.checkDay(limits, run.CallInfo); why != nil {
		return why
	}
	if r.active == nil {
		r.active = map[string]*activeCall{}
	}
	r.active[run.key()] = run
	r.started = append(r.started, voice.PastCall{Guild: run.Guild, User: run.RequesterID, At: run.Since})
	r.wg.Add(1)
	return nil
}

// checkDay returns an error if the daily limit of calls of a person or of their server is reached. The caller holds the
// lock.
func (r *CallRegistry) checkDay(limits CallPolicy, c CallInfo) error {
	var person, server []time.Time
	for _, p := range r.started {
		if p.User == c.RequesterID {
			person = append(person, p.At)
		}
		if p.Guild == c.Guild {
			server = append(server, p.At)
		}
	}
	for _, l := range []struct {
		most  int
		times []time.Time
		text  string
	}{
		{limits.PerDayAndUser, person, "You have brought me into as many calls within a day as one person may (%d). The " +
			"next one can begin in %v."},
		{limits.PerDay, server, "I have been in as many calls on this server within a day as one server may have (%d). The " +
			"next one can begin in %v."},
	} {
		if most := cmp.Or(max(0, l.most), defaultCallsPerDay); len(l.times) >= most {
			wait := time.Until(l.times[len(l.times)-most].Add(24 * time.Hour))
			return DeniedError(fmt.Sprintf(l.text, most, sessions.DurationText(wait)))
		}
	}
	return nil
}

func (r *CallRegistry) remove(run *activeCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[run.key()] == run {
		delete(r.active, run.key())
	}
}

func (r *CallRegistry) requesterChannel(o sessions.Origin) (channel string, ok bool) {
	if o.User == "" {
		return "", false
	}
	return r.Host.ChannelOf(o.Guild, o.User)
}

// withCurrentChannel returns c with its current channel.
func (r *CallRegistry) withCurrentChannel(c CallInfo) CallInfo {
	if channel, ok := r.Host.CurrentChannel(c.Guild); ok {
		c.Channel = channel
	}
	return c
}

// CheckChannel returns an error if a call must not continue in a channel to which someone moved us.
func (r *CallRegistry) CheckChannel(channel string) error {
	p := r.Host.CallPolicy()
	switch {
	case slices.Contains(p.BlockedChannels, channel):
		return ErrChannelBlocked
	case len(p.AllowedChannels) > 0 && !slices.Contains(p.AllowedChannels, channel):
		return ErrChannelNotAllowed
	}
	return nil
}

func (r *CallRegistry) logger() *slog.Logger { return cmp.Or(r.Logger, slog.New(slog.DiscardHandler)) }

var noArguments = json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`)

// Tools returns the tools with which a model joins and leaves a call for the person at o, or nil where there are no
// calls.
func (r *CallRegistry) Tools(_ context.Context, o sessions.Origin) []sessions.Tool {
	if o.Guild == "" || !r.Host.CallPolicy().Enabled {
		return nil
	}
	return []sessions.Tool{
		{
			Tool: llm.Tool{
				Name: "join_voice_channel",
				Description: "Join the voice channel in which the person you are talking with is now, when they ask you to. You " +
					"then hear the people there and speak with them.",
				Schema: noArguments,
			},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				c, err := r.Join(ctx, o, "")
				if err != nil {
					return "", nil, err
				}
				return "You are in the call now, in the channel <#" + c.Channel + ">.", nil, nil
			},
		},
		{
			Tool: llm.Tool{
				Name: "leave_voice_channel", Description: "Leave the call on this server, when somebody asks you to.",
				Schema: noArguments,
			},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				if err := r.Leave(ctx, o); err != nil {
					return "", nil, err
				}
				return "You have left the call.", nil, nil
			},
		},
	}
}

// DeniedError is why a call was not opened or left: sentences for the person who asked, which also say what to do, if
// possible.
type DeniedError string

func (d DeniedError) Error() string { return string(d) }

// Reasons that callers distinguish.
const (
	ErrVoiceDisabled DeniedError = "Calls are switched off here. The operator can switch them on in the settings " +
		"under voice."
	ErrRequesterNotInVoice DeniedError = "Join a voice channel first, so that I know where to come; I join only the " +
		"channel you are in."
	ErrChannelBlocked    DeniedError = "The operator does not let me join this voice channel."
	ErrChannelNotAllowed DeniedError = "The operator lets me join only certain channels, and this is none of them."
	ErrAlreadyInChannel  DeniedError = "I am in that call already."
	ErrInOtherChannel    DeniedError = "I am in another call on this server. Say `/clank leave` there first."
	ErrTooManyCalls      DeniedError = "I am already in the maximum number of calls on all servers. Try again later."
	ErrJoinTimedOut      DeniedError = "It took too long to join the call. Please try again."
	errRegistryClosed    DeniedError = "I am shutting down."
	ErrNotInCall         DeniedError = "I am in no call here."
	ErrNotAllowedToLeave DeniedError = "Only somebody who is in the call, or who may manage messages here, can send " +
		"me away."
)

// checkPolicy returns an error if the operator's policy does not allow a person to have a call there.
func (r *CallRegistry) checkPolicy(o sessions.Origin, c CallInfo, there bool) error {
	p := r.Host.CallPolicy()
	switch {
	case !p.Enabled:
		return ErrVoiceDisabled
	case o.Guild != "" && !there:
		return ErrRequesterNotInVoice
	case r.CheckChannel(c.Channel) != nil:
		return r.CheckChannel(c.Channel)
	case p.MissingSetup != "":
		return DeniedError(p.MissingSetup)
	}
	return nil
}

// joinFailure returns an error of joining as one for people.
func (r *CallRegistry) joinFailure(ctx context.Context, c CallInfo, err error) error {
	var late DeniedError
	switch cause := cancel.CauseOf(ctx, err); {
	case cause != nil:
		return cause
	case errors.As(context.Cause(ctx), &late):
		return late
	}
	r.logger().Warn("call not joined", "guild", c.Guild, "channel", c.Channel, "error", err)
	return fmt.Errorf("I could not join the call: %w", err) //nolint:staticcheck // a person reads it
}
