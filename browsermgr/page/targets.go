package page

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// attachment is what a CDP session is attached to.
type attachment struct {
	frame  *frame.Frame
	tab    *Tab
	worker bool // frame stands for a dedicated worker and is not in the tab's tree
	fresh  bool // the frame has been paused and has not shown a document since
}

// targetInfo is the part of CDP's Target.TargetInfo that we use. parentFrameId is newer than rod's protocol types.
type targetInfo struct {
	TargetID         string `json:"targetId"`
	Type             string `json:"type"`
	Subtype          string `json:"subtype"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	OpenerID         string `json:"openerId"`
	CanAccessOpener  bool   `json:"canAccessOpener"`
	ParentFrameID    string `json:"parentFrameId"`
	BrowserContextID string `json:"browserContextId"`
}

// hasNoProcess reports that the target's page has no process until it runs, because a link opened it without access to
// its opener. Chromium keeps commands sent to it until then.
func (i targetInfo) hasNoProcess() bool { return i.OpenerID != "" && !i.CanAccessOpener }

// handleEvent handles one event. It runs on the connection's reading goroutine and never waits for Chromium.
func (b *Browser) handleEvent(ev cdp.Event) {
	switch ev.Method {
	case "Target.attachedToTarget":
		b.handleAttached(ev)
	case "Target.detachedFromTarget":
		var p struct {
			SessionID string `json:"sessionId"`
		}
		if ev.Decode(&p) {
			b.handleDetached(p.SessionID)
		}
	case "Target.targetInfoChanged", "Target.targetCreated":
		var p struct {
			TargetInfo targetInfo `json:"targetInfo"`
		}
		if ev.Decode(&p) {
			b.handleInfoChanged(p.TargetInfo)
		}
	case "Target.targetCrashed":
		var p proto.TargetTargetCrashed
		if ev.Decode(&p) {
			b.handleCrashed(string(p.TargetID), p.Status)
		}
	default:
		b.mu.Lock()
		at, ok := b.sessions[ev.Session]
		b.mu.Unlock()
		if at.worker && !strings.HasPrefix(ev.Method, "Network.") && !strings.HasPrefix(ev.Method, "Fetch.") {
			return
		}
		if ok && !at.worker {
			at.tab.handleEvent(at.frame, ev)
			if at.fresh && ev.Method == "Page.frameNavigated" {
				b.noteNavigated(ev.Session)
			}
		}
		if ok || ev.Session == "" {
			for _, o := range b.observers {
				o.Event(at.tab, at.frame, ev)
			}
		}
	}
}

func (b *Browser) handleAttached(ev cdp.Event) {
	var p struct {
		SessionID  string     `json:"sessionId"`
		TargetInfo targetInfo `json:"targetInfo"`
		Waiting    bool       `json:"waitingForDebugger"`
	}
	if !ev.Decode(&p) {
		return
	}
	info := p.TargetInfo
	b.mu.Lock()
	parent, embedded := b.sessions[ev.Session]
	known := b.findTab(info.TargetID)
	b.mu.Unlock()
	switch {
	case info.Type == "page" && info.Subtype == "" && known == nil:
		t := b.addTab(frame.New(b.conn.Session(p.SessionID, ErrTabGone), info.TargetID, nil, ""), info)
		limit := sessionSetUpLimit
		if (p.Waiting || info.URL == "about:blank") && info.OpenerID == "" {
			limit = max(limit, b.conn.Timeout())
		}
		b.setUpSession(t, t.main, limit, info.hasNoProcess(), func(err error) {
			t.setUpErr = err
			close(t.ready)
		})
		if !p.Waiting {
			t.tree.DiscoverCrossOrigin(t.main)
		}
		b.publish(TabOpened, t)
		if opener := t.Opener(); opener != nil {
			opener.addOpened(t)
		}
	case info.Type == "iframe" && embedded:
		s := b.conn.Session(p.SessionID, cdp.ErrDocumentGone)
		f := frame.New(s, info.TargetID, parent.tab.tree.FrameOf(parent.frame, proto.PageFrameID(info.ParentFrameID)),
			info.ParentFrameID)
		b.mu.Lock()
		b.sessions[s.ID()] = attachment{frame: f, tab: parent.tab, fresh: p.Waiting}
		b.mu.Unlock()
		parent.tab.tree.Add(f)
		b.setUpSession(parent.tab, f, sessionSetUpLimit, false, func(error) {})
		if !p.Waiting {
			parent.tab.tree.DiscoverCrossOrigin(f)
		}
	case info.Type == "worker" && embedded:
		b.addWorker(frame.New(b.conn.Session(p.SessionID, cdp.ErrDocumentGone), info.TargetID, parent.frame, ""), parent.tab)
	default:
		b.conn.Session(p.SessionID, ErrTabGone).Post(proto.RuntimeRunIfWaitingForDebugger{})
		b.conn.Session(ev.Session, ErrTabGone).Post(
			proto.TargetDetachFromTarget{SessionID: proto.TargetSessionID(p.SessionID)})
	}
}

// sessionSetUpLimit bounds how long a target that may never answer is paused before it is used anyway: a tab with a
// page that existed before we connected, or one that shares a process with its opener's scripts. Other new tabs and the
// empty one of a browser that has just been started always answer. They get the longer limit of a call, because events
// of a document that loads before the session is set up would be missed.
const sessionSetUpLimit = 2 * time.Second

// setUpSession enables CDP domains in a new session within limit, resumes the target and calls done. It waits for the
// results before resuming, since commands in flight are lost when the target changes its process. A target that does
// not answer while paused (mute) is resumed first.
func (b *Browser) setUpSession(t *Tab, f *frame.Frame, limit time.Duration, mute bool, done func(error)) {
	reqs := []proto.Request{
		proto.PageEnable{},
		proto.PageSetLifecycleEventsEnabled{Enabled: true},
		proto.NetworkEnable{},
		autoAttach("iframe", "worker", "worklet"),
	}
	if f == t.main {
		reqs = append(reqs, frame.ReportDocuments()...)
	}
	reqs = append(reqs, b.prepareClipboard(t.contextID)...)
	for _, o := range b.observers {
		reqs = append(reqs, o.Attach(t, f)...)
	}
	b.release(t, f, reqs, limit, mute, done)
}

// addWorker sets up a dedicated worker of a tab and resumes it. Observers get its network events as events of the tab.
func (b *Browser) addWorker(f *frame.Frame, t *Tab) {
	b.mu.Lock()
	b.sessions[f.Session.ID()] = attachment{frame: f, tab: t, worker: true}
	b.mu.Unlock()
	reqs := []proto.Request{proto.NetworkEnable{}, autoAttach("worker")}
	for _, o := range b.observers {
		if o, ok := o.(WorkerObserver); ok {
			reqs = append(reqs, o.AttachWorker(t, f)...)
		}
	}
	b.release(t, f, reqs, sessionSetUpLimit, false, func(error) {})
}

// release sends reqs to a new session, waits until they are answered, the tab is gone or the limit is over, resumes the
// target and calls done with the reason for missing answers, or nil. A mute target is resumed at once.
func (b *Browser) release(
	t *Tab, f *frame.Frame, reqs []proto.Request, limit time.Duration, mute bool, done func(error),
) {
	var calls []*cdp.Call
	for _, req := range reqs {
		calls = append(calls, f.BeginWithin(limit, req))
	}
	if mute {
		f.Post(proto.RuntimeRunIfWaitingForDebugger{})
	}
	b.wg.Go(func() {
		// One limit for all calls.
		ctx, cancel, lost := t.watchContext(Watching(context.Background()), limit, false)
		if lost == nil {
			defer cancel()
		}
		for _, c := range calls {
			if lost != nil {
				c.Abandon()
			} else if err := c.Wait(ctx, nil); err != nil {
				b.log.Debug("session set up only in part", "target", f.ID(), "error", err)
				lost = context.Cause(ctx)
			}
		}
		if !mute {
			f.Post(proto.RuntimeRunIfWaitingForDebugger{})
		}
		done(lost)
	})
}

func (b *Browser) addTab(main *frame.Frame, info targetInfo) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastTabNumber++
	t := newTab(b, main, fmt.Sprintf("t%d", b.lastTabNumber), info)
	opener := info.OpenerID
	if opener == "" {
		opener = b.openers[info.TargetID]
	}
	delete(b.openers, info.TargetID)
	if opener != "" {
		if from := b.findTab(opener); from != nil {
			t.opener.Store(from)
			t.hold.Store(from.hold.Load())
			t.clean.Store(from.clean.Load())
		}
	}
	b.sessions[main.Session.ID()] = attachment{frame: main, tab: t}
	b.tabs = append(b.tabs, t)
	b.signalTabs()
	return t
}

func (b *Browser) handleDetached(sessionID string) {
	b.mu.Lock()
	at, ok := b.sessions[sessionID]
	delete(b.sessions, sessionID)
	b.mu.Unlock()
	if !ok {
		return
	}
	at.frame.End()
	at.frame.ForgetDocument()
	b.endWorkers(at.frame)
	if at.worker {
		return
	}
	if at.frame.Parent() != nil {
		at.tab.tree.Remove(at.frame)
		if at.fresh {
			b.wg.Go(func() { at.tab.resumeNavigation(at.frame) })
		}
		return
	}
	b.mu.Lock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t *Tab) bool { return t == at.tab })
	b.signalTabs()
	b.mu.Unlock()
	at.tab.unlink()
	at.tab.markClosed(ErrTabGone)
	b.publish(TabClosed, at.tab)
}

// noteNavigated records that the frame of a session shows a document.
func (b *Browser) noteNavigated(sessionID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.sessions[sessionID]; ok {
		at.fresh = false
		b.sessions[sessionID] = at
	}
}

// lostNavigationWait is how long a frame whose session ended before it showed a document may take to get another
// session.
const lostNavigationWait = 500 * time.Millisecond

// resumeNavigation resumes the navigation of a frame whose session ended before the frame showed a document. When
// another client asks for sessions of a page's frames, Chromium ends those of frames that are being loaded, for all
// clients, and leaves the loads paused until the client that had paused them asks for no more sessions.
func (t *Tab) resumeNavigation(f *frame.Frame) {
	ctx, done, err := t.watchContext(Watching(context.Background()), lostNavigationWait+frameTreeLimit, false)
	if err != nil {
		return
	}
	defer done()
	same := func(other *frame.Frame) bool { return other.ID() == f.ID() }
	if cancel.Sleep(ctx, lostNavigationWait) != nil || slices.ContainsFunc(t.tree.ProcessRoots(), same) {
		return
	}
	parent := f.Parent().Session
	res, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, parent, proto.PageGetFrameTree{})
	if err != nil || res.FrameTree == nil || !hasFrame(res.FrameTree, f.ID()) {
		return // the frame was removed
	}
	t.browser.log.Debug("resume a frame's navigation that another client left paused", "frame", f.ID())
	parent.Post(proto.TargetSetAutoAttach{Flatten: true}, autoAttach("iframe", "worker", "worklet"))
}

func hasFrame(tree *proto.PageFrameTree, id proto.PageFrameID) bool {
	return tree.Frame.ID == id ||
		slices.ContainsFunc(tree.ChildFrames, func(c *proto.PageFrameTree) bool { return hasFrame(c, id) })
}

// endWorkers ends the sessions of workers below a frame or worker that is gone, since Chromium does not report the end
// of each.
func (b *Browser) endWorkers(parent *frame.Frame) {
	var gone []*frame.Frame
	b.mu.Lock()
	for id, at := range b.sessions {
		if at.worker && at.frame.Parent() == parent {
			delete(b.sessions, id)
			gone = append(gone, at.frame)
		}
	}
	b.mu.Unlock()
	for _, f := range gone {
		f.End()
		b.endWorkers(f)
	}
}

func (b *Browser) handleInfoChanged(info targetInfo) {
	b.mu.Lock()
	t := b.findTab(info.TargetID)
	if t == nil && info.OpenerID != "" && info.Type == "page" {
		b.openers[info.TargetID] = info.OpenerID
	}
	b.mu.Unlock()
	if t != nil && t.setInfo(info) {
		b.publish(TabChanged, t)
	}
}

func (b *Browser) handleCrashed(target, status string) {
	b.mu.Lock()
	t := b.findTab(target)
	b.mu.Unlock()
	if t == nil {
		return
	}
	b.log.Warn("page crashed", "tab", t.id, "status", status)
	t.markCrashed()
	b.publish(TabCrashed, t)
}

// handleEvent handles an event of one of the tab's sessions.
func (t *Tab) handleEvent(f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Page.javascriptDialogOpening", "Page.javascriptDialogClosed":
		t.handleDialog(f, ev)
	case "Page.frameNavigated":
		t.handleNavigated(f, ev)
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed":
		t.handleRequestEvent(ev)
	case "Page.frameDetached":
		var p struct {
			FrameID proto.PageFrameID `json:"frameId"`
		}
		if ev.Decode(&p) {
			t.tree.Detached(f, p.FrameID)
		}
	case "Input.dragIntercepted":
		var p proto.InputDragIntercepted
		if ev.Decode(&p) {
			t.dragStarted(p.Data)
		}
	case "Runtime.bindingCalled":
		if f == t.main {
			t.handleReport(ev)
		}
	case "Page.windowOpen":
		t.mu.Lock()
		t.loadState.NewTabs++
		t.mu.Unlock()
	default:
		if f == t.main {
			t.handleLoadEvent(ev)
		}
	}
}

func (t *Tab) handleNavigated(f *frame.Frame, ev cdp.Event) {
	var p struct {
		Frame struct {
			ID       string `json:"id"`
			LoaderID string `json:"loaderId"`
			URL      string `json:"url"`
			Fragment string `json:"urlFragment"`
			Origin   string `json:"securityOrigin"`
		} `json:"frame"`
		Type string `json:"type"`
	}
	if !ev.Decode(&p) {
		return
	}
	restored := p.Type == string(proto.PageNavigationTypeBackForwardCacheRestore)
	t.tree.Navigated(f, FrameDocument{
		Frame: proto.PageFrameID(p.Frame.ID), URL: p.Frame.URL, Origin: p.Frame.Origin, Restored: restored,
	})
	if p.Frame.ID != t.targetID {
		t.refs.FrameNavigated()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.url = p.Frame.URL + p.Frame.Fragment
	if IsErrorPage(t.url) {
		t.title = ""
	}
	t.loadState.Committed(p.Frame.LoaderID, restored)
	t.refs.Reset()
	t.signalChange()
}

// handleLoadEvent handles Page events that concern loading of the tab's main frame.
func (t *Tab) handleLoadEvent(ev cdp.Event) {
	news, ok := ParseLoadEvent(ev, t.targetID)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loadState.Apply(news)
	switch news.Method {
	case "Page.navigatedWithinDocument":
		t.url = news.URL
	case "Page.lifecycleEvent":
		t.emulateFocus()
		if (news.Name == "DOMContentLoaded" || news.Name == "load") && !t.loadState.TitleReported {
			t.requestTitle()
		}
	}
	t.signalChange()
}

// emulateFocus makes a tab in the background render, keep focus and take input, so that tabs can be used concurrently.
// It is sent after the first document has loaded: earlier it crashes the renderer of a new tab in Chromium 156. The
// caller holds t.mu.
func (t *Tab) emulateFocus() {
	if t.loadState.Loaded && !t.focusEmulated {
		t.focusEmulated = true
		t.main.Post(proto.EmulationSetFocusEmulationEnabled{Enabled: true})
	}
}

func (t *Tab) handleRequestEvent(ev cdp.Event) {
	traffic, ok := ParseRequestEvent(ev, t.targetID)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loadState.ApplyRequest(traffic) {
		t.signalChange()
	}
}
