package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"clank/voice"
)

// tickEvery is how often waits inside a call are looked at.
const tickEvery = 50 * time.Millisecond

// troubleGrace is how long we may be inaudible before people are told: handshakes and moves take less.
const troubleGrace = 5 * time.Second

// call is the state of a conversation. Its fields belong to the goroutine of the loop; others reach it through the
// inbox.
type call struct {
	*Conversation

	log      *slog.Logger
	leave    context.CancelCauseFunc
	inbox    voice.Queue[func(context.Context)]
	messages *MessageWriter
	work     sync.WaitGroup // all goroutines but the scribe's

	connected    bool
	trouble      string    // why we cannot be heard, until it is reported
	troubleSince time.Time // that it began
	noticedAt    time.Time // when the notice was given; zero if not yet
	participants participants
	workScopes   *WorkScopes
	limits       CallLimits
	jobs         []*job
	waiting      []request
	history      History
	speech       speechQueue
	lastStop     time.Time
	reportedAt   map[string]time.Time // when failures and interruptions were last reported
	warned       map[string]bool      // about the end of the call
	native       *nativeSession
}

func newCall(t *Conversation, leave context.CancelCauseFunc) *call {
	own := *t // places change while a call lasts
	c := &call{
		Conversation: &own, log: t.Logger, leave: leave,
		participants: participants{selfID: t.Location.SelfID, people: map[string]*person{}},
		reportedAt:   map[string]time.Time{}, warned: map[string]bool{},
		workScopes: NewWorkScopes(t.Scopes, t.Location.Guild, t.Location.Channel, t.Location.TextChannel),
		limits: CallLimits{
			AloneTimeout: cmp.Or(max(0, t.Options.AloneTimeout), defaultAloneTimeout),
			MaxDuration:  t.Options.MaxDuration, StartedAt: time.Now(),
		},
	}
	c.log = cmp.Or(c.log, slog.New(slog.DiscardHandler))
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
			c.handleEvent(ctx, e)
		case <-c.inbox.Wake():
			for _, f := range c.inbox.Drain() {
				f(ctx)
			}
			c.speakNext(ctx)
		case <-tick.C:
			c.tick(ctx)
		}
	}
}

// handleEvent handles an event of the line.
func (c *call) handleEvent(ctx context.Context, e voice.Event) {
	switch e.Kind {
	case voice.PacketReceived:
		c.handlePacket(e.Packet)
	case voice.Joined:
		c.handleJoined(e.Person)
	case voice.Left:
		c.handleLeft(e.Person.ID)
	case voice.Connected:
		c.connected, c.trouble = true, ""
		c.announceListening()
	case voice.Interrupted:
		c.connected, c.trouble, c.troubleSince = false, e.Text, time.Now()
	case voice.Moved:
		c.handleMoved(e.Text)
	case voice.EncryptionOff:
		c.handleEncryptionOff()
	case voice.EncryptionOn:
		c.write(Message{Text: c.Locale.T(encryptionOnText)})
	default:
		c.log.Info("unknown event of a call", "kind", e.Kind)
	}
	c.speakNext(ctx)
}

// handleEncryptionOff tells people that others can hear the call, or leaves it.
func (c *call) handleEncryptionOff() {
	if !c.Options.RequireEncryption {
		c.write(Message{Text: c.Locale.T(encryptionOffText)})
		return
	}
	c.write(Message{Text: c.Locale.T(leftUnencryptedText)})
	c.leave(ErrCallUnencrypted)
}

// handleMoved continues in another channel if that is allowed. The people there must be told that we listen.
func (c *call) handleMoved(channel string) {
	c.log.Info("call moved", "from", c.Location.Channel, "to", channel)
	c.workScopes.MoveTo(channel)
	c.Location.Channel = channel
	c.noticedAt = time.Time{}
	for _, p := range c.participants.people {
		p.notified = false
	}
	if err := c.Host.CheckChannel(channel); err != nil {
		c.write(Message{Text: c.Locale.T("I was moved here, and leave again: %s", c.reason(err))})
		c.leave(err)
	}
}

// handlePacket passes sound on for detection, unless it must not be heard.
func (c *call) handlePacket(p voice.Packet) {
	who := c.participants.people[p.From]
	if who == nil { // heard before they were announced
		who = c.participants.findOrAdd(p.From)
		who.present = p.From != c.Location.SelfID
	}
	if c.applyPrivacy(who) || who.Bot || p.From == c.Location.SelfID {
		return
	}
	c.Detector.Write(p)
}

// tick looks after everything that waits for a time.
func (c *call) tick(ctx context.Context) {
	now := time.Now()
	for _, p := range c.participants.people {
		c.applyPrivacy(p)
	}
	c.resumeAfterNoise(now)
	c.reportProgress(now)
	c.resumeInterrupted(now)
	if c.trouble != "" && now.Sub(c.troubleSince) >= troubleGrace {
		why := c.Locale.Sentence(c.trouble)
		c.reportOnce("line", c.Locale.T("I cannot be heard in the call at the moment: %s", why))
		c.trouble = ""
	}
	c.speakNext(ctx)
	c.checkLimits(now)
}

// post has f done by the loop.
func (c *call) post(f func(context.Context)) { c.inbox.Put(f, 0) }

// maxOffered is the queue length beyond which optional events are dropped: some seconds of sound of several people.
const maxOffered = 2048

// offer does as post, unless the loop is far behind.
func (c *call) offer(f func(context.Context)) {
	if c.inbox.Len() < maxOffered {
		c.post(f)
	}
}

func (c *call) write(m Message) { c.messages.Write(m) }
