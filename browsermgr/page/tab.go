package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/act"
	"clank/browsermgr/cdp"
	"clank/browsermgr/cover"
	"clank/browsermgr/dialog"
	"clank/browsermgr/frame"
	"clank/browsermgr/frametree"
	"clank/browsermgr/load"

	"github.com/go-rod/rod/lib/proto"
)

// Tab is one page of the browser. It is safe for concurrent use and does one action at a time: others wait their turn for
// as long as their context allows. Its identity survives navigation and crashes.
type Tab struct {
	browser   *Browser
	main      *frame.Frame
	tree      *frametree.Tree
	id        string
	target    string
	contextID string
	opener    *Tab
	turn      chan struct{} // holds a token while an action runs
	hands     act.Hands     // of whose turn it is
	ready     chan struct{} // closed when the tab is set up
	done      chan struct{}

	mu       sync.Mutex
	url      string
	title    string
	err      error // why the tab cannot be used, if so
	ended    bool
	awake    bool // see keepAwake
	load     load.State
	dialogs  dialog.Book[*frame.Frame]
	watchers map[*watcher]struct{}
	changed  chan struct{} // closed and replaced whenever anything here changes
	refs     frame.Registry
	opened   []*Tab // tabs this page opened, since the beginning
	drag     chan<- proto.InputDragData
	veiled   *cover.Veil // what the last frame of a live view did not show; nil for nothing
}

func newTab(b *Browser, main *frame.Frame, id string, info targetInfo) *Tab {
	return &Tab{
		browser: b, main: main, id: id, target: info.TargetID, contextID: info.BrowserContextID, url: info.URL, title: info.Title,
		turn: make(chan struct{}, 1), ready: make(chan struct{}), done: make(chan struct{}),
		watchers: map[*watcher]struct{}{}, changed: make(chan struct{}), load: load.New(),
		tree: frametree.New(main, b.wg.Go),
	}
}

// ID is short and stable for the life of the connection: t1, t2, … Numbers are never reused.
func (t *Tab) ID() string { return t.id }

// TargetID is Chromium's own id of the tab.
func (t *Tab) TargetID() string { return t.target }

// ContextID is the browser context the tab belongs to.
func (t *Tab) ContextID() string { return t.contextID }

// Opener is the tab whose page opened this one, or nil.
func (t *Tab) Opener() *Tab { return t.opener }

// URL is the last address Chromium reported. The page is not asked.
func (t *Tab) URL() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.url
}

// Title is the title as of the last action, snapshot or load. The page is not asked: a change that it makes later, by
// itself, is not seen.
func (t *Tab) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.title
}

// Err is nil while the tab can be used; otherwise it wraps [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone].
func (t *Tab) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Done is closed when the tab is closed or the connection is lost.
func (t *Tab) Done() <-chan struct{} { return t.done }

// Activate brings the tab to the front of its window.
func (t *Tab) Activate(ctx context.Context) error {
	if err := t.Err(); err != nil {
		return err
	}
	err := t.browser.root.Do(ctx, proto.TargetActivateTarget{TargetID: proto.TargetTargetID(t.target)})
	if err != nil {
		return fmt.Errorf("activate tab %s: %w", t.id, err)
	}
	return nil
}

// Close closes the tab and returns when it is gone. Dialogs, beforeunload included, do not keep it open.
func (t *Tab) Close(ctx context.Context) error {
	if errors.Is(t.Err(), ErrBrowserGone) {
		return t.Err()
	}
	defer t.leave()()
	t.dismissAll()
	c := t.browser.root.Begin(proto.TargetCloseTarget{TargetID: proto.TargetTargetID(t.target)})
	ctx, cancel := context.WithTimeoutCause(ctx, t.browser.conn.Timeout(), errors.New("it did not close in time"))
	defer cancel()
	select {
	case <-t.done:
		if err := t.Err(); errors.Is(err, ErrBrowserGone) {
			return err
		}
		return nil
	case <-ctx.Done():
		c.Forget()
		return fmt.Errorf("close tab %s: %w", t.id, context.Cause(ctx))
	}
}

// Stop stops loading and ends running scripts, also an endless loop. It does not wait for a running action.
func (t *Tab) Stop(ctx context.Context) error {
	if err := t.Err(); err != nil {
		return err
	}
	var calls []*cdp.Call
	for _, f := range t.tree.Processes() {
		f.Post(proto.RuntimeTerminateExecution{})
		// Without a running script the request to stop would wait for the next one: give it one of ours to stop.
		calls = append(calls, f.Begin(proto.RuntimeEvaluate{Expression: "0"}))
	}
	calls = append(calls, t.main.Begin(proto.PageStopLoading{}))
	if t.pendingDialog() != nil {
		return nil // the page stands still until the dialog is answered; loading has been stopped
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.DocumentGone(err) {
			return fmt.Errorf("stop tab %s: %w", t.id, err)
		}
	}
	return nil
}

