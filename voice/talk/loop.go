package talk

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/talk/limits"
	"clank/voice/talk/memory"
	"clank/voice/talk/phrases"
	"clank/voice/talk/queue"
	"clank/voice/talk/reach"
	"clank/voice/talk/words"
)

// tickEvery is how often waits inside a call are looked at.
const tickEvery = 50 * time.Millisecond

// troubleFor is how long we cannot be heard until people are told: handshakes and moves are shorter.
const troubleFor = 5 * time.Second

// call is the state of a conversation. Its fields belong to the goroutine of the loop; others reach it through the inbox.
type call struct {
	*Talk

	log    *slog.Logger
	leave  context.CancelCauseFunc
	in     *queue.Inbox
	scribe *queue.Scribe[Message]
	ear    Ear
	work   sync.WaitGroup // all goroutines but the scribe's

	connected bool
	trouble   string    // why we cannot be heard, until it is told
	since     time.Time // that it began
	noticed   time.Time // when the notice was given; zero: not yet
	room      room
	reach     *reach.Reach
	lasts     limits.Watch
	jobs      []*job
	waiting   []request
	lines     memory.Lines
	speech    speech
	lastStop  time.Time
	told      map[string]time.Time // failures and troubles, when they were told last
	warned    map[string]bool      // about the end of the call
	native    *speaker
}

func newCall(t *Talk, leave context.CancelCauseFunc) *call {
	own := *t // places change while a call lasts
	c := &call{
		Talk: &own, log: t.Logger, leave: leave, in: queue.NewInbox(),
		room: room{me: t.Place.Me, people: map[string]*person{}},
		told: map[string]time.Time{}, warned: map[string]bool{},
		reach: reach.New(t.Scopes, t.Place.Guild, t.Place.Channel, t.Place.Asked),
		lasts: limits.Watch{Alone: or(t.Manners.Alone, defaultAlone), Limit: t.Manners.Limit, Began: time.Now()},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c *call) loop(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, open := <-c.Line.Events():
			if !open {
				return c.Line.Err()
			}
			c.event(ctx, e)
		case <-c.in.Wake():
			for _, f := range c.in.Take() {
				f(ctx)
			}
			c.next(ctx)
		case <-tick.C:
			c.tick(ctx)
		}
	}
}

// event is something that the line tells.
func (c *call) event(ctx context.Context, e voice.Event) {
	switch e.Kind {
	case voice.Heard:
		c.packet(e.Packet)
	case voice.Joined:
		c.joined(e.Person)
	case voice.Left:
		c.left(e.Person.ID)
	case voice.Connected:
		c.connected, c.trouble = true, ""
		c.notice()
	case voice.Trouble:
		c.connected, c.trouble, c.since = false, e.Text, time.Now()
	case voice.Moved:
		c.moved(e.Text)
	case voice.Exposed:
		c.write(Message{Text: phrases.Exposed})
	case voice.Sealed:
		c.write(Message{Text: phrases.Sealed})
	default:
		c.log.Info("unknown event of a call", "kind", e.Kind)
	}
	c.next(ctx)
}

// moved goes on in another channel, if we may be there. Who is there has to be told that we listen.
func (c *call) moved(channel string) {
	c.log.Info("call moved", "from", c.Place.Channel, "to", channel)
	c.reach.Move(channel)
	c.Place.Channel = channel
	c.noticed = time.Time{}
	for _, p := range c.room.people {
		p.told = false
	}
	if c.Stay == nil {
		return
	}
	if err := c.Stay(channel); err != nil {
		c.write(Message{Text: "I was moved here, and leave again: " + words.Sentence(err.Error())})
		c.leave(err)
	}
}

// packet passes sound on to the ear, unless nobody may hear it.
func (c *call) packet(p voice.Packet) {
	who := c.room.people[p.From]
	if who == nil { // heard before they were announced
		who = c.room.get(p.From)
		who.here = p.From != c.Place.Me
	}
	if c.heed(who) || who.Bot || p.From == c.Place.Me {
		return
	}
	c.ear.Take(p)
}

// tick looks after everything that waits for a time.
func (c *call) tick(ctx context.Context) {
	now := time.Now()
	for _, p := range c.room.people {
		c.heed(p)
	}
	c.settleBarge(now)
	c.news(now)
	c.takeUp(now)
	if c.trouble != "" && now.Sub(c.since) >= troubleFor {
		c.tell("line", "I cannot be heard in the call at the moment: "+words.Sentence(c.trouble))
		c.trouble = ""
	}
	c.next(ctx)
	c.watchEnd(now)
}

// post has f done by the loop.
func (c *call) post(f func(context.Context)) { c.in.Put(f) }

func (c *call) write(m Message) { c.scribe.Write(m) }
