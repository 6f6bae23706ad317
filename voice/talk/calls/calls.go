// Package calls knows which calls are open: it opens one where somebody asks for it, says why not where it may not, and
// ends it when people or the program want that.
//
// What a call is made of is not its business: it is given a way to begin one, and runs what that returns.
package calls

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/cancel"
	"clank/sessions"
)

// Limits that hold where a [Policy] names none.
const (
	defaultMax    = 3
	defaultPerDay = 120
	joinTimeout   = 30 * time.Second
)

// Call is an open call. Guild is empty where there are no servers.
type Call struct {
	Guild   string
	Channel string    // of the call
	Asked   string    // the text channel from which it was asked for
	By      string    // id of the person who asked
	Since   time.Time // when it began
}

// Session is what happens in a call. [clank/voice/talk.Talk] is one.
type Session interface {
	// Run blocks until the call has ended, and says why. When ctx ends, so does the call.
	Run(ctx context.Context) error
}

// Policy is what the operator allows. Zero values are no calls at all, no lists, three calls at once, and 120 a day.
type Policy struct {
	Enabled         bool
	Auto            bool     // join whom we talk with, without being asked
	BlockedUsers    []string // ids
	BlockedChannels []string
	AllowedChannels []string // if there are any, only these
	Max             int      // calls at once
	PerDay          int      // calls begun in 24 hours
	Missing         string   // what has to be configured before there can be calls, in words for people; empty: nothing
}

// Registry holds the open calls. Set its fields before anything is asked of it; it is then safe for concurrent use.
type Registry struct {
	// Begin joins a call and returns what is to happen in it. It is given up when ctx ends. An error that is a [*Denied] is
	// told as it is, another as [JoinFailed].
	Begin func(ctx context.Context, c Call) (Session, error)

	// Where is the voice channel in which somebody is now. nil: nobody is in one.
	Where func(guild, user string) (channel string, ok bool)

	// Now is the channel in which our call on a server is now: people may have moved us. nil: the one that was joined.
	Now func(guild string) (channel string, ok bool)

	Policy func() Policy

	// Changed is told of each call that begins (open) or has ended, with the reason why it ended. It may be nil, and must not block.
	Changed func(c Call, open bool, why error)

	// Before are the times at which calls were begun before this program was: those of the last 24 hours count.
	Before []time.Time

	Logger *slog.Logger

	mu     sync.Mutex
	open   map[string]*running // by key
	begun  []time.Time         // the calls of the last 24 hours
	closed bool
	wg     sync.WaitGroup
}

// running is a call that is open, or about to be.
type running struct {
	Call

	stop context.CancelCauseFunc
	done chan struct{}
}

// key tells the calls apart that can be open at the same time: one for each server.
func (c Call) key() string {
	if c.Guild == "" {
		return "/" + c.Channel
	}
	return c.Guild
}

// Join opens a call in channel, or where the person of o is if that is empty. It returns when the call is joined. Its error is a
// [*Denied], whose text is for the person who asked, or the cause of ctx.
func (r *Registry) Join(ctx context.Context, o sessions.Origin, channel string) (Call, error) {
	here, inVoice := r.where(o)
	if channel == "" {
		channel = here
	}
	c := Call{Guild: o.Guild, Channel: channel, Asked: o.Channel, By: o.User, Since: time.Now()}
	if why := r.refuse(o, c, inVoice && here == channel); why != nil {
		return Call{}, why
	}
	live, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	run := &running{Call: c, stop: stop, done: make(chan struct{})}
	if why := r.reserve(run); why != nil {
		stop(why)
		return Call{}, why
	}
	session, err := r.begin(ctx, live, run)
	if err != nil {
		r.remove(run)
		stop(err)
		close(run.done)
		r.wg.Done()
		return Call{}, err
	}
	if r.Changed != nil {
		r.Changed(c, true, nil)
	}
	go func() {
		defer r.wg.Done()
		defer close(run.done)
		err := session.Run(live)
		stop(err)
		r.remove(run)
		r.logger().Info("call ended", "guild", c.Guild, "channel", c.Channel, "after", time.Since(c.Since).Round(time.Second), "why", err)
		if r.Changed != nil {
			r.Changed(c, false, err)
		}
	}()
	return c, nil
}

// begin joins the call, until ctx or the call itself is given up.
func (r *Registry) begin(ctx, live context.Context, run *running) (Session, error) {
	ctx, done := context.WithTimeoutCause(ctx, joinTimeout, denied(JoinFailed, "It took too long to join the call. Please try again."))
	defer done()
	ctx, give := context.WithCancelCause(ctx)
	defer give(context.Canceled)
	defer context.AfterFunc(live, func() { give(context.Cause(live)) })()
	s, err := r.Begin(ctx, run.Call)
	if err == nil {
		return s, nil
	}
	return nil, r.failed(ctx, run.Call, err)
}

