package page

import (
	"cmp"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// LoadCounts count events of a tab. Comparing them with a copy from before an action shows its effects.
type LoadCounts struct {
	Documents    int // documents that the main frame has shown
	SameDocument int // address changes within a document
	Navigations  int // requested navigations of the main frame
	NewTabs      int // requested tabs
	Downloads    int // downloads requested by links
	Requests     int // requests of all frames
}

// LoadState tracks the loading of a tab. It is not safe for concurrent use. Make one with [NewLoadState].
type LoadState struct {
	LoadCounts

	Pending bool   // a navigation was requested and has not finished
	Started bool   // … and Chromium has started it
	planned bool   // … or it is planned only: it may run a script, fail, or go to a new tab
	next    string // loader id of the document that Chromium has last started to load
	Loader  string // loader id of the present document
	Status  int    // HTTP status of the present document; 0 if there is none
	Parsed  bool   // DOMContentLoaded
	Loaded  bool
	Idle    bool // no request for half a second after loading

	TitleReported bool // the present document reports its title when loaded
	TitleRequests int  // number of title requests in flight
	TitleKnown    bool // the present document's title is known

	statuses map[string]int // HTTP status by loader id, of documents not shown yet
	inFlight map[string]openRequest
}

// openRequest is a request in flight.
type openRequest struct {
	number      int
	loader      string
	changesPage bool // of a type that changes what the page shows
}

// NewLoadState returns the state of a tab that is not loading.
func NewLoadState() LoadState {
	return LoadState{statuses: map[string]int{}, inFlight: map[string]openRequest{}}
}

// Crashed records that the tab's process crashed.
func (s *LoadState) Crashed() {
	s.Pending, s.Started = false, false
	clear(s.inFlight)
}

// Committed records that the main frame shows a new document. A restored one, from the back/forward cache, is already
// loaded.
func (s *LoadState) Committed(loader string, restored bool) {
	s.Documents++
	s.Pending, s.Started = false, false
	s.Loader, s.Status = loader, s.statuses[loader]
	s.Parsed, s.Loaded, s.Idle = restored, restored, restored
	s.TitleKnown, s.TitleReported = false, false
	clear(s.statuses)
	for id, f := range s.inFlight {
		if f.loader != loader {
			delete(s.inFlight, id)
		}
	}
}

// HasOpenSince reports whether requests with a higher number are in flight whose type changes what the page shows.
func (s *LoadState) HasOpenSince(number int) bool {
	for _, f := range s.inFlight {
		if f.number > number && f.changesPage {
			return true
		}
	}
	return false
}

// Reached reports whether the main document has reached a load state: domcontentloaded, load or networkidle.
func (s *LoadState) Reached(state string) bool {
	switch {
	case s.Pending:
		return false
	case state == "domcontentloaded":
		return s.Parsed
	case state == "load":
		return s.Loaded
	}
	return s.Idle && !s.HasOpenSince(0)
}

// awaitedTypes are the types of requests whose responses change what a page shows.
var awaitedTypes = map[proto.NetworkResourceType]bool{
	proto.NetworkResourceTypeDocument: true, proto.NetworkResourceTypeXHR: true,
	proto.NetworkResourceTypeFetch: true, proto.NetworkResourceTypeScript: true,
}

// LoadEvent is an event of the Page domain that concerns the loading of a main frame.
type LoadEvent struct {
	Method string
	URL    string // of Page.navigatedWithinDocument
	Name   string // of Page.lifecycleEvent

	loader      string
	disposition string
}

// maxEventSize is the size, in bytes, above which an event is not parsed, since the events needed here are smaller.
const maxEventSize = 1 << 16

// ParseLoadEvent parses an event that concerns the frame with this id; ok is false if it is another one.
func ParseLoadEvent(ev cdp.Event, id string) (n LoadEvent, ok bool) {
	switch ev.Method {
	case "Page.frameRequestedNavigation", "Page.frameScheduledNavigation", "Page.frameClearedScheduledNavigation",
		"Page.frameStartedNavigating", "Page.frameStartedLoading",
		"Page.frameStoppedLoading", "Page.navigatedWithinDocument", "Page.lifecycleEvent":
	default:
		return LoadEvent{}, false
	}
	var p struct {
		FrameID     string `json:"frameId"`
		LoaderID    string `json:"loaderId"`
		Name        string `json:"name"`
		URL         string `json:"url"`
		Disposition string `json:"disposition"`
	}
	if len(ev.Params) > maxEventSize || !ev.Decode(&p) || p.FrameID != id {
		return LoadEvent{}, false
	}
	return LoadEvent{Method: ev.Method, URL: p.URL, Name: p.Name, loader: p.LoaderID, disposition: p.Disposition}, true
}

// Apply updates the state with an event of the main frame.
func (s *LoadState) Apply(n LoadEvent) {
	switch n.Method {
	case "Page.frameRequestedNavigation":
		switch n.disposition {
		case "newTab", "newWindow":
			s.NewTabs++
		case "currentTab":
			s.Navigations++
			s.Pending, s.planned = true, false
		}
	case "Page.frameScheduledNavigation":
		s.Navigations++
		s.planned = s.planned || !s.Pending
		s.Pending = true
	case "Page.frameClearedScheduledNavigation":
		s.Pending = s.Pending && !s.planned
		s.planned = false
	case "Page.frameStartedNavigating", "Page.frameStartedLoading":
		s.Started = true
		s.next = cmp.Or(n.loader, s.next)
	case "Page.frameStoppedLoading":
		s.Pending, s.Started = false, false
		s.TitleReported = false // not reported by now, so the document runs no scripts
	case "Page.navigatedWithinDocument":
		s.SameDocument++
		s.Pending = false
	case "Page.lifecycleEvent":
		s.applyLifecycle(n.loader, n.Name)
	}
}

func (s *LoadState) applyLifecycle(loader, name string) {
	switch {
	case s.Loader != "" || loader == "":
	case loader != s.next:
		s.Loader = loader // of a tab that existed before we connected
	case name == "DOMContentLoaded" || name == "load":
		// Page.frameNavigated was not reported, since the tab's process answered Page.enable only later.
		s.Committed(loader, false)
	}
	if loader != s.Loader {
		return
	}
	switch name {
	case "DOMContentLoaded":
		s.Parsed = true
	case "load":
		s.Parsed, s.Loaded = true, true
	case "networkIdle":
		s.Idle = true
	}
}

// RequestEvent is an event of the Network domain that concerns a request.
type RequestEvent struct {
	method, request, loader string
	kind                    proto.NetworkResourceType
	status                  int
	root                    bool
}

// ParseRequestEvent parses an event of one of the tab's frames that concerns a request; ok is false if it is another
// one. main is the id of the main frame.
func ParseRequestEvent(ev cdp.Event, main string) (t RequestEvent, ok bool) {
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
		return RequestEvent{}, false
	}
	return RequestEvent{
		method: ev.Method, request: p.RequestID, loader: p.LoaderID, kind: p.Type, status: p.Response.Status,
		root: p.FrameID == main,
	}, true
}

// ApplyRequest updates the state with an event and reports whether waiters should be woken.
func (s *LoadState) ApplyRequest(t RequestEvent) bool {
	switch t.method {
	case "Network.requestWillBeSent":
		if t.loader == "" {
			// The script of a worker. Its end is reported in the worker's session, or never if the worker ends first.
			return false
		}
		if _, again := s.inFlight[t.request]; !again {
			s.Requests++
			s.inFlight[t.request] = openRequest{number: s.Requests, loader: t.loader, changesPage: awaitedTypes[t.kind]}
		}
	case "Network.responseReceived":
		if t.kind == proto.NetworkResourceTypeDocument && t.root {
			s.statuses[t.loader] = t.status
			if t.loader == s.Loader {
				s.Status = t.status
			}
		}
		return false
	default:
		if _, known := s.inFlight[t.request]; !known {
			return false
		}
		delete(s.inFlight, t.request)
	}
	return true
}
