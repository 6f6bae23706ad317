package conversation

import (
	"slices"

	"clank/cancel"
)

// maxScopes is how many channels a call that is moved about still answers for.
const maxScopes = 8

// WorkScopes is the channels of one call. Its methods must not be called at once.
type WorkScopes struct {
	work       *cancel.Scopes
	textScope  cancel.Scope   // may be empty
	callScopes []cancel.Scope // where what belongs to the call runs; the first is where it is
}

// NewWorkScopes returns the reach of a call in a channel of a guild, asked for from another.
func NewWorkScopes(work *cancel.Scopes, guild, channel, asked string) *WorkScopes {
	return &WorkScopes{work: work, textScope: cancel.Scope{Guild: guild, Channel: asked}, callScopes: []cancel.Scope{{Guild: guild, Channel: channel}}}
}

// Current returns where the call is.
func (r *WorkScopes) Current() cancel.Scope { return r.callScopes[0] }

// MoveTo notes that the call is in another channel.
func (r *WorkScopes) MoveTo(channel string) {
	here := cancel.Scope{Guild: r.callScopes[0].Guild, Channel: channel}
	others := slices.DeleteFunc(r.callScopes, func(s cancel.Scope) bool { return s == here })
	r.callScopes = append([]cancel.Scope{here}, others[:min(len(others), maxScopes-1)]...)
}

// HasWork reports whether something is done that a person has asked for.
func (r *WorkScopes) HasWork(person string) bool {
	return slices.ContainsFunc(append(slices.Clone(r.callScopes), r.textScope), func(s cancel.Scope) bool {
		return slices.ContainsFunc(r.work.Active(s), func(w cancel.Work) bool { return w.Owner == person })
	})
}

// Stop stops what runs for the call and by may stop, or everything, and returns how much that was. In the channel from which the call was
// asked for, everything is that of people who are in the call.
func (r *WorkScopes) Stop(by cancel.Actor, all bool, here func(person string) bool) (n int) {
	for _, scope := range r.callScopes {
		stopped, _ := r.work.Stop(scope, by, all)
		n += len(stopped)
	}
	if r.textScope.Channel == "" || r.textScope == r.callScopes[0] {
		return n
	}
	for _, w := range r.work.Active(r.textScope) {
		if w.Owner != by.ID && (!all || !here(w.Owner)) {
			continue
		}
		if _, stopped := r.work.StopWork(w.ID, by, true); stopped {
			n++
		}
	}
	return n
}
