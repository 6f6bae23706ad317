package desk

import (
	"sync"

	"clank/browsermgr/page"
	"clank/browsermgr/tabname"
)

// Desk is what is remembered of one profile.
type Desk struct {
	// Name is the profile's.
	Name string
	// Book has the names of its tabs.
	Book tabname.Book

	all   *Desks
	mu    sync.Mutex
	conn  *page.Browser
	bad   map[string]error         // tabs in quarantine, by target: why
	seats map[string]chan struct{} // by target; holds a token while a request acts in the tab
}

// sync takes over which tabs the browser has. It asks nobody.
func (d *Desk) sync(b *page.Browser) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != b {
		d.conn, d.bad, d.seats = b, map[string]error{}, map[string]chan struct{}{}
		d.Book.Reset()
	}
	tabs := b.Tabs()
	pages := make([]tabname.Page, len(tabs))
	here := map[string]bool{}
	for i, t := range tabs {
		pages[i] = tabname.Page{Target: t.TargetID(), ID: t.ID(), URL: t.URL(), Title: t.Title(), Popup: t.Opener() != nil}
		here[t.TargetID()] = true
	}
	for target := range d.seats {
		if !here[target] {
			delete(d.seats, target)
			delete(d.bad, target)
		}
	}
	d.Book.Sync(pages)
}

func (d *Desk) quarantine(target string, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seat(target)
	d.bad[target] = why
}

func (d *Desk) pardon(target string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.bad, target)
}

func (d *Desk) quarantined(target string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bad[target]
}

// seat is the turn to act in a tab. The caller holds d.mu.
func (d *Desk) seat(target string) chan struct{} {
	seat := d.seats[target]
	if seat == nil {
		seat = make(chan struct{}, 1)
		d.seats[target] = seat
	}
	return seat
}
