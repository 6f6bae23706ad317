package emulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Emulator is what is emulated in the tabs of one browser connection. Offline, Headers, Credentials and Geolocation hold for
// the whole browser context of the tab they are called with, the others for that tab alone. It is safe for concurrent
// use. Make it with [New] and give it to page.Connect as an observer.
type Emulator struct {
	// RequestsIntercepted says that another observer has every request held (CDP domain Fetch) and lets it go on or not: State then answers
	// challenges only. It is set before the first connection.
	RequestsIntercepted bool

	log *slog.Logger

	mu       sync.Mutex
	contexts map[string]*contextSettings // by browser context
	tabs     map[*page.Tab]*tabSettings
	answered map[string]struct{} // authentication requests that were given the credentials once
}

// contextSettings is what holds for a browser context.
type contextSettings struct {
	offline     bool
	headers     map[string]string
	credentials *Credentials
	geolocation *Geolocation
	grants      map[string][]string // permissions by origin; "" is any
}

// tabSettings is what holds for a tab.
type tabSettings struct {
	scheme   string
	timezone string
	locale   string
	device   *Device
	agent    *userAgent // the device's
	size     *viewportSize
}

type viewportSize struct{ width, height int }

// New makes a State. logger receives what happens out of sight; nil discards it.
func New(logger *slog.Logger) *Emulator {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &Emulator{log: logger, contexts: map[string]*contextSettings{}, tabs: map[*page.Tab]*tabSettings{}, answered: map[string]struct{}{}}
}

// Attach implements page.Observer.
func (s *Emulator) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetClosed()
	reqs := s.contextSettingsOf(t.ContextID()).setUpRequests(f.Parent() == nil)
	reqs = append(reqs, s.tabSettingsOf(t).setUpRequests(f.Parent() == nil)...)
	if len(reqs) == 0 {
		return nil
	}
	// They are sent while the lock is held, so that a later change cannot be overtaken. The request returned is waited for,
	// and with it those before.
	f.Post(reqs...)
	return []proto.Request{proto.PageEnable{}}
}

// AttachWorker implements page.WorkerObserver. A worker takes the rest from its page.
func (s *Emulator) AttachWorker(t *page.Tab, worker *frame.Frame) []proto.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	reqs := s.contextSettingsOf(t.ContextID()).setUpRequests(false)
	for _, req := range reqs {
		worker.Post(req)
	}
	if len(reqs) == 0 {
		return nil
	}
	return []proto.Request{proto.NetworkEnable{}} // answered after those that were sent under the lock
}

// Event implements page.Observer.
func (s *Emulator) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Fetch.authRequired":
		s.handleChallenge(t, f, ev)
	case "Fetch.requestPaused":
		var p struct {
			RequestID proto.FetchRequestID `json:"requestId"`
		}
		if f != nil && !s.RequestsIntercepted && ev.Decode(&p) {
			f.Post(proto.FetchContinueRequest{RequestID: p.RequestID})
		}
	}
}

// contextSettingsOf returns the settings of a browser context. The caller holds s.mu.
func (s *Emulator) contextSettingsOf(id string) *contextSettings {
	w := s.contexts[id]
	if w == nil {
		w = &contextSettings{grants: map[string][]string{}}
		s.contexts[id] = w
	}
	return w
}

// tabSettingsOf returns the settings of a tab. The caller holds s.mu.
func (s *Emulator) tabSettingsOf(t *page.Tab) *tabSettings {
	o := s.tabs[t]
	if o == nil {
		o = &tabSettings{}
		s.tabs[t] = o
	}
	return o
}

// forgetClosed drops tabs that are gone. The caller holds s.mu.
func (s *Emulator) forgetClosed() {
	for t := range s.tabs {
		select {
		case <-t.Done():
			delete(s.tabs, t)
		default:
		}
	}
}

const (
	// tabChangeLimit bounds a change in the tab it was asked for.
	tabChangeLimit = 10 * time.Second
	// otherTabsLimit bounds the wait for other tabs of the context: one that is frozen must not hold up the rest. It has
	// been told, and obeys as soon as it can.
	otherTabsLimit = time.Second
)

// changeContext alters the settings of the tab's context and has all its tabs told.
func (s *Emulator) changeContext(ctx context.Context, t *page.Tab, what string, set func(*contextSettings), build func(main bool) []proto.Request) error {
	return s.sendChange(ctx, t, what, func(calls map[*page.Tab][]frameCall) {
		set(s.contextSettingsOf(t.ContextID()))
		for other := range s.tabs {
			if other.ContextID() == t.ContextID() {
				calls[other] = beginRequests(other, build)
			}
		}
	})
}

// changeTab alters the settings of one tab.
func (s *Emulator) changeTab(ctx context.Context, t *page.Tab, what string, set func(*tabSettings), build func(main bool) []proto.Request) error {
	return s.sendChange(ctx, t, what, func(calls map[*page.Tab][]frameCall) {
		set(s.tabSettingsOf(t))
		calls[t] = beginRequests(t, build)
	})
}

// frameCall is a request on its way to a frame.
type frameCall struct {
	*cdp.Call
	main bool
}

// beginRequests sends every frame of a tab its requests.
func beginRequests(t *page.Tab, build func(main bool) []proto.Request) []frameCall {
	var calls []frameCall
	for _, f := range t.ProcessRoots() {
		main := f.Parent() == nil
		for _, req := range build(main) {
			calls = append(calls, frameCall{f.BeginWithin(tabChangeLimit, req), main})
		}
	}
	return calls
}

// sendChange makes a change under the lock, so that changes reach the frames in the order in which they were made, and waits
// until the tab has taken it.
func (s *Emulator) sendChange(ctx context.Context, t *page.Tab, what string, send func(map[*page.Tab][]frameCall)) error {
	if err := t.Err(); err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	calls := map[*page.Tab][]frameCall{}
	s.mu.Lock()
	s.forgetClosed()
	s.tabSettingsOf(t)
	send(calls)
	s.mu.Unlock()

	err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error { return s.awaitTab(ctx, t, what, calls[t]) })
	delete(calls, t)
	s.awaitOthers(ctx, what, calls)
	if err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	return nil
}

// awaitTab waits for the answers of a tab. Only those of its main frame count: the others may go away meanwhile, or live in a
// process that was told already. A page that shows a dialog answers once that is closed.
func (s *Emulator) awaitTab(ctx context.Context, t *page.Tab, what string, calls []frameCall) error {
	var first error
	for _, c := range calls {
		if len(t.Dialogs().Pending) > 0 {
			c.Abandon()
			continue
		}
		err := c.Wait(ctx, nil)
		switch {
		case err == nil:
		case c.main && first == nil:
			first = err
		case !cdp.IsDocumentGone(err):
			s.log.Debug("frame not set up", "tab", t.ID(), "what", what, "error", err)
		}
	}
	return first
}

// awaitOthers gives the other tabs of a context a moment.
func (s *Emulator) awaitOthers(ctx context.Context, what string, calls map[*page.Tab][]frameCall) {
	ctx, cancel := context.WithTimeoutCause(ctx, otherTabsLimit, errors.New("it does not answer at present"))
	defer cancel()
	for t, list := range calls {
		if err := s.awaitTab(ctx, t, what, list); err != nil {
			s.log.Debug("tab told without an answer", "tab", t.ID(), "what", what, "error", err)
		}
	}
}
