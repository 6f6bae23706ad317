package conversation

import "time"

const (
	followUpWindow      = 20 * time.Second // after an answer, for the same person to go on without our name
	answerWindow        = time.Minute      // the same if we have asked something
	defaultAloneTimeout = 5 * time.Minute
	progressEvery       = 20 * time.Second // between two words about a browse that takes long
)

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
