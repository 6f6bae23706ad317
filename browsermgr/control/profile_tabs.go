package control

import (
	"sync"

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
