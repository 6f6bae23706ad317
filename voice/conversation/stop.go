package conversation

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"clank/cancel"
)

// sameStopWindow is how long after a stop another one that finds nothing to stop counts as the same: it was repeated,
// or said by two people at once.
const sameStopWindow = 2 * time.Second

// stop stops what p may stop, and reports whether the speech was a stop: if nothing runs that p may stop, it is talk
// like any other. A person who addressed us by name, or who is the only human here, may stop everything; others stop
// what they asked for. Everything has stopped when it returns.
func (c *call) stop(p *person, named bool) bool {
	if named && p.optedOut {
		return false
	}
	all := named || c.participants.onlyHuman(p)
	by := cancel.Actor{ID: p.ID, Name: p.name()}
	cause := &cancel.Cause{Reason: cancel.Stopped, By: p.name()}
	stopped := c.workScopes.Stop(by, all, func(person string) bool {
		owner := c.participants.people[person]
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
	c.log.Info("stopped by voice", "by", p.ID, "named", named, "alone", c.participants.onlyHuman(p),
		"stopped", stopped, "speech", said)
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

// isStop reports whether a text only says stop, with or without one of our names.
func (c *call) isStop(text string) bool { return cancel.IsStopTo(c.Options.Names, text) }

// waitHandle stops a request from outside while it waits for its turn, like one that runs: someone may write "stop".
type waitHandle struct {
	handle  *cancel.Handle
	stopped func() bool // it was stopped
}

func (c *call) newWaitHandle(ctx context.Context, r request) waitHandle {
	held, handle := c.beginWork(ctx, r)
	context.AfterFunc(held, handle.End)
	return waitHandle{handle, func() bool { return cancel.CauseOf(held, nil) != nil }}
}

// beginWork registers r as work that can be stopped.
func (c *call) beginWork(ctx context.Context, r request) (context.Context, *cancel.Handle) {
	return c.Scopes.Begin(ctx, c.workScopes.Current(),
		cancel.Work{ID: rand.Text(), Owner: r.by.ID, Label: taskLabel(r.text)})
}

// dropStopped drops what was stopped while it waited.
func (c *call) dropStopped() {
	c.waiting = slices.DeleteFunc(c.waiting, func(r request) bool { return r.wait.stopped() })
}

// maxScopes is how many channels a call that is moved about still answers for.
const maxScopes = 8

// WorkScopes are the channels of one call. Its methods must not be called concurrently.
type WorkScopes struct {
	work       *cancel.Scopes
	textScope  cancel.Scope   // may be empty
	callScopes []cancel.Scope // where the call's work runs; the first is its current channel
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

// Stop stops the work of the call that by may stop, or everything, and returns how many pieces of work it stopped. In
// the channel where the call was requested, everything means the work of people who are in the call.
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
