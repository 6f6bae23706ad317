package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/voice"
	"clank/voice/discord/media"
)

var _ voice.Line = (*Line)(nil)

// Line is our end of a call in a voice channel.
type Line struct {
	joiner *Joiner
	rooms  *rooms
	guild  string

	queue  *queue
	events chan voice.Event
	stop   chan struct{} // closed by Close: nobody reads events any more
	closed func()
	pumped chan struct{}

	cancel context.CancelCauseFunc
	ending <-chan struct{} // closed by cancel
	done   chan struct{}
	err    error // read after done is closed

	mu      sync.Mutex
	channel string
	session string
	conn    *media.Conn // nil while there is none
	up      bool        // it carries sound
	barred  string      // why Discord lets nobody hear us
	heard   bool        // Connected was told, and no Trouble since
	told    string      // what was barred then
	people  map[string]voice.Person
}

var errLeft = errors.New("clank has left the call")

// newLine makes a line, and the context of its life.
func newLine(ctx context.Context, j *Joiner, r *rooms, guild, channel string) (*Line, context.Context) {
	l := &Line{
		joiner: j, rooms: r, guild: guild, channel: channel, queue: newQueue(), events: make(chan voice.Event),
		stop: make(chan struct{}), pumped: make(chan struct{}), done: make(chan struct{}), people: map[string]voice.Person{},
	}
	l.closed = sync.OnceFunc(func() { close(l.stop) })
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l.cancel, l.ending = cancel, run.Done()
	return l, run
}

// start begins the life of a line that has a connection.
func (l *Line) start(run context.Context, at seat) {
	l.compare()
	go func() {
		defer close(l.pumped)
		l.queue.pump(l.events, l.stop)
	}()
	go l.live(run, at)
}

// Events implements [voice.Line].
func (l *Line) Events() <-chan voice.Event { return l.events }

// Play implements [voice.Line].
func (l *Line) Play(opus []byte) error {
	l.mu.Lock()
	c, barred := l.conn, l.barred != ""
	l.mu.Unlock()
	if c == nil || barred {
		return voice.ErrMute
	}
	return c.SendAudio(opus)
}

// Hush implements [voice.Line].
func (l *Line) Hush() error {
	if c := l.connection(); c != nil {
		return c.Hush()
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

// Guild is the guild of the call.
func (l *Line) Guild() string { return l.guild }

// Channel is the channel of the call; it changes when somebody moves us.
func (l *Line) Channel() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.channel
}

// SessionID is that of our voice state, which a stream in the same call needs.
func (l *Line) SessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// People are those in the call, without ourselves, by id.
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

// PrivacyCode is the voice privacy code of the call, by which people see that nobody listens in; empty while there is none.
func (l *Line) PrivacyCode() string {
	if c := l.connection(); c != nil {
		return c.PrivacyCode()
	}
	return ""
}

// Stats is what the present connection of the call has counted.
func (l *Line) Stats() media.Stats {
	if c := l.connection(); c != nil {
		return c.Stats()
	}
	return media.Stats{}
}

func (l *Line) connection() *media.Conn {
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

// handle takes what happens on the voice connection.
func (l *Line) handle(e media.Event) {
	switch e.Kind {
	case media.Sound:
		l.queue.push(voice.Event{Kind: voice.Heard, Packet: e.Packet})
	case media.Up:
		l.setUp(true, "")
	case media.Down:
		l.setUp(false, e.Text)
	case media.Exposed:
		l.queue.push(voice.Event{Kind: voice.Exposed})
	case media.Sealed:
		l.queue.push(voice.Event{Kind: voice.Sealed})
	case media.Connected:
		for _, user := range e.Users {
			l.add(l.joiner.person(l.guild, user))
		}
	case media.Gone:
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
	l.judge(why)
}

// bar notes why Discord lets nobody hear us; empty if it does.
func (l *Line) bar(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.barred = why
	l.judge(why)
}

// judge tells whether we can be heard, when that changes. It is called with mu held.
func (l *Line) judge(why string) {
	heard := l.up && l.barred == ""
	switch {
	case heard && !l.heard:
		l.queue.push(voice.Event{Kind: voice.Connected})
	case !heard && (l.heard || l.barred != "" && l.barred != l.told):
		l.queue.push(voice.Event{Kind: voice.Trouble, Text: cmp.Or(why, l.barred)})
	}
	l.heard, l.told = heard, l.barred
}

// add takes somebody into the call, or what is newly known of them.
func (l *Line) add(p voice.Person) {
	l.mu.Lock()
	defer l.mu.Unlock()
	have, ok := l.people[p.ID]
	if ok && (have == p || p.Name == "") {
		return
	}
	l.people[p.ID] = p
	l.queue.push(voice.Event{Kind: voice.Joined, Person: p})
}

func (l *Line) remove(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.people[user]; ok {
		delete(l.people, user)
		l.queue.push(voice.Event{Kind: voice.Left, Person: p})
	}
}

// seen takes what the main gateway tells of somebody else.
func (l *Line) seen(before, now presence) {
	channel := l.Channel()
	switch {
	case now.channel == channel:
		l.add(now.person)
	case before.channel == channel:
		l.remove(now.person.ID)
	}
}

// compare makes the people of the call those whom the main gateway knows there.
func (l *Line) compare() {
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
