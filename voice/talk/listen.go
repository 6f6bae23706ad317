package talk

import (
	"context"
	"sync"

	"clank/cancel"
	"clank/voice"
	"clank/voice/talk/words"
)

// maxHeld is how much sound waits for a spotter that is not ready yet: two seconds in pieces of 20 ms.
const maxHeld = 100

// listening is a spotter's ear for one person. It takes time to be there, and what is said meanwhile is kept for it.
type listening struct {
	mu     sync.Mutex
	to     voice.Listening // nil: not yet
	held   []voice.Sound
	claim  voice.Claim
	closed bool
}

// listenTo begins to spot words of p.
func (c *call) listenTo(ctx context.Context, p *person) {
	l := &listening{}
	p.ears = l
	id := p.ID
	c.work.Go(func() {
		to, err := c.Spotter.Listen(ctx, id, func(s voice.Spotted) {
			c.post(func(ctx context.Context) { c.spotted(ctx, s) })
		})
		if err != nil {
			c.post(func(context.Context) { c.cannotSpot(err) })
			return
		}
		l.open(to)
	})
}

// open gives l its spotter and what it has missed.
func (l *listening) open(to voice.Listening) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = to.Close() // nobody listens any more, and there is nobody to tell
		return
	}
	to.Prefer(l.claim)
	for _, s := range l.held {
		to.Write(s)
	}
	l.to, l.held = to, nil
}

// prefer says what claim the person has to be listened to, if not all can be.
func (l *listening) prefer(claim voice.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if claim == l.claim {
		return
	}
	l.claim = claim
	if l.to != nil {
		l.to.Prefer(claim)
	}
}

func (l *listening) write(s voice.Sound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.to != nil:
		l.to.Write(s)
	case len(l.held) < maxHeld:
		l.held = append(l.held, s)
	}
}

func (l *listening) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.held = true, nil
	if l.to == nil {
		return nil
	}
	to := l.to
	l.to = nil
	return to.Close()
}

// endListening ends what spots words of p. That may take a moment, for which nobody waits but the end of the call.
func (c *call) endListening(p *person) {
	l := p.ears
	if l == nil {
		return
	}
	p.ears = nil
	c.work.Go(func() {
		if err := l.close(); err != nil {
			c.log.Warn("spotting words not ended in order", "error", err)
		}
	})
}

func (c *call) stopListening() {
	for _, p := range c.room.people {
		c.endListening(p)
	}
}

// cannotSpot says once that no stop words are heard.
func (c *call) cannotSpot(err error) {
	c.log.Error("words cannot be spotted", "error", err)
	c.tell("spot", "I cannot listen for stop words at the moment ("+words.Sentence(err.Error())+") You can still write “stop” in the chat.")
}

// spotted is told of a phrase that the spotter has heard.
func (c *call) spotted(ctx context.Context, s voice.Spotted) {
	p := c.room.people[s.From]
	if p == nil || c.heed(p) || p.ears == nil {
		return
	}
	if c.ourEcho(s.Phrase, s.At) {
		c.log.Info("phrase of our own heard again", "phrase", s.Phrase)
		return
	}
	named, rest := words.Named(s.Phrase, c.Manners.Names)
	switch {
	case cancel.IsStop(s.Phrase):
		if c.stop(p, named || s.At.Sub(p.woken) < wakeFor) {
			p.stopped, p.called = s.At, s.At
		}
	case named && words.IsPrivacy(rest):
		c.leaveOut(ctx, p)
	case named:
		p.woken, p.called = s.At, s.At
		if h := p.late; h != nil && !s.At.Before(h.Began) && !s.At.After(h.Ended) { // the spotter takes a moment longer
			h.may, h.wake = true, true
			c.takeIn(ctx, p, *h)
		}
		if c.bargeIn() != NoBargeIn {
			c.interrupt(p)
		}
		c.native.wake(ctx, p)
	}
}