// Leave ends the call of the server of o, or the one in its channel where there is no server. That may be done by who asked for it,
// who is in it, and a moderator. It returns when the call has ended, or with the cause of ctx.
func (r *Registry) Leave(ctx context.Context, o sessions.Origin) error {
	here, inVoice := r.where(o)
	r.mu.Lock()
	run := r.open[Call{Guild: o.Guild, Channel: o.Channel}.key()]
	r.mu.Unlock()
	if run == nil {
		return denied(NotInCall, "I am in no call here.")
	}
	if o.User != run.By && !o.Moderator && (!inVoice || here != r.at(run.Call).Channel) {
		return denied(NotYours, "Only somebody who is in the call, or who may manage messages here, can send me away.")
	}
	run.stop(&cancel.Cause{Reason: cancel.Stopped, By: o.UserName})
	select {
	case <-run.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Follow joins the person of o if the policy has us do so and nothing speaks against it, and reports whether it did. Nobody is told
// why not, as nobody has asked.
func (r *Registry) Follow(ctx context.Context, o sessions.Origin) bool {
	if !r.Policy().Auto || o.Guild == "" {
		return false
	}
	if _, in := r.where(o); !in {
		return false
	}
	_, err := r.Join(ctx, o, "")
	if err != nil {
		r.logger().Info("not joined by itself", "guild", o.Guild, "user", o.User, "why", err)
	}
	return err == nil
}

// Open lists the open calls, the oldest first.
func (r *Registry) Open() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Call
	for _, run := range r.open {
		all = append(all, r.at(run.Call))
	}
	slices.SortFunc(all, func(a, b Call) int { return a.Since.Compare(b.Since) })
	return all
}

// Close ends all calls with a cause, lets no other begin, and waits for their end until ctx ends.
func (r *Registry) Close(ctx context.Context, cause error) error {
	r.mu.Lock()
	r.closed = true
	for _, run := range r.open {
		run.stop(cause)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last call, each of which has its own deadlines
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve takes the place of a call, if it is free.
func (r *Registry) reserve(run *running) error {
	limits := r.Policy()
	r.mu.Lock()
	defer r.mu.Unlock()
	day := time.Now().Add(-24 * time.Hour)
	r.begun, r.Before = append(r.begun, r.Before...), nil
	r.begun = slices.DeleteFunc(r.begun, func(t time.Time) bool { return t.Before(day) })
	other := r.open[run.key()]
	switch {
	case r.closed:
		return denied(JoinFailed, "I am shutting down.")
	case other != nil && r.at(other.Call).Channel == run.Channel:
		return denied(AlreadyThere, "I am in that call already.")
	case other != nil:
		return denied(Elsewhere, "I am in another call on this server. Say `/clank leave` there first.")
	case len(r.open) >= positive(limits.Max, defaultMax):
		return denied(TooManyCalls, "I am in as many calls as I may be at once. Please try again later.")
	case len(r.begun) >= positive(limits.PerDay, defaultPerDay):
		return denied(TooManyToday, "I have been in as many calls today as I may be. Please try again tomorrow.")
	}
	if r.open == nil {
		r.open = map[string]*running{}
	}
	r.open[run.key()] = run
	r.begun = append(r.begun, run.Since)
	r.wg.Add(1)
	return nil
}

func (r *Registry) remove(run *running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[run.key()] == run {
		delete(r.open, run.key())
	}
}

func (r *Registry) where(o sessions.Origin) (channel string, ok bool) {
	if r.Where == nil || o.User == "" {
		return "", false
	}
	return r.Where(o.Guild, o.User)
}

// at is c in the channel where it is now.
func (r *Registry) at(c Call) Call {
	if r.Now == nil || c.Guild == "" {
		return c
	}
	if channel, ok := r.Now(c.Guild); ok {
		c.Channel = channel
	}
	return c
}

// Stay says why a call must not go on in a channel to which somebody has moved us; nil if it may.
func (r *Registry) Stay(channel string) error {
	p := r.Policy()
	switch {
	case slices.Contains(p.BlockedChannels, channel):
		return denied(ChannelBlocked, "The operator does not let me join this channel.")
	case len(p.AllowedChannels) > 0 && !slices.Contains(p.AllowedChannels, channel):
		return denied(ChannelNotAllowed, "The operator lets me join only certain channels, and this is none of them.")
	}
	return nil
}

func (r *Registry) logger() *slog.Logger {
	if r.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Logger
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
