// Package reach is for which channels a call answers: that of the call, those where it was before somebody moved it, and the text channel
// from which it was asked for. What runs there can be stopped in the call.
package reach

import (
	"slices"

	"clank/cancel"
)

// maxScopes is how many channels a call that is moved about still answers for.
const maxScopes = 8

// Reach is the channels of one call. Its methods must not be called at once.
type Reach struct {
	work  *cancel.Scopes
	asked cancel.Scope   // may be empty
	at    []cancel.Scope // where what belongs to the call runs; the first is where it is
}

// New is the reach of a call in a channel of a guild, asked for from another.
func New(work *cancel.Scopes, guild, channel, asked string) *Reach {
	return &Reach{work: work, asked: cancel.Scope{Guild: guild, Channel: asked}, at: []cancel.Scope{{Guild: guild, Channel: channel}}}
}

// Here is where the call is.
func (r *Reach) Here() cancel.Scope { return r.at[0] }

// Move notes that the call is in another channel.
func (r *Reach) Move(channel string) {
	here := cancel.Scope{Guild: r.at[0].Guild, Channel: channel}
	others := slices.DeleteFunc(r.at, func(s cancel.Scope) bool { return s == here })
	r.at = append([]cancel.Scope{here}, others[:min(len(others), maxScopes-1)]...)
}

// Works reports whether something is done that a person has asked for.
func (r *Reach) Works(person string) bool {
	return slices.ContainsFunc(append(slices.Clone(r.at), r.asked), func(s cancel.Scope) bool {
		return slices.ContainsFunc(r.work.Active(s), func(w cancel.Work) bool { return w.Owner == person })
	})
}

// Stop stops what runs for the call and by may stop, or everything, and returns how much that was. In the channel from which the call was
// asked for, everything is that of people who are in the call.
func (r *Reach) Stop(by cancel.Actor, all bool, here func(person string) bool) (n int) {
	for _, scope := range r.at {
		stopped, _ := r.work.Stop(scope, by, all)
		n += len(stopped)
	}
	if r.asked.Channel == "" || r.asked == r.at[0] {
		return n
	}
	for _, w := range r.work.Active(r.asked) {
		if w.Owner != by.ID && (!all || !here(w.Owner)) {
			continue
		}
		if _, stopped := r.work.StopWork(w.ID, by, true); stopped {
			n++
		}
	}
	return n
}
