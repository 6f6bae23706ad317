package page

import (
	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/frametree"
	"clank/browsermgr/load"

	"github.com/go-rod/rod/lib/proto"
)

// handle takes an event of one of the tab's sessions.
func (t *Tab) handle(f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Page.javascriptDialogOpening", "Page.javascriptDialogClosed":
		t.handleDialog(f, ev)
	case "Page.frameNavigated":
		t.handleNavigated(f, ev)
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed":
		t.handleTraffic(ev)
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
	case "Page.windowOpen":
		t.mu.Lock()
		t.load.NewTabs++
		t.mu.Unlock()
	default:
		if f == t.main {
			t.handleLoading(ev)
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
	t.tree.Navigated(f, frametree.Document{
		Frame: proto.PageFrameID(p.Frame.ID), URL: p.Frame.URL, Origin: p.Frame.Origin, Restored: restored,
	})
	if p.Frame.ID != t.target {
		t.refs.FrameNavigated()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.url = p.Frame.URL + p.Frame.Fragment
	t.load.Committed(p.Frame.LoaderID, restored)
	t.refs.Reset()
	if len(t.watchers) > 0 {
		t.greet()
	}
	t.signal()
}

// handleLoading follows the main frame of the tab.
func (t *Tab) handleLoading(ev cdp.Event) {
	news, ok := load.Read(ev, t.target)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.load.Take(news)
	switch news.Method {
	case "Page.navigatedWithinDocument":
		t.url = news.URL
	case "Page.lifecycleEvent":
		t.keepAwake()
		if (news.Name == "DOMContentLoaded" || news.Name == "load") && !t.load.Greeted {
			t.askTitle()
		}
	}
	t.signal()
}

// keepAwake has a tab in the background render, keep focus and take input, so that tabs work side by side. It is asked for
// once the first document is loaded: earlier it crashes the process of a new tab in Chromium 156. The caller holds t.mu.
func (t *Tab) keepAwake() {
	if t.load.Loaded && !t.awake {
		t.awake = true
		t.main.Post(proto.EmulationSetFocusEmulationEnabled{Enabled: true})
	}
}

func (t *Tab) handleTraffic(ev cdp.Event) {
	traffic, ok := load.ReadTraffic(ev, t.target)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.load.TakeTraffic(traffic) {
		t.signal()
	}
}
