package page

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// targetInfo is what is used of CDP's TargetInfo. parentFrameId is newer than the protocol types we build on.
type targetInfo struct {
	TargetID         string `json:"targetId"`
	Type             string `json:"type"`
	Subtype          string `json:"subtype"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	OpenerID         string `json:"openerId"`
	ParentFrameID    string `json:"parentFrameId"`
	BrowserContextID string `json:"browserContextId"`
}

// handle takes one event. It runs on the reading goroutine and never waits for Chromium.
func (b *Browser) handle(ev cdp.Event) {
	switch ev.Method {
	case "Target.attachedToTarget":
		b.attached(ev)
	case "Target.detachedFromTarget":
		var p struct {
			SessionID string `json:"sessionId"`
		}
		if decode(ev, &p) {
			b.detached(p.SessionID)
		}
	case "Target.targetInfoChanged", "Target.targetCreated":
		var p struct {
			TargetInfo targetInfo `json:"targetInfo"`
		}
		if decode(ev, &p) {
			b.infoChanged(p.TargetInfo)
		}
	case "Target.targetCrashed":
		var p proto.TargetTargetCrashed
		if decode(ev, &p) {
			b.crashed(string(p.TargetID), p.Status)
		}
	default:
		b.mu.Lock()
		s := b.sessions[ev.SessionID]
		b.mu.Unlock()
		if s != nil && s.tab != nil {
			s.tab.handle(s, ev)
		}
	}
}

func decode(ev cdp.Event, into any) bool { return json.Unmarshal(ev.Params, into) == nil }

func (b *Browser) attached(ev cdp.Event) {
	var p struct {
		SessionID  string     `json:"sessionId"`
		TargetInfo targetInfo `json:"targetInfo"`
	}
	if !decode(ev, &p) {
		return
	}
	s := &session{conn: b.conn, id: p.SessionID, target: p.TargetInfo.TargetID, gone: make(chan struct{}), ready: make(chan struct{})}
	b.mu.Lock()
	parent := b.sessions[ev.SessionID]
	known := b.find(s.target)
	b.mu.Unlock()
	info := p.TargetInfo
	switch {
	case info.Type == "page" && info.Subtype == "" && known == nil:
		t := b.addTab(s, info)
		b.setUp(s)
		b.publish(TabOpened, t)
		if t.opener != nil {
			t.opener.noteOpened(t)
		}
	case info.Type == "iframe" && parent != nil && parent.tab != nil:
		s.parent, s.tab = parent, parent.tab
		s.owner.parentFrame = info.ParentFrameID
		b.mu.Lock()
		b.sessions[s.id] = s
		b.mu.Unlock()
		parent.tab.addFrame(s)
		b.setUp(s)
	default:
		s.post(proto.RuntimeRunIfWaitingForDebugger{})
		b.root.post(proto.TargetDetachFromTarget{SessionID: proto.TargetSessionID(s.id)})
	}
}

// setUpLimit bounds how long a new target is held: one that does not answer, a frozen tab that was there before us, is
// used as it is.
const setUpLimit = 2 * time.Second

// setUp enables what a new session needs and then lets its target run. The answers are waited for first: what is still on
// its way when the target changes its process is lost.
func (b *Browser) setUp(s *session) {
	calls := []*call{}
	for _, req := range []proto.Request{
		proto.PageEnable{}, proto.PageSetLifecycleEventsEnabled{Enabled: true}, proto.NetworkEnable{}, autoAttach("iframe"),
	} {
		calls = append(calls, s.beginWithin(setUpLimit, req))
	}
	b.wg.Go(func() {
		defer close(s.ready)
		for _, c := range calls {
			if err := c.wait(context.Background(), nil); err != nil {
				b.log.Debug("session set up only in part", "target", s.target, "error", err)
				break
			}
		}
		s.post(proto.RuntimeRunIfWaitingForDebugger{})
	})
}

func (b *Browser) addTab(s *session, info targetInfo) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastTab++
	t := newTab(b, s, fmt.Sprintf("t%d", b.lastTab), info)
	opener := info.OpenerID
	if opener == "" {
		opener = b.openers[info.TargetID]
	}
	delete(b.openers, info.TargetID)
	if opener != "" {
		t.opener = b.find(opener)
	}
	s.tab = t
	b.sessions[s.id] = s
	b.tabs = append(b.tabs, t)
	b.signal()
	return t
}

func (b *Browser) detached(sessionID string) {
	b.mu.Lock()
	s := b.sessions[sessionID]
	delete(b.sessions, sessionID)
	b.mu.Unlock()
	if s == nil {
		return
	}
	close(s.gone)
	if s.parent != nil {
		s.tab.removeFrame(s)
		return
	}
	b.mu.Lock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t *Tab) bool { return t == s.tab })
	b.signal()
	b.mu.Unlock()
	s.tab.end(ErrTabGone)
	b.publish(TabClosed, s.tab)
}

func (b *Browser) infoChanged(info targetInfo) {
	b.mu.Lock()
	t := b.find(info.TargetID)
	if t == nil && info.OpenerID != "" && info.Type == "page" {
		b.openers[info.TargetID] = info.OpenerID
	}
	b.mu.Unlock()
	if t != nil && t.setInfo(info) {
		b.publish(TabChanged, t)
	}
}

func (b *Browser) crashed(target, status string) {
	b.mu.Lock()
	t := b.find(target)
	b.mu.Unlock()
	if t == nil {
		return
	}
	b.log.Warn("page crashed", "tab", t.id, "status", status)
	t.crash()
	b.publish(TabCrashed, t)
}
