package conversation

import (
	"time"

	"clank/voice"
)

// priorityEvery is how often it is looked at who is to be listened to first.
const priorityEvery = 200 * time.Millisecond

// updatePriority tells the spotter what claim p has to be listened to: they may have asked for something since, or it may be done.
func (c *call) updatePriority(p *person, now time.Time) {
	if now.Sub(p.prioritizedAt) < priorityEvery {
		return
	}
	p.prioritizedAt = now
	p.spotting.SetPriority(voice.SpotterPriority{Working: c.workScopes.HasWork(p.ID), LastAddressed: p.addressedAt})
	if c.Privacy != nil && !c.warned["crowd"] && p.spotting.Crowded() {
		c.warned["crowd"] = true
		c.write(Message{Text: tooManySpeakersText})
	}
}
