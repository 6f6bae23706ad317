package conversation

import (
	"time"

	"clank/cancel"
)

const (
	bargeInAfter = 400 * time.Millisecond // of speech: less is a "mhm"
	pauseGap     = 350 * time.Millisecond // without speech, after which the sound was only a short noise
	maxEchoes    = 3                      // sounds in a row that ended with our own: then it is our own
)

// handleSpeaking handles the speech of a person, which interrupts us: we pause immediately, and stop if they continue.
func (c *call) handleSpeaking(id string, voiced time.Duration, over bool) {
	p := c.participants.people[id]
	if p == nil || c.applyPrivacy(p) {
		return
	}
	if over {
		p.speaking = false
		return
	}
	p.early.Cancel(errSpeechResumed)
	p.early = nil
	now := time.Now()
	if !p.speaking {
		p.speaking, p.onset = true, now
	}
	p.lastLoud = now
	s := &c.speech
	if s.current == nil || s.current.acknowledgement || p.onset.Before(s.current.startedAt) || !c.mayBargeIn(p) {
		return
	}
	if s.pausedBy == nil {
		s.pausedBy = p
		c.Player.Pause(true)
	}
	if voiced >= bargeInAfter {
		c.interrupt(p)
	}
}

// mayBargeIn reports whether p's sound may interrupt us now. Somebody whose sound has ended again and again as soon as
// we were silent is our own echo, until they have said something.
func (c *call) mayBargeIn(p *person) bool {
	if p.Bot || p.optedOut || p.echoes >= maxEchoes {
		return false
	}
	switch c.Options.BargeIn {
	case NoBargeIn:
		return false
	case AskerBargesIn:
		return c.speech.current.to == p || c.participants.onlyHuman(p)
	default:
		return true
	}
}

// interrupt ends what is being said because p speaks.
func (c *call) interrupt(p *person) {
	s := &c.speech
	if s.current == nil || s.current.acknowledgement || s.current.interruptedBy != nil {
		return
	}
	s.current.interruptedBy = p
	c.silence(s.current, &cancel.Cause{Reason: cancel.Stopped, By: p.name(), Detail: "they began to speak"})
	c.native.handleInterrupted(s.current)
}

// resumeAfterNoise continues speaking when what we paused for was short.
func (c *call) resumeAfterNoise(now time.Time) {
	s := &c.speech
	p := s.pausedBy
	if p == nil || s.current == nil || s.current.interruptedBy != nil || now.Sub(p.lastLoud) < pauseGap {
		return
	}
	p.echoes++
	c.resume()
}

func (c *call) resume() {
	c.speech.pausedBy = nil
	if c.Player != nil {
		c.Player.Pause(false)
	}
}

// dropInterrupted drops what p has interrupted, as they want something else now.
func (c *call) dropInterrupted(p *person) {
	if s := c.speech.current; s != nil && s.interruptedBy == p {
		s.dropped = true
	}
	c.dropWhere(func(x *speechItem) bool { return x == c.speech.suspended && x.interruptedBy == p }, nil)
}

// allowResume records that what p said was not for us: what it interrupted may continue.
func (c *call) allowResume(p *person) {
	if s := c.speech.suspended; s != nil && s.interruptedBy == p {
		s.interruptedBy = nil
	}
}

// resumeInterrupted continues, once it is quiet, what was interrupted by speech that was not for us; after too long it
// is dropped.
func (c *call) resumeInterrupted(now time.Time) {
	s := &c.speech
	p := s.suspended
	if p == nil {
		return
	}
	switch {
	case now.After(s.suspendedUntil):
		s.suspended = nil
		c.addToHistory(p)
	case p.interruptedBy == nil && c.participants.quiet(now, 2*quietFor):
		s.suspended = nil
		c.schedule(p)
	}
}
