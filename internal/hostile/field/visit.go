package field

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"
)

// request is a command of the DevTools protocol.
type request struct {
	method string
	params map[string]any
}

// ProtoReq is the command's name.
func (r request) ProtoReq() string { return r.method }

// MarshalJSON is what goes with it.
func (r request) MarshalJSON() ([]byte, error) {
	if r.params == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(r.params)
}

// crowd opens the pages of cases in a browser, several at a time, and closes them and what they opened.
type crowd struct {
	conn *cdp.Conn
	root *cdp.Session
	open func(ctx context.Context) (id string, err error) // makes a tab

	mu     sync.Mutex
	opener map[string]string // tab → the one that opened it
}

// join connects to a browser's DevTools.
func join(ctx context.Context, b *browser) (*crowd, error) {
	conn, err := cdp.Dial(ctx, b.devtools, cdp.Options{Timeout: 10 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("join browser: %w", err)
	}
	c := &crowd{conn: conn, opener: map[string]string{}, root: conn.Session("", cdp.ErrGone)}
	if c.open = b.open; c.open == nil {
		c.open = c.create
	}
	conn.Start(c.see) // the connection lives until it is closed
	if err := c.root.Do(ctx, request{"Target.setDiscoverTargets", map[string]any{"discover": true}}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("join browser: %w", err)
	}
	return c, nil
}

func (c *crowd) see(ev cdp.Event) {
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

// seat is a tab that takes one case after the other. Starting a process for each page is what a range spends most on.
type seat struct {
	crowd *crowd
	id    string // of the tab; "" if there is none
	used  int    // cases that the tab had
	*cdp.Session
}

// maxUse is how many cases a tab takes before there is a new one.
const maxUse = 64

// sit makes the tab ready, a new one if need be.
func (s *seat) sit(ctx context.Context) error {
	s.used++
	if s.id != "" && s.used <= maxUse {
		return nil
	}
	s.leave(ctx)
	id, err := s.crowd.open(ctx)
	if err != nil {
		return fmt.Errorf("open tab: %w", err)
	}
	attached, err := cdp.Ask[struct {
		ID string `json:"sessionId"`
	}](ctx, s.crowd.root, request{"Target.attachToTarget", map[string]any{"targetId": id, "flatten": true}})
	if err != nil {
		return fmt.Errorf("open tab: %w", err)
	}
	s.id, s.used, s.Session = id, 1, s.crowd.conn.Session(attached.ID, cdp.ErrGone)
	return nil
}

// tidy closes what came out of the tab.
func (s *seat) tidy(ctx context.Context) {
	for _, id := range s.crowd.descendants(s.id) {
		_ = s.crowd.root.Do(ctx, request{"Target.closeTarget", map[string]any{"targetId": id}})
	}
}

// leave closes the tab, and what came out of it.
func (s *seat) leave(ctx context.Context) {
	if s.id == "" {
		return
	}
	s.tidy(ctx)
	_ = s.crowd.root.Do(ctx, request{"Target.closeTarget", map[string]any{"targetId": s.id}})
	s.id = ""
}

// create has the browser open an empty tab.
func (c *crowd) create(ctx context.Context) (string, error) {
	target, err := cdp.Ask[struct {
		ID string `json:"targetId"`
	}](ctx, c.root, request{"Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true, "width": 400, "height": 300}})
	return target.ID, err
}

func (c *crowd) descendants(id string) []string {
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

// Times of a visit.
const (
	unready  = 900 * time.Millisecond // how long a page may take to be ready once it is served; some never say so
	patience = 6 * time.Second        // how long a page and its hit are waited for at most
	grace    = 400 * time.Millisecond // how long a page that is ready is watched at least where none may come
)

// visit opens a case's page. It returns how long after that the first hit came, 0 if none did. longer is how long it may
// take until nothing is expected any more.
func (s *seat) visit(ctx context.Context, e *entry, hit <-chan struct{}, longer func(since time.Time) time.Duration) (time.Duration, error) {
	if err := s.sit(ctx); err != nil {
		return 0, err
	}
	defer s.tidy(context.WithoutCancel(ctx))
	address := e.Visit
	if address == "" {
		address = "@self@/"
	}
	began := time.Now()
	if !s.settle(ctx, s.BeginWithin(patience, request{"Page.navigate", map[string]any{"url": e.words.Replace(address)}}), e, hit) {
		s.Post(request{"Runtime.evaluate", map[string]any{"expression": "window.go&&go()", "userGesture": true}})
		if e.Ask != "" {
			s.Post(request{"Page.enable", nil}, request{e.Ask, nil})
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

// settle waits until a page is ready, as far as can be told. hit says that there is no more to wait for.
func (*seat) settle(ctx context.Context, navigation *cdp.Call, e *entry, hit <-chan struct{}) bool {
	answered := make(chan struct{})
	var wait sync.WaitGroup
	defer wait.Wait()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait.Go(func() {
		defer close(answered)
		_ = navigation.Wait(ctx, nil)
	})
	select {
	case <-hit:
		return true
	case <-e.ready:
		return false
	case <-answered:
	case <-e.served:
	}
	timer := time.NewTimer(unready)
	defer timer.Stop()
	select {
	case <-hit:
		return true
	case <-e.ready:
	case <-timer.C:
	}
	return false
}
