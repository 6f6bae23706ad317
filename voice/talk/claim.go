package talk

import (
	"slices"
	"time"

	"clank/cancel"
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
	p.ears.Prefer(voice.Claim{Works: c.works(p), Called: p.called})
	if c.Privacy != nil && !c.warned["crowd"] && p.ears.Crowded() {
		c.warned["crowd"] = true
		c.write(Message{Text: phrases.Crowded})
	}
}

// works reports whether something is done that p has asked for, here or in the channel from which the call was asked for.
func (c *call) works(p *person) bool {
	scopes := append(slices.Clone(c.scopes), cancel.Scope{Guild: c.Place.Guild, Channel: c.Place.Asked})
	return slices.ContainsFunc(scopes, func(s cancel.Scope) bool {
		return slices.ContainsFunc(c.Scopes.Active(s), func(w cancel.Work) bool { return w.Owner == p.ID })
	})
}
