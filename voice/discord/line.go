package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/voice"
	"clank/voice/discord/conn"
)

var _ voice.Line = (*Line)(nil)

// Line is our end of a call in a voice channel.
type Line struct {
	joiner     *Joiner
	guildState *guildState
	guild      string

	queue  *voice.EventQueue
	stop   chan struct{} // closed by Close: events have no reader any more
	closed func()
	pumped chan struct{}

	cancel context.CancelCauseFunc
	ending <-chan struct{} // closed by cancel
	done   chan struct{}
	err    error // read after done is closed

	mu             sync.Mutex
	channel        string
	session        string
	conn           *conn.Conn // nil while there is no connection
	up             bool       // it carries sound
	mutedReason    string     // why Discord lets nobody hear us
	announced      bool       // a Connected event was sent, and no Trouble since
	reportedReason string     // the mutedReason of that event
	people         map[string]voice.Person
}

var errLeft = errors.New("clank has left the call")

// newLine returns a line and the context that ends with it.
func newLine(ctx context.Context, j *Joiner, r *guildState, guild, channel string) (*Line, context.Context) {
	l := &Line{
		joiner: j, guildState: r, guild: guild, channel: channel, queue: voice.NewEventQueue(),
		stop: make(chan struct{}), pumped: make(chan struct{}), done: make(chan struct{}), people: map[string]voice.Person{},
	}
	l.closed = sync.OnceFunc(func() { close(l.stop) })
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l.cancel, l.ending = cancel, run.Done()
	return l, run
}

func (l *Line) start(run context.Context, at voiceSession) {
	l.syncPeople()
	go func() {
		defer close(l.pumped)
		l.queue.Run(l.stop)
	}()
	go l.run(run, at)
}

// Events implements [voice.Line].
func (l *Line) Events() <-chan voice.Event { return l.queue.Events }

// Play implements [voice.Line].
func (l *Line) Play(opus []byte) error {
	l.mu.Lock()
	c, barred := l.conn, l.mutedReason != ""
	l.mu.Unlock()
	if c == nil || barred {
		return voice.ErrUnavailable
	}
	return c.SendAudio(opus)
}

// EndSpeech implements [voice.Line].
func (l *Line) EndSpeech() error {
	if c := l.connection(); c != nil {
		return c.EndSpeech()
	}
	return nil
}

// Err implements [voice.Line].
func (l *Line) Err() error {
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

// Close implements [voice.Line].
func (l *Line) Close(ctx context.Context) error {
	l.cancel(errLeft)
	l.closed()
	for _, done := range []chan struct{}{l.done, l.pumped} {
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("leave the call: %w", context.Cause(ctx))
		}
	}
	return nil
}

// Channel returns the channel of the call, which changes when someone moves us.
func (l *Line) Channel() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.channel
}

// SessionID returns the session id of our voice state, which a stream in the same call needs.
func (l *Line) SessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// People returns the people in the call, without ourselves, sorted by id.
func (l *Line) People() []voice.Person {
	l.mu.Lock()
	defer l.mu.Unlock()
	people := make([]voice.Person, 0, len(l.people))
	for _, p := range l.people {
		people = append(people, p)
	}
	slices.SortFunc(people, func(a, b voice.Person) int { return cmp.Compare(a.ID, b.ID) })
	return people
}

// PrivacyCode returns the voice privacy code of the call, with which people can verify that nobody listens in; empty
// while there is none.
func (l *Line) PrivacyCode() string {
	if c := l.connection(); c != nil {
		return c.PrivacyCode()
	}
	return ""
}

// Stats returns the counts of the call's present connection.
func (l *Line) Stats() conn.Stats {
	if c := l.connection(); c != nil {
		return c.Stats()
	}
	return conn.Stats{}
}

func (l *Line) connection() *conn.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

func (l *Line) alive() bool {
	select {
	case <-l.ending:
		return false
	default:
		return true
	}
}

func (l *Line) handle(e conn.Event) {
	switch e.Kind {
	case conn.PacketReceived:
		l.queue.Push(voice.Event{Kind: voice.PacketReceived, Packet: e.Packet})
	case conn.Up:
		l.setUp(true, "")
	case conn.Down:
		l.setUp(false, e.Text)
	case conn.EncryptionOff:
		l.queue.Push(voice.Event{Kind: voice.EncryptionOff})
	case conn.EncryptionOn:
		l.queue.Push(voice.Event{Kind: voice.EncryptionOn})
	case conn.UsersJoined:
		for _, user := range e.Users {
			l.add(l.joiner.person(l.guild, user))
		}
	case conn.UsersLeft:
		for _, user := range e.Users {
			l.remove(user)
		}
	default: // of pictures, which a call has none of
	}
}

// setUp notes whether the voice connection carries sound.
func (l *Line) setUp(up bool, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up = up
	l.reportAudible(why)
}

// setMutedReason stores why Discord lets nobody hear us; empty if it does not mute us.
func (l *Line) setMutedReason(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mutedReason = why
	l.reportAudible(why)
}

// reportAudible emits an event when it changes whether we can be heard. The caller holds mu.
func (l *Line) reportAudible(why string) {
	heard := l.up && l.mutedReason == ""
	switch {
	case heard && !l.announced:
		l.queue.Push(voice.Event{Kind: voice.Connected})
	case !heard && (l.announced || l.mutedReason != "" && l.mutedReason != l.reportedReason):
		l.queue.Push(voice.Event{Kind: voice.Interrupted, Text: cmp.Or(why, l.mutedReason)})
	}
	l.announced, l.reportedReason = heard, l.mutedReason
}

// add adds a person to the call, or updates what is known about them.
func (l *Line) add(p voice.Person) {
	l.mu.Lock()
	defer l.mu.Unlock()
	have, ok := l.people[p.ID]
	if ok && (have == p || p.Name == "") {
		return
	}
	l.people[p.ID] = p
	l.queue.Push(voice.Event{Kind: voice.Joined, Person: p})
}

func (l *Line) remove(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.people[user]; ok {
		delete(l.people, user)
		l.queue.Push(voice.Event{Kind: voice.Left, Person: p})
	}
}

// handlePresence handles what the main gateway reports about somebody else.
func (l *Line) handlePresence(before, now presence) {
	channel := l.Channel()
	switch {
	case now.channel == channel:
		l.add(now.person)
	case before.channel == channel:
		l.remove(now.person.ID)
	}
}

// syncPeople replaces the people of the call by those whom the main gateway reports in its channel.
func (l *Line) syncPeople() {
	there := l.joiner.People(l.guild, l.Channel())
	for _, p := range l.People() {
		if !slices.ContainsFunc(there, func(t voice.Person) bool { return t.ID == p.ID }) {
			l.remove(p.ID)
		}
	}
	for _, p := range there {
		l.add(p)
	}
}
