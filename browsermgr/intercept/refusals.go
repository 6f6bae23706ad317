package intercept

import (
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// RefusedHeader is the header by which the proxy marks an answer that is a refusal; its value names the rule.
// FailedHeader marks one that says that the server was not reached.
const (
	RefusedHeader = "X-Clank-Refused"
	FailedHeader  = "X-Clank-Failed"
)

// Attributor is told which tab a refused request came from. Its methods must not block.
type Attributor interface {
	// AttributeRefusal says that the tab with that CDP target id has asked for the address, as a document of its own or
	// of a frame or not, and was refused or could not connect.
	AttributeRefusal(profile, target, address string, document bool)
}

const (
	// maxOpenRequests bounds how many requests of a connection are remembered.
	maxOpenRequests = 4096
	// maxEndedRequests bounds how many of them have ended without the headers of their answer, and how many headers are
	// known without their request: Chromium tells the two from different processes, in any order.
	maxEndedRequests = 64
)

// RefusalObserver is a [page.Observer] that tells whose requests a proxy has refused.
type RefusalObserver struct {
	attributor Attributor
	profile    string

	mu           sync.Mutex
	open         map[string]openRequest // by tab and request id: a worker's session tells of its requests, the page's of their headers
	failedEarly  []string               // keys of those that failed before their headers were told, oldest first
	refusedEarly []string               // keys of refusals whose request was not told yet, oldest first
}

type openRequest struct {
	address  string
	document bool
}

// NewRefusalObserver makes one for a connection to the browser of a profile.
func NewRefusalObserver(gate Attributor, profile string) *RefusalObserver {
	return &RefusalObserver{attributor: gate, profile: profile, open: map[string]openRequest{}}
}

// Attach asks nothing of new sessions.
func (*RefusalObserver) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements [page.Observer].
func (w *RefusalObserver) Event(t *page.Tab, _ *frame.Frame, ev cdp.Event) {
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

func (w *RefusalObserver) handleRequest(t *page.Tab, ev cdp.Event) {
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

// takeEarlyRefusal reports whether the refusal of a request was told before the request itself, and forgets it.
func (w *RefusalObserver) takeEarlyRefusal(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.refusedEarly, key)
	if i < 0 {
		return false
	}
	w.refusedEarly = slices.Delete(w.refusedEarly, i, i+1)
	return true
}

// key names a request. Chromium's ids of requests are unique among all processes of a browser.
func key(t *page.Tab, id string) string { return t.TargetID() + id }

func (w *RefusalObserver) addOpen(key string, r openRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= maxOpenRequests {
		clear(w.open)
	}
	w.open[key] = r
}

// handleResponse looks for answers that are the proxy's own. Those to requests across origins are told as extra
// information only.
func (w *RefusalObserver) handleResponse(t *page.Tab, ev cdp.Event) {
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
			if !strings.EqualFold(name, RefusedHeader) && !strings.EqualFold(name, FailedHeader) {
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

// handleFailure tells of requests that got no connection: a refused tunnel looks like that. What fails because it
// crosses origins may have had an answer, whose headers are told before or after.
func (w *RefusalObserver) handleFailure(t *page.Tab, ev cdp.Event) {
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

// keepFailed keeps a request whose headers may still be told.
func (w *RefusalObserver) keepFailed(key string) {
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

// handleWebSocket follows WebSockets, whose tunnels are refused without a word to the page.
func (w *RefusalObserver) handleWebSocket(t *page.Tab, ev cdp.Event) {
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

// takeOpen forgets a request that has ended.
func (w *RefusalObserver) takeOpen(t *page.Tab, ev cdp.Event) (openRequest, bool) {
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
