package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/tabname"
)

// desk is what the server remembers of one profile.
type desk struct {
	name string
	book tabname.Book

	mu    sync.Mutex
	conn  *page.Browser
	bad   map[string]error         // tabs in quarantine, by target: why
	seats map[string]chan struct{} // by target; holds a token while a request acts in the tab
}

func (s *Server) desk(name string) *desk {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.desks[name]
	if d == nil {
		d = &desk{name: name}
		s.desks[name] = d
	}
	return d
}

// sync takes over which tabs the browser has. It asks nobody.
func (d *desk) sync(b *page.Browser) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != b {
		d.conn, d.bad, d.seats = b, map[string]error{}, map[string]chan struct{}{}
		d.book.Reset()
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
	d.book.Sync(pages)
}

func (d *desk) quarantine(target string, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seat(target)
	d.bad[target] = why
}

func (d *desk) pardon(target string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.bad, target)
}

func (d *desk) quarantined(target string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bad[target]
}

// seat is the turn to act in a tab. The caller holds d.mu.
func (d *desk) seat(target string) chan struct{} {
	seat := d.seats[target]
	if seat == nil {
		seat = make(chan struct{}, 1)
		d.seats[target] = seat
	}
	return seat
}

// browser returns the browser of the request's profile. It is started only if launch. The caller releases it.
func (c *call) browser(ctx context.Context, launch bool) (*desk, *browsermgr.Use, error) {
	profile, err := c.server.Manager.FindProfile(c.profile())
	if err != nil {
		return nil, nil, err
	}
	use, err := profile.Use(ctx, launch)
	if err != nil {
		return nil, nil, err
	}
	d := c.server.desk(profile.Name())
	d.sync(use.Browser)
	return d, use, nil
}

// reachDelay is how long a request waits for a browser that is just being started by another, or comes back.
const reachDelay = 250 * time.Millisecond

// running is browser for requests that start none: it asks twice.
func (c *call) running(ctx context.Context) (*desk, *browsermgr.Use, error) {
	d, use, err := c.browser(ctx, false)
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
	return c.browser(ctx, false)
}

// held is a tab that a request works with.
type held struct {
	desk  *desk
	use   *browsermgr.Use
	tab   *page.Tab
	names tabname.Tab
}

func (h *held) release() { h.use.Release() }

// url is the tab's address as clients may see it.
func (h *held) url() string { return h.tab.URL() }

// tab returns the tab that a request names, or the one used last, or a new one. It starts the browser if need be. The
// caller releases it.
func (c *call) tab(ctx context.Context, name string) (*held, error) {
	h, err := c.anyTab(ctx, name)
	if err != nil {
		return nil, err
	}
	if why := h.desk.quarantined(h.tab.TargetID()); why != nil {
		h.release()
		return nil, quarantined(h.names.Name(), why)
	}
	h.desk.book.Choose(h.tab.TargetID())
	return h, nil
}

// anyTab is tab for requests that a tab in quarantine is no obstacle for.
func (c *call) anyTab(ctx context.Context, name string) (*held, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	d, use, err := c.browser(ctx, true)
	if err != nil {
		return nil, err
	}
	h := &held{desk: d, use: use}
	if err := h.find(ctx, name); err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// target is the tab that the request's targetId names.
func (c *call) target(ctx context.Context) (*held, error) {
	if c.route.method == http.MethodGet {
		return c.tab(ctx, c.query.String("targetId"))
	}
	return c.tab(ctx, c.body.String("targetId"))
}

func (h *held) find(ctx context.Context, name string) error {
	names, ok := h.desk.book.Default()
	if name != "" {
		var err error
		if names, err = h.desk.book.Resolve(name); err != nil {
			return err
		}
	} else if !ok {
		return h.open(ctx, "")
	}
	return h.take(names)
}

// take holds the tab with these names.
func (h *held) take(names tabname.Tab) error {
	if h.tab = h.use.Browser.Tab(names.Target); h.tab == nil {
		return fmt.Errorf("%w: %s has just been closed", tabname.ErrNotFound, names.ID)
	}
	h.names = names
	h.use.Touch(h.tab)
	return nil
}

// open opens a tab and holds it. If its page cannot be loaded it is held all the same.
func (h *held) open(ctx context.Context, url string) error {
	tab, err := h.use.NewTab(ctx, page.TabOptions{URL: url}, "")
	if tab == nil {
		return err
	}
	h.tab = tab
	h.refresh()
	return err
}

// refresh reads the names anew.
func (h *held) refresh() {
	h.desk.sync(h.use.Browser)
	if names, ok := h.desk.book.Find(h.tab.TargetID()); ok {
		h.names = names
	}
}

// close closes the tab, whose names nobody takes over.
func (h *held) close(ctx context.Context) error {
	if err := h.tab.Close(ctx); err != nil {
		return err
	}
	h.desk.book.Forget(h.tab.TargetID())
	return nil
}
