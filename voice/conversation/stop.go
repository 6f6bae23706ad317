package conversation

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"clank/cancel"
)

// sameStopWindow is how long after a stop another one that finds nothing to stop is the same stop, said twice or by two
// at once.
const sameStopWindow = 2 * time.Second

// stop stops what p may stop, and reports whether what they said was about that: it was not if nothing runs that is
// theirs to stop, and then it is talk like any other. Everything may be stopped by somebody who called us by name, and
// by the only human here; others stop what they asked for. It is done when stop returns.
func (c *call) stop(p *person, named bool) bool {
	if named && p.optedOut {
		return false
	}
	all := named || c.room.onlyHuman(p)
	by := cancel.Actor{ID: p.ID, Name: p.name()}
	cause := &cancel.Cause{Reason: cancel.Stopped, By: p.name()}
	stopped := c.workScopes.Stop(by, all, func(person string) bool {
		owner := c.room.people[person]
		return owner != nil && owner.present
	})
	theirs := func(x *speechItem) bool { return !x.acknowledgement && (all || x.to == p) }
	said := c.dropWhere(theirs, cause)
	kept := c.waiting[:0]
	for _, r := range c.waiting {
		if all || r.by == p {
			r.wait.handle.End()
			stopped++
			continue
		}
		kept = append(kept, r)
	}
	c.waiting = kept
	c.native.stop(p, all, cause)
	if all && c.Player != nil && c.Player.StopBackground() {
		said = true
	}
	now := time.Now()
	if stopped == 0 && !said {
		return now.Sub(c.lastStop) < sameStopWindow
	}
	c.log.Info("stopped by voice", "by", p.ID, "named", named, "alone", c.room.onlyHuman(p), "stopped", stopped, "speech",
		said)
	again := now.Sub(c.lastStop) < sameStopWindow
	c.lastStop = now
	if again {
		return true
	}
	if c.Player != nil {
		c.say(&speechItem{sentences: []string{c.VoiceLocale.T("Stopped.")}, acknowledgement: true})
	}
	if stopped > 0 {
		c.write(Message{Text: c.Locale.T("Stopped, as %s said.", escapeName(p.name()))})
	}
	return true
}

// isStop reports whether a text says stop and nothing else, to us by any of our names.
func (c *call) isStop(text string) bool { return cancel.IsStopTo(c.Options.Names, text) }

// waitHandle is how a request is stopped from outside while it waits for its turn, as what runs can be: somebody may
// write "stop".
type waitHandle struct {
	handle  *cancel.Handle
	stopped func() bool // it was stopped
}

func (c *call) newWaitHandle(ctx context.Context, r request) waitHandle {
	held, handle := c.beginWork(ctx, r)
	context.AfterFunc(held, handle.End)
	return waitHandle{handle, func() bool { return cancel.CauseOf(held, nil) != nil }}
}

// beginWork makes r work that can be stopped.
func (c *call) beginWork(ctx context.Context, r request) (context.Context, *cancel.Handle) {
	return c.Scopes.Begin(ctx, c.workScopes.Current(),
		cancel.Work{ID: rand.Text(), Owner: r.by.ID, Label: taskLabel(r.text)})
}

// dropStopped forgets what was stopped while it waited.
func (c *call) dropStopped() {
	c.waiting = slices.DeleteFunc(c.waiting, func(r request) bool { return r.wait.stopped() })
}

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
	return &WorkScopes{
		work: work, textScope: cancel.Scope{Guild: guild, Channel: asked},
		callScopes: []cancel.Scope{{Guild: guild, Channel: channel}},
	}
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

// Stop stops what runs for the call and by may stop, or everything, and returns how much that was. In the channel from
// which the call was asked for, everything is that of people who are in the call.
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
