package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"
)

// cdpRequest is a CDP command.
type cdpRequest struct {
	method string
	params map[string]any
}

// ProtoReq returns the command's name.
func (r cdpRequest) ProtoReq() string { return r.method }

// MarshalJSON returns the parameters of the command as JSON.
func (r cdpRequest) MarshalJSON() ([]byte, error) {
	if r.params == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(r.params)
}

// tabPool opens the pages of cases in a browser, several at a time, and closes them together with the pages they
// opened.
type tabPool struct {
	conn *cdp.Conn
	root *cdp.Session
	open func(ctx context.Context) (id string, err error) // opens a tab

	mu     sync.Mutex
	opener map[string]string // tab → its opener
}

// newTabPool connects to a browser's DevTools.
func newTabPool(ctx context.Context, b *testedBrowser) (*tabPool, error) {
	conn, err := cdp.Dial(ctx, b.devtools, cdp.Options{CallTimeout: 10 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("join browser: %w", err)
	}
	c := &tabPool{conn: conn, opener: map[string]string{}, root: conn.Session("", cdp.ErrGone)}
	if c.open = b.open; c.open == nil {
		c.open = c.create
	}
	conn.Start(c.handleEvent) // the connection lives until it is closed
	if err := c.root.Do(ctx, cdpRequest{"Target.setDiscoverTargets", map[string]any{"discover": true}}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("join browser: %w", err)
	}
	return c, nil
}

func (c *tabPool) handleEvent(ev cdp.Event) {
	var created struct {
		Info struct {
			ID     string `json:"targetId"`
			Opener string `json:"openerId"`
		} `json:"targetInfo"`
	}
	if ev.Method == "Target.targetCreated" && ev.Decode(&created) && created.Info.Opener != "" {
		c.mu.Lock()
		c.opener[created.Info.ID] = created.Info.Opener
		c.mu.Unlock()
	}
}

// pooledTab is a tab that runs one case after another, because starting a process for each page would take most of
// the time.
type pooledTab struct {
	crowd *tabPool
	id    string // of the tab; "" if there is none
	used  int    // number of cases in the tab
	*cdp.Session
}

// maxCasesPerTab is the number of cases after which a tab is replaced.
const maxCasesPerTab = 64

// prepareTab opens a new tab if necessary.
func (s *pooledTab) prepareTab(ctx context.Context) error {
	s.used++
	if s.id != "" && s.used <= maxCasesPerTab {
		return nil
	}
	s.closeTab(ctx)
	id, err := s.crowd.open(ctx)
	if err != nil {
		return fmt.Errorf("open tab: %w", err)
	}
	attached, err := cdp.Ask[struct {
		ID string `json:"sessionId"`
	}](ctx, s.crowd.root, cdpRequest{"Target.attachToTarget", map[string]any{"targetId": id, "flatten": true}})
	if err != nil {
		return fmt.Errorf("open tab: %w", err)
	}
	s.id, s.used, s.Session = id, 1, s.crowd.conn.Session(attached.ID, cdp.ErrGone)
	return nil
}

// closeDescendants closes the pages that the tab opened.
func (s *pooledTab) closeDescendants(ctx context.Context) {
	for _, id := range s.crowd.descendants(s.id) {
		_ = s.crowd.root.Do(ctx, cdpRequest{"Target.closeTarget", map[string]any{"targetId": id}})
	}
}

// closeTab closes the tab and the pages that it opened.
func (s *pooledTab) closeTab(ctx context.Context) {
	if s.id == "" {
		return
	}
	s.closeDescendants(ctx)
	_ = s.crowd.root.Do(ctx, cdpRequest{"Target.closeTarget", map[string]any{"targetId": s.id}})
	s.id = ""
}

// create opens an empty tab.
func (c *tabPool) create(ctx context.Context) (string, error) {
	target, err := cdp.Ask[struct {
		ID string `json:"targetId"`
	}](ctx, c.root, cdpRequest{"Target.createTarget", map[string]any{
		"url": "about:blank", "newWindow": true, "width": 400,
		"height": 300,
	}})
	return target.ID, err
}

func (c *tabPool) descendants(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	family := []string{id}
	for i := 0; i < len(family); i++ {
		for child, parent := range c.opener {
			if parent == family[i] {
				family = append(family, child)
				delete(c.opener, child)
			}
		}
	}
	return family[1:]
}

// Timing of a visit.
const (
	unreadyTimeout = 900 * time.Millisecond // for a page to become ready after it was served; some never do
	visitTimeout   = 12 * time.Second       // maximum wait for a page and its hit
	hitGrace       = 400 * time.Millisecond // minimum time to watch a ready page that must not cause a hit
)

// visit opens a case's page. It returns the time until the first hit, 0 if there was none. longer returns how long to
// wait for one.
func (s *pooledTab) visit(ctx context.Context, e *caseEntry, hit <-chan struct{},
	longer func(since time.Time) time.Duration,
) (time.Duration, error) {
	if err := s.prepareTab(ctx); err != nil {
		return 0, err
	}
	defer s.closeDescendants(context.WithoutCancel(ctx))
	address := e.Visit
	if address == "" {
		address = "@self@/"
	}
	began := time.Now()
	if !s.awaitReady(ctx, s.BeginWithin(visitTimeout,
		cdpRequest{"Page.navigate", map[string]any{"url": e.words.Replace(address)}}), e, hit) {
		s.Post(cdpRequest{"Runtime.evaluate", map[string]any{"expression": "window.go&&go()", "userGesture": true}})
		if e.Ask != "" {
			s.Post(cdpRequest{"Page.enable", nil}, cdpRequest{e.Ask, nil})
		}
	}
	timer := time.NewTimer(longer(began))
	defer timer.Stop()
	select {
	case <-hit:
		return max(time.Since(began), 1), nil
	case <-timer.C:
		return 0, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// awaitReady waits until a page is ready, as far as that can be known. A hit ends the wait.
func (*pooledTab) awaitReady(ctx context.Context, navigation *cdp.Call, e *caseEntry, hit <-chan struct{}) bool {
	ready, patience := e.ready, unreadyTimeout
	if e.Beside {
		ready, patience = e.ran, visitTimeout
	}
	answered := make(chan struct{})
	var wait sync.WaitGroup
	defer wait.Wait()
	ctx, cancel := context.WithTimeout(ctx, visitTimeout)
	defer cancel()
	wait.Go(func() {
		defer close(answered)
		_ = navigation.Wait(ctx, nil)
	})
	select {
	case <-hit:
		return true
	case <-ready:
		return false
	case <-answered:
	case <-e.served:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-hit:
		return true
	case <-ready:
	case <-timer.C:
	}
	return false
}
