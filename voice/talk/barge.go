package talk

import (
	"math"
	"time"

	"clank/cancel"
	"clank/voice"
)

const (
	loudness  = 330                    // root mean square of 16-bit samples, from which a sound is speech: a hundredth of full scale
	pauseAt   = 40 * time.Millisecond  // of sound: less is a click
	bargeAt   = 400 * time.Millisecond // of sound: less is a "mhm"
	runGap    = 300 * time.Millisecond // of silence end a run of sound
	maxEchoes = 3                      // sounds in a row that ended with our own: then it is our own
)

// meter follows how long somebody has been making sound, and lets them interrupt us: at once we pause; if they go on, we give way.
func (c *call) meter(p *person, s voice.Sound) {
	if s.Rate <= 0 || rms(s.Samples) < loudness {
		return
	}
	now := time.Now()
	if now.Sub(p.lastLoud) > runGap {
		p.loud, p.onset = 0, now
	}
	p.loud += time.Duration(len(s.Samples)) * time.Second / time.Duration(s.Rate)
	p.lastLoud = now
	sp := &c.speech
	if sp.now == nil || sp.now.short || p.onset.Before(sp.now.since) || !c.mayBarge(p) {
		return
	}
	if sp.pausedBy == nil && p.loud >= pauseAt {
		sp.pausedBy, sp.pausedAt = p, now
		c.Mouth.Pause()
	}
	if p.loud >= bargeAt {
		c.interrupt(p)
	}
}

// mayBarge reports whether p's sound may interrupt us now. Somebody whose sound has ended again and again as soon as we were
// silent is our own echo, until they have said something.
func (c *call) mayBarge(p *person) bool {
	if p.Bot || p.out || p.echoes >= maxEchoes {
		return false
	}
	switch c.bargeIn() {
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
	c.Mouth.Silence(&cancel.Cause{Reason: cancel.Stopped, By: p.name(), Detail: "they began to speak"})
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
		c.Mouth.Resume()
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
		s.queue = append([]*part{p}, s.queue...)
	}
}

// rms is how loud samples are.
func rms(samples []int16) float64 {
	if len(samples) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

func (c *call) bargeIn() BargeIn { return c.Manners.BargeIn }
