package cancel

import (
	"context"
	"slices"
	"sort"
	"sync"
)

// Scope is where work is visible and can be stopped: a channel of a guild. A direct message has no guild; a terminal
// or the dashboard has a made-up channel ("cli:…", "dashboard").
type Scope struct {
	Guild, Channel string
}

// Work describes running work.
type Work struct {
	ID    string // unique while it runs
	Owner string // id of the person who asked for it
	Label string // short description
}

// Actor is a person who wants to stop work.
type Actor struct {
	ID        string // as in [Work.Owner]
	Name      string // display name: "@ada"
	Moderator bool   // may manage other people's messages in the scope
}

// MayStop reports whether a may stop w: its owner and moderators may, and everybody if anyone is set.
func (a Actor) MayStop(w Work, anyone bool) bool {
	return anyone || a.Moderator || (a.ID != "" && a.ID == w.Owner)
}

// Scopes holds all running work. The zero value is ready to use; its methods
// are safe for concurrent use.
type Scopes struct {
	mu      sync.Mutex
	seq     uint64
	handles map[*Handle]struct{}
	closed  *Cause // set by StopAll: later work is cancelled when it begins
}

// Handle is one piece of work in a [Scopes]. Work is identified by its Handle, not by its id, so ending one never
// ends another with the same id.
type Handle struct {
	scopes *Scopes
	scope  Scope
	work   Work
	seq    uint64
	cancel context.CancelCauseFunc
}

// Begin adds work to scope and returns a context that ends when the work is stopped. The caller must call
// [Handle.End] when the work is over.
func (s *Scopes) Begin(ctx context.Context, scope Scope, w Work) (context.Context, *Handle) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &Handle{scopes: s, scope: scope, work: w, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		cancel(s.closed)
		return ctx, h
	}
	if s.handles == nil {
		s.handles = make(map[*Handle]struct{})
	}
	s.seq++
	h.seq = s.seq
	s.handles[h] = struct{}{}
	return ctx, h
}

// SetLabel changes the label of the work.
func (h *Handle) SetLabel(label string) {
	h.scopes.mu.Lock()
	defer h.scopes.mu.Unlock()
	h.work.Label = label
}

// End removes the work from its scope and releases its context. It may be called more than once.
func (h *Handle) End() {
	h.scopes.mu.Lock()
	delete(h.scopes.handles, h)
	h.scopes.mu.Unlock()
	h.cancel(context.Canceled)
}

// Stop cancels this work with cause c, without a check of rights.
func (h *Handle) Stop(c *Cause) { h.cancel(c) }

// Scopes returns the scopes that have work.
func (s *Scopes) Scopes() (list []Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.handles {
		if !slices.Contains(list, h.scope) {
			list = append(list, h.scope)
		}
	}
	return list
}

// Active returns the work in scope, oldest first.
func (s *Scopes) Active(scope Scope) []Work {
	s.mu.Lock()
	defer s.mu.Unlock()
	return listWork(s.inScope(scope))
}

// Stop cancels the work in scope that by may stop. It returns what it stopped and what by may not stop, each oldest
// first. Work is cancelled before Stop returns; work that has already ended is not reported.
func (s *Scopes) Stop(scope Scope, by Actor, anyone bool) (stopped, refused []Work) {
	cause := &Cause{Reason: Stopped, By: by.Name}
	s.mu.Lock() // held until all is cancelled, so that none ends in between
	defer s.mu.Unlock()
	for _, h := range s.inScope(scope) {
		if !by.MayStop(h.work, anyone) {
			refused = append(refused, h.work)
			continue
		}
		h.cancel(cause)
		stopped = append(stopped, h.work)
	}
	return stopped, refused
}

// StopWork is like Stop for the one piece of work with the given id, in any scope. found is false if there is none.
func (s *Scopes) StopWork(id string, by Actor, anyone bool) (found, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var h *Handle
	for c := range s.handles {
		if c.work.ID == id {
			h = c
		}
	}
	if h == nil {
		return false, false
	}
	if !by.MayStop(h.work, anyone) {
		return true, false
	}
	h.cancel(&Cause{Reason: Stopped, By: by.Name})
	return true, true
}

// StopGuild cancels all work in a guild with cause c.
func (s *Scopes) StopGuild(guild string, c *Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.handles {
		if h.scope.Guild == guild {
			h.cancel(c)
		}
	}
}

// StopAll cancels all work, including work that begins later, with cause c.
func (s *Scopes) StopAll(c *Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = c
	for h := range s.handles {
		h.cancel(c)
	}
}

// inScope returns the handles of scope, oldest first. The lock is held.
func (s *Scopes) inScope(scope Scope) []*Handle {
	var hs []*Handle
	for h := range s.handles {
		if h.scope == scope {
			hs = append(hs, h)
		}
	}
	sort.Slice(hs, func(i, j int) bool { return hs[i].seq < hs[j].seq })
	return hs
}

func listWork(hs []*Handle) []Work {
	ws := make([]Work, len(hs))
	for i, h := range hs {
		ws[i] = h.work
	}
	return ws
}
