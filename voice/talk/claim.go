package talk

import (
	"slices"
	"time"

	"clank/cancel"
	"clank/voice"
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
		c.write(Message{Text: "So many people speak that I cannot listen to all of them for “stop”, my name and “clank privacy”. Those for whom I do something come " +
			"first, then those who spoke to me last. Everybody else: write “stop” here, or use `/clank privacy`."})
	}
}

// works reports whether something is done that p has asked for, here or in the channel from which the call was asked for.
func (c *call) works(p *person) bool {
	scopes := append(slices.Clone(c.scopes), cancel.Scope{Guild: c.Place.Guild, Channel: c.Place.Asked})
	return slices.ContainsFunc(scopes, func(s cancel.Scope) bool {
		return slices.ContainsFunc(c.Scopes.Active(s), func(w cancel.Work) bool { return w.Owner == p.ID })
	})
}
