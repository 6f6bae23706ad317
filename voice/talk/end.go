package talk

import "time"

const (
	defaultFollowUp = 20 * time.Second
	defaultAwaited  = time.Minute
	defaultAlone    = 5 * time.Minute
	defaultNews     = 20 * time.Second
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
	for _, w := range c.lasts.Look(now, c.room.humans()) {
		c.write(Message{Text: w.Text})
		if w.Aloud && c.Mouth != nil {
			c.say(&part{sentences: []string{w.Text}})
		}
		if w.End != nil {
			c.leave(w.End)
		}
	}
}
