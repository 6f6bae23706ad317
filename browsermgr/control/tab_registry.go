package control

import (
	"context"
	"fmt"
	"sync"

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

// tabPicker finds a tab among those of a profile. Its error wraps [profile.ErrTabNotFound] if there is none.
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
