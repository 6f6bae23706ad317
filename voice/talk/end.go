package talk

import (
	"time"

	"clank/voice/talk/phrases"
)

const (
	defaultFollowUp = 20 * time.Second
	defaultAwaited  = time.Minute
	defaultAlone    = 5 * time.Minute
	defaultNews     = 20 * time.Second

	warnAlone     = time.Minute
	warnLimit     = 2 * time.Minute
	warnLimitLast = 45 * time.Second
)

func or(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

func (c *call) followUp() time.Duration  { return or(c.Manners.FollowUp, defaultFollowUp) }
func (c *call) awaited() time.Duration   { return or(c.Manners.Awaited, defaultAwaited) }
func (c *call) newsEvery() time.Duration { return or(c.Manners.News, defaultNews) }

// watchEnd leaves a call in which nobody is, or that has lasted long enough; both are said before.
func (c *call) watchEnd(now time.Time) {
	c.watchLimit(now)
	if empty := c.room.humans() == 0; empty != c.room.empty {
		c.room.empty = empty
		c.room.since = now
		delete(c.warned, "alone")
	}
	if !c.room.empty {
		return
	}
	left := or(c.Manners.Alone, defaultAlone) - now.Sub(c.room.since)
	switch {
	case left <= 0:
		c.write(Message{Text: phrases.Lonely})
		c.leave(ErrNobody)
	case left <= warnAlone:
		c.warn("alone", phrases.LonelySoon, false)
	}
}

// watchLimit is watchEnd for the longest time a call may last.
func (c *call) watchLimit(now time.Time) {
	if c.Manners.Limit <= 0 {
		return
	}
	left := c.Manners.Limit - now.Sub(c.began)
	switch {
	case left <= 0:
		c.write(Message{Text: phrases.Over})
		c.leave(ErrTooLong)
	case left <= warnLimitLast:
		c.warn("last", phrases.OverNow, true)
	case left <= warnLimit && c.Manners.Limit > 2*warnLimit:
		c.warn("limit", phrases.OverSoon, true)
	}
}

// warn says once that the call will end.
func (c *call) warn(kind, text string, aloud bool) {
	if c.warned[kind] {
		return
	}
	c.warned[kind] = true
	c.write(Message{Text: text})
	if aloud && c.Mouth != nil {
		c.say(&part{sentences: []string{text}})
	}
}