// setInfo takes over what Chromium says of the target and reports whether anything changed.
func (t *Tab) setInfo(info targetInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.url == info.URL && t.title == info.Title {
		return false
	}
	t.url, t.title = info.URL, info.Title
	t.signal()
	return true
}

// askTitle asks the browser, not the page, for the title: it does not tell when a title becomes known. It is called on the
// reading goroutine, which ends before the browser's others are waited for. The caller holds t.mu.
func (t *Tab) askTitle() {
	document := t.load.Documents
	t.load.Asked++
	call := t.browser.root.Begin(proto.TargetGetTargetInfo{TargetID: proto.TargetTargetID(t.target)})
	t.browser.wg.Go(func() {
		var res struct {
			TargetInfo targetInfo `json:"targetInfo"`
		}
		err := call.Wait(context.Background(), &res)
		changed := err == nil && t.setTitle(res.TargetInfo)
		t.mu.Lock()
		t.load.Asked--
		t.load.Titled = err == nil && t.load.Documents == document && t.title == res.TargetInfo.Title && titled(res.TargetInfo)
		t.signal()
		t.mu.Unlock()
		if changed {
			t.browser.publish(TabChanged, t)
		}
	})
}

// titled says that what the browser shows as the title is one: for a page without, that is its address.
func titled(info targetInfo) bool {
	u, err := url.Parse(info.URL)
	return err == nil && u.Hostname() != "" && !strings.Contains(u.Hostname(), "xn--") && !strings.Contains(info.Title, u.Hostname())
}

// greet has a new document make ready for whoever works here and is about to look at it, and tell its title as soon as it has
// loaded: what the browser is asked then has to wait until it has drawn its window. The caller holds t.mu.
func (t *Tab) greet() {
	document := t.load.Documents
	t.load.Greeted = true
	t.browser.wg.Go(func() {
		title, err := t.main.Loaded(context.Background())
		if err == nil {
			t.noteTitle(document, title)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.load.Documents == document {
			t.load.Titled, t.load.Greeted = err == nil, false
			t.signal()
		}
	})
}

// readTitle sees to it that the title is known. A document that has loaded is about to tell it, or the browser has been asked; one
// that goes on loading or may have none is asked itself, but not for long: what is known of it then will do.
func (t *Tab) readTitle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, loadGrace)
	defer cancel()
	l := &t.load
	if t.until(ctx, func() bool { return l.Titled || l.Asked == 0 && (!l.Loaded || !l.Greeted) }) != nil {
		return
	}
	t.mu.Lock()
	document, known := t.load.Documents, t.load.Titled
	t.mu.Unlock()
	if known {
		return
	}
	if title, err := frame.Run[string](ctx, t.main, frame.Script{Fn: "title"}); err == nil {
		t.noteTitle(document, title)
	}
}

// noteTitle takes over the title of the numbered document, if the tab still shows it.
func (t *Tab) noteTitle(document int, title string) {
	t.mu.Lock()
	changed := t.load.Documents == document && t.title != title
	if changed {
		t.title = title
		t.signal()
	}
	t.mu.Unlock()
	if changed {
		t.browser.publish(TabChanged, t)
	}
}

// setTitle takes over a title, unless the tab has moved on meanwhile.
func (t *Tab) setTitle(info targetInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.url != info.URL || t.title == info.Title {
		return false
	}
	t.title = info.Title
	t.signal()
	return true
}

// locate resolves a ref or, if that is empty, a selector.
func (t *Tab) locate(ref, selector string) (frame.Element, error) {
	if ref == "" {
		return frame.Element{Frame: t.main, Given: fmt.Sprintf("selector %q", selector)}, nil
	}
	return t.refs.Find(t.main, ref)
}

func (t *Tab) noteOpened(other *Tab) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened = append(t.opened, other)
	t.signal()
}

// end marks the tab as closed, for the reason given, and ends what runs in it.
func (t *Tab) end(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	t.err = reason
	close(t.done)
	t.interrupt(reason, true)
	t.signal()
}

func (t *Tab) crash() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.err = ErrTabCrashed
	t.load.Crashed()
	t.dialogs.CloseAll(time.Now())
	t.main.Leave()
	t.interrupt(ErrTabCrashed, true)
	t.signal()
}

// revive forgets a crash before a navigation starts a new process.
func (t *Tab) revive() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(t.err, ErrTabCrashed) {
		t.err = nil
	}
	return t.err
}
