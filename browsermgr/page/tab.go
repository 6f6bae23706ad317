package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Tab is a tab of the browser. It is safe for concurrent use and runs one action at a time; others wait until their
// context ends. Its identity survives navigation and crashes.
type Tab struct {
	browser     *Browser
	main        *frame.Frame
	tree        *FrameTree
	id          string
	targetID    string
	contextID   string
	opener      atomic.Pointer[Tab]
	actionToken chan struct{}     // holds a token while an action runs
	inputState  action.InputState // used by the running action
	ready       chan struct{}     // closed when the tab is set up
	setUpErr    error             // why set-up is incomplete; set before ready is closed
	done        chan struct{}
	hold        atomic.Pointer[Hold]                     // the takeover in progress; nil for none
	freed       atomic.Int64                             // when the last hold ended, in µs since 1970
	clean       atomic.Pointer[func(json []byte) []byte] // see CleanRecords

	mu            sync.Mutex
	url           string
	title         string
	err           error // why the tab cannot be used
	ended         bool
	focusEmulated bool // see emulateFocus
	frozen        bool // see Freeze
	lastUsed      time.Time
	loadState     LoadState
	dialogs       DialogLog[*frame.Frame]
	watchers      map[*tabWatcher]struct{}
	changed       chan struct{} // closed and replaced whenever a field below mu changes
	refs          frame.RefRegistry
	openedCount   int                  // tabs that this page has opened
	openedTabs    []*Tab               // the last of them
	rejected      *frame.RejectedField // by which the current action did not send a form
	openedTold    int                  // how many of them results have named
	dragStart     chan<- proto.InputDragData
	lastMasks     []*PrivacyMask // masks of the last screencast frames; nil for none
}

func newTab(b *Browser, main *frame.Frame, id string, info targetInfo) *Tab {
	return &Tab{
		browser: b, main: main, id: id, targetID: info.TargetID, contextID: info.BrowserContextID, url: info.URL,
		title:       info.Title,
		actionToken: make(chan struct{}, 1), ready: make(chan struct{}), done: make(chan struct{}),
		watchers: map[*tabWatcher]struct{}{}, changed: make(chan struct{}), loadState: NewLoadState(), lastUsed: time.Now(),
		tree: NewFrameTree(main, b.wg.Go),
	}
}

// ID returns a short id that is stable for the life of the connection: t1, t2, … Numbers are never reused.
func (t *Tab) ID() string { return t.id }

// TargetID returns the tab's CDP target id.
func (t *Tab) TargetID() string { return t.targetID }

// ContextID returns the browser context the tab belongs to.
func (t *Tab) ContextID() string { return t.contextID }

// Opener returns the tab whose page opened this one, or nil. If both have closed it is forgotten.
func (t *Tab) Opener() *Tab { return t.opener.Load() }

// URL returns the last address Chromium reported. It does not query the page.
func (t *Tab) URL() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.url
}

// Title returns the title as of the last action, snapshot or load. It does not query the page, so a later change by the
// page itself is not seen.
func (t *Tab) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.title
}

// Loaded reports whether the main document has loaded.
func (t *Tab) Loaded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loadState.Loaded
}

// Err returns nil while the tab can be used; otherwise the error wraps [ErrTabCrashed], [ErrTabGone] or
// [ErrBrowserGone].
func (t *Tab) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Done returns a channel that is closed when the tab is closed or the connection is lost.
func (t *Tab) Done() <-chan struct{} { return t.done }

// Activate brings the tab to the front of its window.
func (t *Tab) Activate(ctx context.Context) error {
	if err := t.Err(); err != nil {
		return err
	}
	err := t.browser.rootSession.Do(ctx, proto.TargetActivateTarget{TargetID: proto.TargetTargetID(t.targetID)})
	if err != nil {
		return fmt.Errorf("activate tab %s: %w", t.id, err)
	}
	return nil
}

// Close closes the tab and returns when it is closed. Dialogs, including beforeunload, do not keep it open.
func (t *Tab) Close(ctx context.Context) error {
	if errors.Is(t.Err(), ErrBrowserGone) {
		return t.Err()
	}
	defer t.beginUnload()()
	t.dismissDialogs()
	c := t.browser.rootSession.Begin(proto.TargetCloseTarget{TargetID: proto.TargetTargetID(t.targetID)})
	ctx, cancel := context.WithTimeoutCause(ctx, t.browser.conn.Timeout(), errors.New("it did not close in time"))
	defer cancel()
	select {
	case <-t.done:
		if err := t.Err(); errors.Is(err, ErrBrowserGone) {
			return err
		}
		return nil
	case <-ctx.Done():
		c.Abandon()
		return fmt.Errorf("close tab %s: %w", t.id, context.Cause(ctx))
	}
}

// Stop stops loading and terminates running scripts, even an endless loop. It does not wait for a running action.
func (t *Tab) Stop(ctx context.Context) error {
	if err := t.Err(); err != nil {
		return err
	}
	var calls []*cdp.Call
	for _, f := range t.tree.ProcessRoots() {
		f.Post(proto.RuntimeTerminateExecution{})
		// Without a running script, termination would hit the next one: run one to be terminated.
		calls = append(calls, f.Begin(proto.RuntimeEvaluate{Expression: "0"}))
	}
	calls = append(calls, t.main.Begin(proto.PageStopLoading{}))
	if t.pendingDialog() != nil {
		return nil // the page is blocked until the dialog is answered; loading has stopped
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.IsDocumentGone(err) {
			return fmt.Errorf("stop tab %s: %w", t.id, err)
		}
	}
	return nil
}

