package talk

import (
	"time"

	"clank/voice"
	"clank/voice/talk/phrases"
)

// claimEvery is how often it is looked at who is to be listened to first.
const claimEvery = 200 * time.Millisecond

// claims tells the spotter what claim p has to be listened to: they may have asked for something since, or it may be done.
func (c *call) claims(p *person, now time.Time) {
	if now.Sub(p.claimed) < claimEvery {
		return
	}
	p.claimed = now
	p.ears.Prefer(voice.Claim{Works: c.reach.Works(p.ID), Called: p.called})
	if c.Privacy != nil && !c.warned["crowd"] && p.ears.Crowded() {
		c.warned["crowd"] = true
		c.write(Message{Text: phrases.Crowded})
	}
}
