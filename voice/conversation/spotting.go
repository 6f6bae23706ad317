package conversation

import (
	"context"

	"clank/cancel"
	"clank/voice"
)

// startSpotting begins to spot words of p.
func (c *call) startSpotting(ctx context.Context, p *person) {
	l := &BufferedSpotterStream{}
	p.spotting = l
	id := p.ID
	c.work.Go(func() {
		to, err := c.Spotter.Listen(ctx, id, func(s voice.SpottedPhrase) {
			c.post(func(ctx context.Context) { c.handleSpotted(ctx, s) })
		})
		if err != nil {
			c.post(func(context.Context) { c.reportSpotterFailure(err) })
			return
		}
		l.Attach(to)
	})
}

// stopSpotting ends what spots words of p. That may take a moment, for which nobody waits but the end of the call.
func (c *call) stopSpotting(p *person) {
	l := p.spotting
	if l == nil {
		return
	}
	p.spotting = nil
	c.work.Go(func() {
		if err := l.Close(); err != nil {
			c.log.Warn("spotting words not ended in order", "error", err)
		}
	})
}

func (c *call) stopAllSpotting() {
	for _, p := range c.room.people {
		c.stopSpotting(p)
	}
}

// reportSpotterFailure says once that no stop words are heard.
func (c *call) reportSpotterFailure(err error) {
	c.log.Error("words cannot be spotted", "error", err)
	c.reportOnce("spot", c.capabilities().SpotterFailedText(err))
}

// handleSpotted handles a phrase that the spotter has heard.
func (c *call) handleSpotted(ctx context.Context, s voice.SpottedPhrase) {
	p := c.room.people[s.From]
	if p == nil || c.applyPrivacy(p) || p.spotting == nil {
		return
	}
	if c.speech.echo.MayBeEcho(s.Phrase, s.At) {
		c.log.Info("phrase of our own heard again", "phrase", s.Phrase)
		return
	}
	named, rest := CutName(s.Phrase, c.Options.Names)
	switch {
	case cancel.IsStop(s.Phrase):
		if c.stop(p, named || s.At.Sub(p.namedAt) < wakeWindow) {
			p.stoppedAt, p.addressedAt = s.At, s.At
		}
	case named && IsOptOutRequest(rest):
		c.optOut(ctx, p)
	case named:
		p.namedAt, p.addressedAt = s.At, s.At
		if h := p.unaddressed; h != nil && !s.At.Before(h.Began) && !s.At.After(h.Ended) { // the spotter takes a moment longer
			h.addressed, h.named = true, true
			c.queueTranscription(ctx, p, *h)
		}
		if c.Options.BargeIn != NoBargeIn {
			c.interrupt(p)
		}
		c.native.startHearing(ctx, p)
	}
}
