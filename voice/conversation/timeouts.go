package conversation

import (
	"cmp"
	"time"
)

const (
	defaultFollowUpWindow = 20 * time.Second
	defaultAnswerWindow   = time.Minute
	defaultAloneTimeout   = 5 * time.Minute
	defaultProgressEvery  = 20 * time.Second
)

func (c *call) followUpWindow() time.Duration {
	return cmp.Or(max(0, c.Options.FollowUpWindow), defaultFollowUpWindow)
}

func (c *call) answerWindow() time.Duration {
	return cmp.Or(max(0, c.Options.AnswerWindow), defaultAnswerWindow)
}

func (c *call) progressEvery() time.Duration {
	return cmp.Or(max(0, c.Options.ProgressEvery), defaultProgressEvery)
}

// checkLimits leaves a call in which nobody is, or that has lasted long enough; both are said before.
func (c *call) checkLimits(now time.Time) {
	for _, w := range c.limits.Check(now, c.room.humans()) {
		c.write(Message{Text: w.Text})
		if w.Aloud && c.Player != nil {
			c.say(&speechItem{sentences: []string{w.Text}})
		}
		if w.End != nil {
			c.leave(w.End)
		}
	}
}
