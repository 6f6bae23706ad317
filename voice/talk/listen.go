package talk

import (
	"context"

	"clank/cancel"
	"clank/voice"
	"clank/voice/talk/queue"
	"clank/voice/talk/words"
)

// listenTo begins to spot words of p.
func (c *call) listenTo(ctx context.Context, p *person) {
	l := &queue.Listening{}
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
		l.Open(to)
	})
}

// endListening ends what spots words of p. That may take a moment, for which nobody waits but the end of the call.
func (c *call) endListening(p *person) {
	l := p.ears
	if l == nil {
		return
	}
	p.ears = nil
	c.work.Go(func() {
		if err := l.Close(); err != nil {
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
	c.tell("spot", c.able().CannotSpot(err))
}

// spotted is told of a phrase that the spotter has heard.
func (c *call) spotted(ctx context.Context, s voice.Spotted) {
	p := c.room.people[s.From]
	if p == nil || c.heed(p) || p.ears == nil {
		return
	}
	if c.speech.aloud.CanBe(s.Phrase, s.At) {
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
		if c.Manners.BargeIn != NoBargeIn {
			c.interrupt(p)
		}
		c.native.wake(ctx, p)
	}
}
