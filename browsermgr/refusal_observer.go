package browsermgr

import (
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// refusedHeader is the header of the proxy's responses to refused requests; its value is the rule. failedHeader is the
// header of its responses if the server could not be reached.
const (
	refusedHeader = "X-Clank-Refused"
	failedHeader  = "X-Clank-Failed"
)

// Attributor is notified which tab sent a refused request. Its methods must not block.
type Attributor interface {
	// AttributeRefusal reports that a request of the tab with that CDP target id was refused or could not connect.
	// document reports that it was for a page or frame.
	AttributeRefusal(profile, target, address string, document bool)
}

const (
	// maxOpenRequests bounds the requests remembered for a connection.
	maxOpenRequests = 4096
	// maxEndedRequests bounds the requests that ended without response headers, and the headers received without their
	// request: Chromium sends both kinds of events from different processes, in any order.
	maxEndedRequests = 64
)

// refusalObserver is a [page.Observer] that finds the tabs of requests that a proxy refused.
type refusalObserver struct {
	attributor Attributor
	profile    string

	mu           sync.Mutex
	open         map[string]openRequest // by tab and request id: a worker has its own session, the page gets its headers
	failedEarly  []string               // keys of requests that failed before their headers were reported, oldest first
	refusedEarly []string               // keys of refusals whose request was not reported yet, oldest first
}

type openRequest struct {
	address  string
	document bool
}

// newRefusalObserver returns an observer for a connection to the browser of a profile.
func newRefusalObserver(gate Attributor, profile string) *refusalObserver {
	return &refusalObserver{attributor: gate, profile: profile, open: map[string]openRequest{}}
}

// Attach implements [page.Observer]. It requests nothing.
func (*refusalObserver) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements [page.Observer].
func (w *refusalObserver) Event(t *page.Tab, _ *frame.Frame, ev cdp.Event) {
	if t == nil {
		return
	}
	switch ev.Method {
	case "Network.requestWillBeSent":
		w.handleRequest(t, ev)
	case "Network.responseReceived", "Network.responseReceivedExtraInfo":
		w.handleResponse(t, ev)
	case "Network.loadingFailed":
		w.handleFailure(t, ev)
	case "Network.loadingFinished":
		w.takeOpen(t, ev)
	case "Network.webSocketCreated", "Network.webSocketFrameError", "Network.webSocketClosed":
		w.handleWebSocket(t, ev)
	}
}

func (w *refusalObserver) handleRequest(t *page.Tab, ev cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		Type      string `json:"type"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if !ev.Decode(&p) || !strings.HasPrefix(p.Request.URL, "http") {
		return
	}
	if r := (openRequest{p.Request.URL, p.Type == "Document"}); w.takeEarlyRefusal(key(t, p.RequestID)) {
		w.attributor.AttributeRefusal(w.profile, t.TargetID(), r.address, r.document)
	} else {
		w.addOpen(key(t, p.RequestID), r)
	}
}

// takeEarlyRefusal reports whether the refusal of a request was reported before the request, and forgets it.
func (w *refusalObserver) takeEarlyRefusal(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.refusedEarly, key)
	if i < 0 {
		return false
	}
	w.refusedEarly = slices.Delete(w.refusedEarly, i, i+1)
	return true
}

// key identifies a request. Chromium's request ids are unique among all processes of a browser.
func key(t *page.Tab, id string) string { return t.TargetID() + id }

func (w *refusalObserver) addOpen(key string, r openRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= maxOpenRequests {
		clear(w.open)
	}
	w.open[key] = r
}

// handleResponse looks for responses of the proxy itself. For cross-origin requests, headers are only in ExtraInfo
// events.
func (w *refusalObserver) handleResponse(t *page.Tab, ev cdp.Event) {
	type answer struct {
		Headers map[string]string `json:"headers"`
	}
	var p struct {
		answer

		RequestID string `json:"requestId"`
		Response  answer `json:"response"`
	}
	if !ev.Decode(&p) {
		return
	}
	for _, headers := range []map[string]string{p.Headers, p.Response.Headers} {
		for name := range headers {
			if !strings.EqualFold(name, refusedHeader) && !strings.EqualFold(name, failedHeader) {
				continue
			}
			if r, known := w.takeOpen(t, ev); known {
				w.attributor.AttributeRefusal(w.profile, t.TargetID(), r.address, r.document)
			} else if ev.Method == "Network.responseReceivedExtraInfo" {
				w.mu.Lock()
				w.refusedEarly = append(w.refusedEarly, key(t, p.RequestID))
				w.refusedEarly = w.refusedEarly[max(0, len(w.refusedEarly)-maxEndedRequests):]
				w.mu.Unlock()
			}
		}
	}
}

// handleFailure handles requests that failed, as after a refused CONNECT. A request that failed because it is
// cross-origin may have had a response, whose headers are reported before or after.
func (w *refusalObserver) handleFailure(t *page.Tab, ev cdp.Event) {
	var p struct {
		RequestID string    `json:"requestId"`
		Error     string    `json:"errorText"`
		Cross     *struct{} `json:"corsErrorStatus"`
	}
	if !ev.Decode(&p) {
		return
	}
	if p.Cross != nil {
		w.keepFailed(key(t, p.RequestID))
		return
	}
	if r, known := w.takeOpen(t, ev); known && p.Error == "net::ERR_TUNNEL_CONNECTION_FAILED" {
		w.attributor.AttributeRefusal(w.profile, t.TargetID(), r.address, r.document)
	}
}

// keepFailed keeps a request whose headers may still be reported.
func (w *refusalObserver) keepFailed(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.open[key]; !known {
		return
	}
	if w.failedEarly = append(w.failedEarly, key); len(w.failedEarly) > maxEndedRequests {
		delete(w.open, w.failedEarly[0])
		w.failedEarly = w.failedEarly[1:]
	}
}

// handleWebSocket tracks WebSockets, for which no response to a refused CONNECT is reported.
func (w *refusalObserver) handleWebSocket(t *page.Tab, ev cdp.Event) {
	if ev.Method != "Network.webSocketCreated" {
		if r, known := w.takeOpen(t, ev); known && ev.Method == "Network.webSocketFrameError" {
			w.attributor.AttributeRefusal(w.profile, t.TargetID(), r.address, false)
		}
		return
	}
	var p struct {
		RequestID string `json:"requestId"`
		URL       string `json:"url"`
	}
	if ev.Decode(&p) {
		w.addOpen(key(t, p.RequestID), openRequest{p.URL, false})
	}
}

// takeOpen removes and returns a request that has ended.
func (w *refusalObserver) takeOpen(t *page.Tab, ev cdp.Event) (openRequest, bool) {
	var p struct {
		RequestID string `json:"requestId"`
	}
	if !ev.Decode(&p) {
		return openRequest{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r, known := w.open[key(t, p.RequestID)]
	delete(w.open, key(t, p.RequestID))
	return r, known
}
