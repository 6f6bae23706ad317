package talk

import (
	"time"

	"clank/cancel"
)

const (
	bargeAt   = 400 * time.Millisecond // of speech: less is a "mhm"
	runGap    = 350 * time.Millisecond // without speech, and it was no more than that
	maxEchoes = 3                      // sounds in a row that ended with our own: then it is our own
)

// speaks is told that somebody speaks. They interrupt us: at once we pause; if they go on, we give way.
func (c *call) speaks(id string, voiced time.Duration, over bool) {
	p := c.room.people[id]
	if p == nil || c.heed(p) {
		return
	}
	if over {
		p.speaking = false
		return
	}
	p.early.Drop(errGoesOn)
	p.early = nil
	now := time.Now()
	if !p.speaking {
		p.speaking, p.onset = true, now
	}
	p.lastLoud = now
	s := &c.speech
	if s.now == nil || s.now.short || p.onset.Before(s.now.since) || !c.mayBarge(p) {
		return
	}
	if s.pausedBy == nil {
		s.pausedBy = p
		c.Mouth.Pause(true)
	}
	if voiced >= bargeAt {
		c.interrupt(p)
	}
}

// mayBarge reports whether p's sound may interrupt us now. Somebody whose sound has ended again and again as soon as we were
// silent is our own echo, until they have said something.
func (c *call) mayBarge(p *person) bool {
	if p.Bot || p.out || p.echoes >= maxEchoes {
		return false
	}
	switch c.Manners.BargeIn {
	case NoBargeIn:
		return false
	case AskerBargesIn:
		return c.speech.now.to == p || c.room.alone(p)
	default:
		return true
	}
}

// interrupt ends what is being said, as p speaks.
func (c *call) interrupt(p *person) {
	s := &c.speech
	if s.now == nil || s.now.short || s.now.broken != nil {
		return
	}
	s.now.broken = p
	c.silence(s.now, &cancel.Cause{Reason: cancel.Stopped, By: p.name(), Detail: "they began to speak"})
	c.native.silenced(s.now)
}

// settleBarge goes on speaking when what we paused for was short.
func (c *call) settleBarge(now time.Time) {
	s := &c.speech
	p := s.pausedBy
	if p == nil || s.now == nil || s.now.broken != nil || now.Sub(p.lastLoud) < runGap {
		return
	}
	p.echoes++
	c.resume()
}

func (c *call) resume() {
	c.speech.pausedBy = nil
	if c.Mouth != nil {
		c.Mouth.Pause(false)
	}
}

// giveUp drops what p has interrupted, as they want something else now.
func (c *call) giveUp(p *person) {
	if s := c.speech.now; s != nil && s.broken == p {
		s.dropped = true
	}
	c.dropWhere(func(x *part) bool { return x == c.speech.suspended && x.broken == p }, nil)
}

// notOurs notes that what p said was not for us: what it interrupted may be taken up.
func (c *call) notOurs(p *person) {
	if s := c.speech.suspended; s != nil && s.broken == p {
		s.broken = nil
	}
}

// takeUp says what was interrupted by talk that is not for us, once it is quiet; what waits for too long is given up.
func (c *call) takeUp(now time.Time) {
	s := &c.speech
	p := s.suspended
	if p == nil {
		return
	}
	switch {
	case now.After(s.until):
		s.suspended = nil
		c.remember(p)
	case p.broken == nil && c.room.quiet(now, 2*quietFor):
		s.suspended = nil
		c.place(p)
	}
}
