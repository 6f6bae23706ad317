package control

import (
	"context"
	"fmt"
	"sync"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

// profileTabs is what is remembered of one profile.
type profileTabs struct {
	// Name is the profile's.
	Name string
	// TabNames has the names of its tabs.
	TabNames profile.TabNames

	registry   *TabRegistry
	mu         sync.Mutex
	conn       *page.Browser
	quarantine map[string]error         // tabs in quarantine, by target: why
	turns      map[string]chan struct{} // by target; holds a token while a request acts in the tab
}

// sync takes over which tabs the browser has. It asks nobody.
func (d *profileTabs) sync(b *page.Browser) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != b {
		d.conn, d.quarantine, d.turns = b, map[string]error{}, map[string]chan struct{}{}
		d.TabNames.Reset()
	}
	tabs := b.Tabs()
	pages := make([]profile.OpenTab, len(tabs))
	here := map[string]bool{}
	for i, t := range tabs {
		pages[i] = profile.OpenTab{Target: t.TargetID(), ID: t.ID(), URL: t.URL(), Title: t.Title(), Popup: t.Opener() != nil}
		here[t.TargetID()] = true
	}
	for target := range d.turns {
		if !here[target] {
			delete(d.turns, target)
			delete(d.quarantine, target)
		}
	}
	d.TabNames.Sync(pages)
}

func (d *profileTabs) setQuarantine(target string, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turnOf(target)
	d.quarantine[target] = why
}

func (d *profileTabs) clearQuarantine(target string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.quarantine, target)
}

func (d *profileTabs) quarantineError(target string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.quarantine[target]
}

// turnOf returns the turn to act in a tab. The caller holds d.mu.
func (d *profileTabs) turnOf(target string) chan struct{} {
	seat := d.turns[target]
	if seat == nil {
		seat = make(chan struct{}, 1)
		d.turns[target] = seat
	}
	return seat
}

// TabRegistry has a [profileTabs] for each profile. Its exported fields are set before its first use. It is for many
// goroutines.
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
