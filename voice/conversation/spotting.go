package conversation

import (
	"context"
	"sync"
	"time"

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

// stopSpotting stops spotting in the speech of p. That may take a moment, for which only the end of the call waits.
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
	for _, p := range c.participants.people {
		c.stopSpotting(p)
	}
}

// reportSpotterFailure tells people once that stop words are not heard.
func (c *call) reportSpotterFailure(err error) {
	c.log.Error("words cannot be spotted", "error", err)
	c.reportOnce("spot", c.capabilities().SpotterFailedText(err))
}

// handleSpotted handles a phrase that the spotter has heard.
func (c *call) handleSpotted(ctx context.Context, s voice.SpottedPhrase) {
	p := c.participants.people[s.From]
	if p == nil || c.applyPrivacy(p) || p.spotting == nil {
		return
	}
	if c.speech.echo.MayBeEcho(s.Phrase, s.At) {
		c.log.Info("phrase of our own heard again", "phrase", s.Phrase)
		return
	}
	named, rest := CutName(s.Phrase, c.Options.Names)
	switch {
	case c.isStop(s.Phrase):
		if c.stop(p, named || s.At.Sub(p.namedAt) < wakeWindow) {
			p.stoppedAt, p.addressedAt = s.At, s.At
		}
	case named && IsOptOutRequest(rest):
		c.optOut(ctx, p)
	case named:
		p.namedAt, p.addressedAt = s.At, s.At
		// the spotter takes a moment longer
		if h := p.unaddressed; h != nil && !s.At.Before(h.Began) && !s.At.After(h.Ended) {
			h.addressed, h.named = true, true
			c.queueTranscription(ctx, p, *h)
		}
		if c.Options.BargeIn != NoBargeIn {
			c.interrupt(p)
		}
		c.native.startHearing(ctx, p)
	}
}

// maxBufferedSounds is how much sound waits for a spotter that is not ready yet: two seconds in pieces of 20 ms.
const maxBufferedSounds = 100

// BufferedSpotterStream is the stream of one person's sound to a spotter. The spotter takes time to start; what is said
// meanwhile is buffered.
type BufferedSpotterStream struct {
	mu       sync.Mutex
	stream   voice.SpotterStream // nil if not started yet
	buffered []voice.Sound
	claim    voice.SpotterPriority
	closed   bool
}

// Attach gives l its spotter and what it has missed.
func (l *BufferedSpotterStream) Attach(to voice.SpotterStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = to.Close() // it was closed, and nobody can be told
		return
	}
	to.SetPriority(l.claim)
	for _, s := range l.buffered {
		to.Write(s)
	}
	l.stream, l.buffered = to, nil
}

// SetPriority sets the priority of the person if not everyone can be listened to.
func (l *BufferedSpotterStream) SetPriority(claim voice.SpotterPriority) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if claim == l.claim {
		return
	}
	l.claim = claim
	if l.stream != nil {
		l.stream.SetPriority(claim)
	}
}

// Crowded reports whether the person is not listened to because others have priority.
func (l *BufferedSpotterStream) Crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	to, can := l.stream.(interface{ Crowded() bool })
	return can && to.Crowded()
}

// Write passes sound on, or buffers it while there is no spotter.
func (l *BufferedSpotterStream) Write(s voice.Sound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.stream != nil:
		l.stream.Write(s)
	case len(l.buffered) < maxBufferedSounds:
		l.buffered = append(l.buffered, s)
	}
}

// Close closes the stream, as soon as it exists.
func (l *BufferedSpotterStream) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.buffered = true, nil
	if l.stream == nil {
		return nil
	}
	to := l.stream
	l.stream = nil
	return to.Close()
}

// priorityEvery is how often priorities are updated.
const priorityEvery = 200 * time.Millisecond

// updatePriority updates the spotter's priority of p: they may have made a request since, or it may be done.
func (c *call) updatePriority(p *person, now time.Time) {
	if now.Sub(p.prioritizedAt) < priorityEvery {
		return
	}
	p.prioritizedAt = now
	p.spotting.SetPriority(voice.SpotterPriority{Working: c.workScopes.HasWork(p.ID), LastAddressed: p.addressedAt})
	if c.Privacy != nil && !c.warned["crowd"] && p.spotting.Crowded() {
		c.warned["crowd"] = true
		c.write(Message{Text: c.Locale.T(tooManySpeakersText)})
	}
}