// setInfo stores what Chromium reports about the target and reports whether anything changed.
func (t *Tab) setInfo(info targetInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if IsErrorPage(t.url) {
		// Chromium reports the address that did not load, before or after the error page is shown.
		return false
	}
	if t.url == info.URL && t.title == info.Title {
		return false
	}
	t.url, t.title = info.URL, info.Title
	t.signalChange()
	return true
}

// requestTitle asks the browser, not the page, for the title, since there is no event when a title becomes known. It is
// called on the reading goroutine, which ends before the browser waits for its other goroutines. The caller holds t.mu.
func (t *Tab) requestTitle() {
	document := t.loadState.Documents
	t.loadState.TitleRequests++
	call := t.browser.rootSession.Begin(proto.TargetGetTargetInfo{TargetID: proto.TargetTargetID(t.targetID)})
	t.browser.wg.Go(func() {
		var res struct {
			TargetInfo targetInfo `json:"targetInfo"`
		}
		err := call.Wait(context.Background(), &res)
		changed := err == nil && t.setTitle(res.TargetInfo)
		t.mu.Lock()
		t.loadState.TitleRequests--
		t.loadState.TitleKnown = err == nil && t.loadState.Documents == document && t.title == res.TargetInfo.Title &&
			hasTitle(res.TargetInfo)
		t.signalChange()
		t.mu.Unlock()
		if changed {
			t.browser.publish(TabChanged, t)
		}
	})
}

// hasTitle reports whether the target has a title: for a page without one, Chromium reports its address.
func hasTitle(info targetInfo) bool {
	u, err := url.Parse(info.URL)
	return err == nil && u.Hostname() != "" && !strings.Contains(u.Hostname(), "xn--") &&
		!strings.Contains(info.Title, u.Hostname())
}

// handleReport handles a report of the present document: that it starts and will report its title, or its title.
func (t *Tab) handleReport(ev cdp.Event) {
	title, loaded, ok := t.main.TakeReport(ev)
	if !ok {
		return
	}
	if loaded {
		t.setTitleOf(t.documentCount(), title)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loadState.TitleReported = !loaded
	t.signalChange()
}

// awaitTitle waits until the title is known. By then a document that has just loaded has also been drawn. It gives up
// soon, since an older title will do.
func (t *Tab) awaitTitle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, loadGrace)
	defer cancel()
	l := &t.loadState
	if t.waitUntil(ctx, func() bool {
		return l.TitleKnown || l.TitleRequests == 0 && (!l.Loaded || !l.TitleReported)
	}) != nil {
		return
	}
	t.mu.Lock()
	document, known := t.loadState.Documents, t.loadState.TitleKnown
	t.mu.Unlock()
	if known {
		return
	}
	if title, err := frame.RunScript[string](ctx, t.main, frame.Script{Fn: "title"}); err == nil {
		t.setTitleOf(document, title)
	}
}

// setTitleOf stores the title of the numbered document if the tab still shows it.
func (t *Tab) setTitleOf(document int, title string) {
	t.mu.Lock()
	changed := t.loadState.Documents == document && t.title != title
	if changed {
		t.title = title
		t.signalChange()
	}
	t.mu.Unlock()
	if changed {
		t.browser.publish(TabChanged, t)
	}
}

// setTitle stores a title unless the tab has navigated meanwhile.
func (t *Tab) setTitle(info targetInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.url != info.URL || t.title == info.Title {
		return false
	}
	t.title = info.Title
	t.signalChange()
	return true
}

// locate resolves a ref or, if that is empty, a selector.
func (t *Tab) locate(ref, selector string) (frame.Element, error) {
	if ref == "" {
		return frame.Element{Frame: t.main, GivenRef: fmt.Sprintf("selector %q", selector)}, nil
	}
	return t.refs.Find(t.main, ref)
}

// maxOpenedTabs is the maximum number of tabs that a result names as opened by its action.
const maxOpenedTabs = 16

func (t *Tab) addOpened(other *Tab) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openedCount++
	t.openedTabs = append(t.openedTabs, other)
	if len(t.openedTabs) > maxOpenedTabs {
		t.openedTabs = slices.Delete(t.openedTabs, 0, 1)
	}
	t.signalChange()
}

// unlink lets a tab that closes and its opener forget each other if that has closed already, so that tabs which opened
// each other are not kept for as long as the last one is open.
func (t *Tab) unlink() {
	opener := t.Opener()
	if opener == nil || !errors.Is(opener.Err(), ErrTabGone) {
		return
	}
	t.opener.Store(nil)
	opener.mu.Lock()
	defer opener.mu.Unlock()
	opener.openedTabs = nil
}

// markClosed marks the tab as closed with the given reason, and ends what runs in it.
func (t *Tab) markClosed(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	t.err = reason
	close(t.done)
	t.cancelWatchers(reason, true)
	t.signalChange()
}

func (t *Tab) markCrashed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.err = ErrTabCrashed
	t.loadState.Crashed()
	t.dialogs.AllClosed(time.Now())
	t.main.ForgetDocument()
	t.cancelWatchers(ErrTabCrashed, true)
	t.signalChange()
}

// clearCrash forgets a crash before a navigation starts a new process.
func (t *Tab) clearCrash() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(t.err, ErrTabCrashed) {
		t.err = nil
	}
	return t.err
}
