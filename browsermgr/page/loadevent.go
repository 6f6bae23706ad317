package page

import (
	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

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
