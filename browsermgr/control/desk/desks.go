package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/tabname"
)

// Desks has a [Desk] for each profile. Its exported fields are set before its first use. It is for many goroutines.
type Desks struct {
	// Manager has the browsers. Required.
	Manager *browsermgr.Manager
	// Policy says which addresses pages may be at; nil allows http, https and about:blank.
	Policy Policy

	mu    sync.Mutex
	desks map[string]*Desk
}

func (s *Desks) desk(name string) *Desk {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.desks[name]
	if d == nil {
		if s.desks == nil {
			s.desks = map[string]*Desk{}
		}
		d = &Desk{Name: name, all: s}
		s.desks[name] = d
	}
	return d
}

// Browser returns the browser of a profile, "" being the default one. It is started only if launch; otherwise the error
// wraps [browsermgr.ErrNotRunning]. The caller releases it.
func (s *Desks) Browser(ctx context.Context, profile string, launch bool) (*Desk, *browsermgr.Use, error) {
	p, err := s.Manager.FindProfile(profile)
	if err != nil {
		return nil, nil, err
	}
	use, err := p.Use(ctx, launch)
	if err != nil {
		return nil, nil, err
	}
	d := s.desk(p.Name())
	d.sync(use.Browser)
	return d, use, nil
}

// reachDelay is how long a request waits for a browser that is just being started by another, or comes back.
const reachDelay = 250 * time.Millisecond

// running is Browser for requests that start none: it asks twice.
func (s *Desks) running(ctx context.Context, profile string) (*Desk, *browsermgr.Use, error) {
	d, use, err := s.Browser(ctx, profile, false)
	if !errors.Is(err, browsermgr.ErrNotRunning) {
		return d, use, err
	}
	timer := time.NewTimer(reachDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	return s.Browser(ctx, profile, false)
}

// Tab holds the tab with that name, or for "" the one used last, or a new one, and makes it the one used last. It starts
// the browser if need be. A tab in quarantine is an error. The caller releases it.
func (s *Desks) Tab(ctx context.Context, profile, name string) (*Held, error) {
	h, err := s.AnyTab(ctx, profile, name)
	if err != nil {
		return nil, err
	}
	if err := h.Quarantined(); err != nil {
		h.Release()
		return nil, err
	}
	h.Choose()
	return h, nil
}

// AnyTab is Tab for requests that a tab in quarantine is no obstacle for. It leaves which one was used last.
func (s *Desks) AnyTab(ctx context.Context, profile, name string) (*Held, error) {
	d, use, err := s.Browser(ctx, profile, true)
	if err != nil {
		return nil, err
	}
	h := &Held{Desk: d, Use: use}
	if err := h.find(ctx, name); err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// Existing holds the tab that pick finds in a browser that runs. The caller releases it.
func (s *Desks) Existing(ctx context.Context, profile string, pick Pick) (*Held, error) {
	d, use, err := s.running(ctx, profile)
	if err != nil {
		return nil, err
	}
	h := &Held{Desk: d, Use: use}
	names, err := pick(d)
	if err == nil {
		err = h.take(names)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// Pick finds a tab among those of a desk. Its error wraps [tabname.ErrNotFound] if there is none.
type Pick func(*Desk) (tabname.Tab, error)

// Named picks a tab by its name, or for "" the one used last.
func Named(name string) Pick {
	return func(d *Desk) (tabname.Tab, error) {
		if name != "" {
			return d.Book.Resolve(name)
		}
		if names, ok := d.Book.Default(); ok {
			return names, nil
		}
		return tabname.Tab{}, fmt.Errorf("%w: none is open", tabname.ErrNotFound)
	}
}
