package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/profile"
)

// TabRegistry has a [profileTabs] for each profile. Its exported fields are set before its first use. It is for many goroutines.
type TabRegistry struct {
	// Manager has the browsers. Required.
	Manager *browsermgr.Manager
	// Policy says which addresses pages may be at; nil allows http, https and about:blank.
	Policy Policy

	mu       sync.Mutex
	profiles map[string]*profileTabs
}

func (s *TabRegistry) profileTabs(name string) *profileTabs {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.profiles[name]
	if d == nil {
		if s.profiles == nil {
			s.profiles = map[string]*profileTabs{}
		}
		d = &profileTabs{Name: name, registry: s}
		s.profiles[name] = d
	}
	return d
}

// Browser returns the browser of a profile, "" being the default one. It is started only if launch; otherwise the error
// wraps [browsermgr.ErrNotRunning]. The caller releases it.
func (s *TabRegistry) Browser(ctx context.Context, profile string, launch bool) (*profileTabs, *browsermgr.Lease, error) {
	p, err := s.Manager.FindProfile(profile)
	if err != nil {
		return nil, nil, err
	}
	use, err := p.Acquire(ctx, launch)
	if err != nil {
		return nil, nil, err
	}
	d := s.profileTabs(p.Name())
	d.sync(use.Browser)
	return d, use, nil
}

// reachDelay is how long a request waits for a browser that is just being started by another, or comes back.
const reachDelay = 250 * time.Millisecond

// waitRunning calls Browser for requests that do not start a browser. If none is running, it tries once more
// after a delay.
func (s *TabRegistry) waitRunning(ctx context.Context, profile string) (*profileTabs, *browsermgr.Lease, error) {
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
func (s *TabRegistry) Tab(ctx context.Context, profile, name string) (*heldTab, error) {
	h, err := s.AnyTab(ctx, profile, name)
	if err != nil {
		return nil, err
	}
	if err := h.QuarantineError(); err != nil {
		h.Release()
		return nil, err
	}
	h.MarkUsed()
	return h, nil
}

// AnyTab is like Tab but also returns a tab in quarantine. It does not change which tab was used last.
func (s *TabRegistry) AnyTab(ctx context.Context, profile, name string) (*heldTab, error) {
	d, use, err := s.Browser(ctx, profile, true)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	if err := h.find(ctx, name); err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// ExistingTab holds the tab that pick finds in a browser that runs. The caller releases it.
func (s *TabRegistry) ExistingTab(ctx context.Context, profile string, pick tabPicker) (*heldTab, error) {
	d, use, err := s.waitRunning(ctx, profile)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	names, err := pick(d)
	if err == nil {
		err = h.setTab(names)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// tabPicker finds a tab among those of a desk. Its error wraps [profile.ErrTabNotFound] if there is none.
type tabPicker func(*profileTabs) (profile.NamedTab, error)

// pickNamed picks a tab by its name, or for "" the one used last.
func pickNamed(name string) tabPicker {
	return func(d *profileTabs) (profile.NamedTab, error) {
		if name != "" {
			return d.TabNames.Resolve(name)
		}
		if names, ok := d.TabNames.Default(); ok {
			return names, nil
		}
		return profile.NamedTab{}, fmt.Errorf("%w: none is open", profile.ErrTabNotFound)
	}
}
