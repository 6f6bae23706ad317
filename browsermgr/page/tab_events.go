package page

import (
	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// handleEvent takes an event of one of the tab's sessions.
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
	t.loadState.Committed(p.Frame.LoaderID, restored)
	t.refs.Reset()
	if len(t.watchers) > 0 {
		t.prepareDocument()
	}
	t.signalChange()
}

// handleLoadEvent follows the main frame of the tab.
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

// emulateFocus has a tab in the background render, keep focus and take input, so that tabs work side by side. It is asked for
// once the first document is loaded: earlier it crashes the process of a new tab in Chromium 156. The caller holds t.mu.
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
