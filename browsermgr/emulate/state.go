package emulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// State is what is emulated in the tabs of one browser connection. Offline, Headers, Credentials and Geolocation hold for
// the whole browser context of the tab they are called with, the others for that tab alone. It is safe for concurrent
// use. Make it with [New] and give it to page.Connect as an observer.
type State struct {
	// Held says that another observer has every request held (CDP domain Fetch) and lets it go on or not: State then answers
	// challenges only. It is set before the first connection.
	Held bool

	log *slog.Logger

	mu       sync.Mutex
	contexts map[string]*wide // by browser context
	tabs     map[*page.Tab]*own
	answered map[string]struct{} // authentication requests that were given the credentials once
}

// wide is what holds for a browser context.
type wide struct {
	offline     bool
	headers     map[string]string
	credentials *Credentials
	place       *Geolocation
	grants      map[string][]string // permissions by origin; "" is any
}

// own is what holds for a tab.
type own struct {
	scheme   string
	timezone string
	locale   string
	device   *Device
	agent    *agent // the device's
	size     *size
}

type size struct{ width, height int }

// New makes a State. logger receives what happens out of sight; nil discards it.
func New(logger *slog.Logger) *State {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &State{log: logger, contexts: map[string]*wide{}, tabs: map[*page.Tab]*own{}, answered: map[string]struct{}{}}
}

// Attach implements page.Observer.
func (s *State) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetClosed()
	reqs := s.context(t.ContextID()).requests(f.Parent() == nil)
	reqs = append(reqs, s.tab(t).requests(f.Parent() == nil)...)
	if len(reqs) == 0 {
		return nil
	}
	// They are sent while the lock is held, so that a later change cannot be overtaken. The request returned is waited for,
	// and with it those before.
	f.Post(reqs...)
	return []proto.Request{proto.PageEnable{}}
}

// Event implements page.Observer.
func (s *State) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Fetch.authRequired":
		s.authenticate(t, f, ev)
	case "Fetch.requestPaused":
		var p struct {
			RequestID proto.FetchRequestID `json:"requestId"`
		}
		if f != nil && !s.Held && ev.Decode(&p) {
			f.Post(proto.FetchContinueRequest{RequestID: p.RequestID})
		}
	}
}

// context is the settings of a browser context. The caller holds s.mu.
func (s *State) context(id string) *wide {
	w := s.contexts[id]
	if w == nil {
		w = &wide{grants: map[string][]string{}}
		s.contexts[id] = w
	}
	return w
}

// tab is the settings of a tab. The caller holds s.mu.
func (s *State) tab(t *page.Tab) *own {
	o := s.tabs[t]
	if o == nil {
		o = &own{}
		s.tabs[t] = o
	}
	return o
}

// forgetClosed drops tabs that are gone. The caller holds s.mu.
func (s *State) forgetClosed() {
	for t := range s.tabs {
		select {
		case <-t.Done():
			delete(s.tabs, t)
		default:
		}
	}
}

const (
	// changeLimit bounds a change in the tab it was asked for.
	changeLimit = 10 * time.Second
	// othersLimit bounds the wait for other tabs of the context: one that is frozen must not hold up the rest. It has
	// been told, and obeys as soon as it can.
	othersLimit = time.Second
)

// change alters the settings of the tab's context and has all its tabs told.
func (s *State) change(ctx context.Context, t *page.Tab, what string, set func(*wide), build func(main bool) []proto.Request) error {
	return s.tell(ctx, t, what, func(calls map[*page.Tab][]call) {
		set(s.context(t.ContextID()))
		for other := range s.tabs {
			if other.ContextID() == t.ContextID() {
				calls[other] = begin(other, build)
			}
		}
	})
}

// changeTab alters the settings of one tab.
func (s *State) changeTab(ctx context.Context, t *page.Tab, what string, set func(*own), build func(main bool) []proto.Request) error {
	return s.tell(ctx, t, what, func(calls map[*page.Tab][]call) {
		set(s.tab(t))
		calls[t] = begin(t, build)
	})
}

// call is a request on its way to a frame.
type call struct {
	*cdp.Call
	main bool
}

// begin sends every frame of a tab its requests.
func begin(t *page.Tab, build func(main bool) []proto.Request) []call {
	var calls []call
	for _, f := range t.Processes() {
		main := f.Parent() == nil
		for _, req := range build(main) {
			calls = append(calls, call{f.BeginWithin(changeLimit, req), main})
		}
	}
	return calls
}

// tell makes a change under the lock, so that changes reach the frames in the order in which they were made, and waits
// until the tab has taken it.
func (s *State) tell(ctx context.Context, t *page.Tab, what string, send func(map[*page.Tab][]call)) error {
	if err := t.Err(); err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	calls := map[*page.Tab][]call{}
	s.mu.Lock()
	s.forgetClosed()
	s.tab(t)
	send(calls)
	s.mu.Unlock()

	err := t.Within(ctx, changeLimit, func(ctx context.Context) error { return s.await(ctx, t, what, calls[t]) })
	delete(calls, t)
	s.awaitOthers(ctx, what, calls)
	if err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	return nil
}

// await waits for the answers of a tab. Only those of its main frame count: the others may go away meanwhile, or live in a
// process that was told already. A page that shows a dialog answers once that is closed.
func (s *State) await(ctx context.Context, t *page.Tab, what string, calls []call) error {
	var first error
	for _, c := range calls {
		if len(t.Dialogs().Pending) > 0 {
			c.Forget()
			continue
		}
		err := c.Wait(ctx, nil)
		switch {
		case err == nil:
		case c.main && first == nil:
			first = err
		case !cdp.DocumentGone(err):
			s.log.Debug("frame not set up", "tab", t.ID(), "what", what, "error", err)
		}
	}
	return first
}

// awaitOthers gives the other tabs of a context a moment.
func (s *State) awaitOthers(ctx context.Context, what string, calls map[*page.Tab][]call) {
	ctx, cancel := context.WithTimeoutCause(ctx, othersLimit, errors.New("it does not answer at present"))
	defer cancel()
	for t, list := range calls {
		if err := s.await(ctx, t, what, list); err != nil {
			s.log.Debug("tab told without an answer", "tab", t.ID(), "what", what, "error", err)
		}
	}
}
