package page

import (
	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// loadState follows the tab's main document and the requests of all its frames.
type loadState struct {
	document int    // counts documents: grows when the main frame shows a new one
	within   int    // counts changes of address within a document
	begun    int    // counts navigations of the main frame that were asked for
	newTabs  int    // counts new tabs that were asked for
	saves    int    // counts downloads that links asked for
	pending  bool   // one was asked for and has come to no end
	started  bool   // … and Chromium has taken it up
	loading  bool   // the main frame is loading
	greeted  bool   // the present document tells its title when it has loaded
	loader   string // id of the present document's loader
	parsed   bool   // DOMContentLoaded
	loaded   bool
	asked    int  // counts questions for the title that are on their way
	titled   bool // the present document's title is known
	idle     bool // no request for half a second after loading
	status   int
	statuses map[string]int // HTTP status by loader, of documents that are not shown yet
	requests int            // counts requests
	inFlight map[string]flight
}

// flight is a request without an answer.
type flight struct {
	number int
	loader string
	awaits bool // of a kind that changes what the page shows
}

func newLoadState() loadState {
	return loadState{statuses: map[string]int{}, inFlight: map[string]flight{}}
}

func (l *loadState) crashed() {
	l.pending, l.loading, l.started = false, false, false
	clear(l.inFlight)
}

// committed notes that the main frame shows a new document.
func (l *loadState) committed(loader string, restored bool) {
	l.document++
	l.pending, l.started = false, false
	l.loader, l.status = loader, l.statuses[loader]
	l.parsed, l.loaded, l.idle = restored, restored, restored
	l.titled, l.greeted = false, false
	clear(l.statuses)
	for id, f := range l.inFlight {
		if f.loader != loader {
			delete(l.inFlight, id)
		}
	}
}

// busySince says whether requests that began after the numbered one are still open.
func (l *loadState) busySince(number int) bool {
	for _, f := range l.inFlight {
		if f.number > number && f.awaits {
			return true
		}
	}
	return false
}

// reached says whether the main document has come to a load state.
func (l *loadState) reached(state string) bool {
	switch {
	case l.pending:
		return false
	case state == "domcontentloaded":
		return l.parsed
	case state == "load":
		return l.loaded
	}
	return l.idle && !l.busySince(0)
}

// handle takes an event of one of the tab's sessions.
func (t *Tab) handle(f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Page.javascriptDialogOpening", "Page.javascriptDialogClosed":
		t.handleDialog(f, ev)
	case "Page.frameNavigated":
		t.handleNavigated(f, ev)
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed":
		t.handleNetwork(ev)
	case "Page.frameDetached":
		t.handleDetached(f, ev)
	case "Input.dragIntercepted":
		var p proto.InputDragIntercepted
		if ev.Decode(&p) {
			t.dragStarted(p.Data)
		}
	case "Page.windowOpen":
		t.mu.Lock()
		t.load.newTabs++
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
	if p.Frame.ID == string(f.ID()) {
		f.Leave()
		t.rootNavigated(f, p.Frame.Origin, restored)
	} else {
		t.innerNavigated(f, proto.PageFrameID(p.Frame.ID), p.Frame.URL, p.Frame.Origin)
	}
	if p.Frame.ID != t.target {
		t.refs.FrameNavigated()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.url = p.Frame.URL + p.Frame.Fragment
	t.load.committed(p.Frame.LoaderID, restored)
	t.refs.Reset()
	if len(t.watchers) > 0 {
		t.greet()
	}
	t.signal()
}

// handleLoading follows the main frame of the tab.
func (t *Tab) handleLoading(ev cdp.Event) {
	var p struct {
		FrameID     string `json:"frameId"`
		LoaderID    string `json:"loaderId"`
		Name        string `json:"name"`
		URL         string `json:"url"`
		Disposition string `json:"disposition"`
	}
	if len(ev.Params) > 1<<16 || !ev.Decode(&p) || p.FrameID != t.target {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.load
	switch ev.Method {
	case "Page.frameRequestedNavigation":
		if p.Disposition == "newTab" || p.Disposition == "newWindow" {
			l.newTabs++
			break
		}
		if p.Disposition == "currentTab" {
			l.begun++
			l.pending = true
		}
	case "Page.frameScheduledNavigation":
		l.begun++
		l.pending = true
	case "Page.frameStartedNavigating":
		l.started = true
	case "Page.frameStartedLoading":
		l.loading, l.started = true, true
	case "Page.frameStoppedLoading":
		l.loading, l.pending, l.started = false, false, false
	case "Page.navigatedWithinDocument":
		l.within++
		l.pending = false
		t.url = p.URL
	case "Page.lifecycleEvent":
		l.lifecycle(p.LoaderID, p.Name)
		t.keepAwake()
		if (p.Name == "DOMContentLoaded" || p.Name == "load") && !l.greeted {
			t.askTitle()
		}
	default:
		return
	}
	t.signal()
}

// keepAwake has a tab in the background render, keep focus and take input, so that tabs work side by side. It is asked for
// once the first document is loaded: earlier it crashes the process of a new tab in Chromium 156. The caller holds t.mu.
func (t *Tab) keepAwake() {
	if t.load.loaded && !t.awake {
		t.awake = true
		t.main.Post(proto.EmulationSetFocusEmulationEnabled{Enabled: true})
	}
}

func (l *loadState) lifecycle(loader, name string) {
	if l.loader == "" {
		l.loader = loader // of a tab that was there before us
	}
	if loader != l.loader {
		return
	}
	switch name {
	case "DOMContentLoaded":
		l.parsed = true
	case "load":
		l.parsed, l.loaded = true, true
	case "networkIdle":
		l.idle = true
	}
}

// awaited are the kinds of requests whose answers change what a page shows.
var awaited = map[proto.NetworkResourceType]bool{
	proto.NetworkResourceTypeDocument: true, proto.NetworkResourceTypeXHR: true,
	proto.NetworkResourceTypeFetch: true, proto.NetworkResourceTypeScript: true,
}

func (t *Tab) handleNetwork(ev cdp.Event) {
	var p struct {
		RequestID string                    `json:"requestId"`
		LoaderID  string                    `json:"loaderId"`
		FrameID   string                    `json:"frameId"`
		Type      proto.NetworkResourceType `json:"type"`
		Response  struct {
			Status int `json:"status"`
		} `json:"response"`
	}
	if !ev.Decode(&p) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.load
	switch ev.Method {
	case "Network.requestWillBeSent":
		if _, again := l.inFlight[p.RequestID]; !again {
			l.requests++
			l.inFlight[p.RequestID] = flight{number: l.requests, loader: p.LoaderID, awaits: awaited[p.Type]}
		}
	case "Network.responseReceived":
		if p.Type == proto.NetworkResourceTypeDocument && p.FrameID == t.target {
			l.statuses[p.LoaderID] = p.Response.Status
			if p.LoaderID == l.loader {
				l.status = p.Response.Status
			}
		}
		return
	default:
		if _, known := l.inFlight[p.RequestID]; !known {
			return
		}
		delete(l.inFlight, p.RequestID)
	}
	t.signal()
}
