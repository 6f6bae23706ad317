package page

import (
	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// LoadCounts grow with what happens in a tab. Kept from before an action, they tell afterwards what it led to.
type LoadCounts struct {
	Documents    int // documents that the main frame has shown
	SameDocument int // changes of address within a document
	Navigations  int // navigations of the main frame that were asked for
	NewTabs      int // new tabs that were asked for
	Downloads    int // downloads that links asked for
	Requests     int // requests of all frames
}

// LoadState follows how far a tab has loaded. Whoever owns it sees to it that it is used by one goroutine at a time. It
// is made with [NewFrameTree].
type LoadState struct {
	LoadCounts

	Pending bool   // a navigation was asked for and has come to no end
	Started bool   // … and Chromium has taken it up
	Loader  string // id of the present document's loader
	Status  int    // the present document's HTTP status; 0 if there is none
	Parsed  bool   // DOMContentLoaded
	Loaded  bool
	Idle    bool // no request for half a second after loading

	TitleReported bool // the present document tells its title when it has loaded
	TitleRequests int  // counts questions for the title that are on their way
	TitleKnown    bool // the present document's title is known

	statuses map[string]int // HTTP status by loader, of documents that are not shown yet
	inFlight map[string]openRequest
}

// openRequest is a request without an answer.
type openRequest struct {
	number      int
	loader      string
	changesPage bool // of a kind that changes what the page shows
}

// NewLoadState returns the state of a tab of which nothing is known.
func NewLoadState() LoadState {
	return LoadState{statuses: map[string]int{}, inFlight: map[string]openRequest{}}
}

// Crashed notes that the tab's process died.
func (s *LoadState) Crashed() {
	s.Pending, s.Started = false, false
	clear(s.inFlight)
}

// Committed notes that the main frame shows a new document. One that is restored was kept as it was, loaded.
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

// HasOpenSince says whether requests that began after the numbered one are still open, of the kinds that change what the page shows.
func (s *LoadState) HasOpenSince(number int) bool {
	for _, f := range s.inFlight {
		if f.number > number && f.changesPage {
			return true
		}
	}
	return false
}

// Reached says whether the main document has come to a load state: domcontentloaded, load, or else networkidle.
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

// awaitedTypes are the kinds of requests whose answers change what a page shows.
var awaitedTypes = map[proto.NetworkResourceType]bool{
	proto.NetworkResourceTypeDocument: true, proto.NetworkResourceTypeXHR: true,
	proto.NetworkResourceTypeFetch: true, proto.NetworkResourceTypeScript: true,
}

// LoadEvent is what an event of the Page domain says of the loading of a main frame.
type LoadEvent struct {
	Method string
	URL    string // of Page.navigatedWithinDocument
	Name   string // of Page.lifecycleEvent

	loader      string
	disposition string
}

// maxEventSize is the size, in bytes, above which an event is none that is read here.
const maxEventSize = 1 << 16

// ParseLoadEvent takes from an event what it says of the frame with this id; ok is false if that is nothing.
func ParseLoadEvent(ev cdp.Event, id string) (n LoadEvent, ok bool) {
	switch ev.Method {
	case "Page.frameRequestedNavigation", "Page.frameScheduledNavigation", "Page.frameStartedNavigating", "Page.frameStartedLoading",
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

// Apply notes what an event told of the main frame.
func (s *LoadState) Apply(n LoadEvent) {
	switch n.Method {
	case "Page.frameRequestedNavigation":
		switch n.disposition {
		case "newTab", "newWindow":
			s.NewTabs++
		case "currentTab":
			s.Navigations++
			s.Pending = true
		}
	case "Page.frameScheduledNavigation":
		s.Navigations++
		s.Pending = true
	case "Page.frameStartedNavigating", "Page.frameStartedLoading":
		s.Started = true
	case "Page.frameStoppedLoading":
		s.Pending, s.Started = false, false
		s.TitleReported = false // if it is not told by now, the document runs no scripts
	case "Page.navigatedWithinDocument":
		s.SameDocument++
		s.Pending = false
	case "Page.lifecycleEvent":
		s.applyLifecycle(n.loader, n.Name)
	}
}

func (s *LoadState) applyLifecycle(loader, name string) {
	if s.Loader == "" {
		s.Loader = loader // of a tab that was there before us
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

// RequestEvent is what an event of the Network domain says of a request.
type RequestEvent struct {
	method, request, loader string
	kind                    proto.NetworkResourceType
	status                  int
	root                    bool
}

// ParseRequestEvent takes from an event of one of the tab's frames what it says of a request; ok is false if that is nothing. main is the id
// of the main frame.
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
		method: ev.Method, request: p.RequestID, loader: p.LoaderID, kind: p.Type, status: p.Response.Status, root: p.FrameID == main,
	}, true
}

// ApplyRequest notes what an event told of a request and reports whether somebody may wait for that.
func (s *LoadState) ApplyRequest(t RequestEvent) bool {
	switch t.method {
	case "Network.requestWillBeSent":
		if t.loader == "" {
			// The script of a worker. Its end is told by the worker's session, or never if the worker ends first.
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
