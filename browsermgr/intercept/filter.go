package intercept

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// RequestPolicy checks requests. It must be safe for concurrent use.
type RequestPolicy interface {
	Attributor
	// AllowRequest returns nil if a page of the profile may request the http or https address, and otherwise the
	// reason.
	AllowRequest(ctx context.Context, profile, address string) error
}

const (
	// checkLimit bounds the check of a request, which is refused if it takes longer.
	checkLimit = 90 * time.Second
	// maxPending bounds the requests of a connection that wait for a check; further ones are refused.
	maxPending = 256
)

// RequestFilter is a [page.Observer] that intercepts every request of the pages of one connection until a policy has
// checked it. No other observer may continue requests; see emulate.Emulator.RequestsIntercepted.
type RequestFilter struct {
	policy  RequestPolicy
	profile string
	log     *slog.Logger

	work sync.WaitGroup

	mu      sync.Mutex
	root    *cdp.Session // of the browser; nil before the first tab
	closed  bool
	pending map[string]context.CancelCauseFunc // running checks, by session and request id
}

// NewRequestFilter returns a filter for a connection to the browser of a profile. The caller calls Close.
func NewRequestFilter(gate RequestPolicy, profile string, logger *slog.Logger) *RequestFilter {
	return &RequestFilter{policy: gate, profile: profile, log: logger, pending: map[string]context.CancelCauseFunc{}}
}

// Close cancels running checks and waits for them.
func (j *RequestFilter) Close() error {
	j.mu.Lock()
	j.closed = true
	for _, cancel := range j.pending {
		cancel(errEnded)
	}
	j.mu.Unlock()
	j.work.Wait()
	return nil
}

// Attach enables interception in a new session. It sends that at once, so that it precedes requests of other observers
// to the Fetch domain. The first time, it also enables interception in the browser's root session, for what no tab's
// session intercepts: requests of shared workers, and first requests of frames that get a new process without a
// request. A request that a tab's session intercepts is intercepted there again.
func (j *RequestFilter) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	everything := proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*"}}}
	j.mu.Lock()
	first := j.root == nil
	if first {
		j.root = t.Browser().RootSession()
	}
	root := j.root
	j.mu.Unlock()
	if first {
		root.Post(everything)
	}
	f.Post(everything)
	return []proto.Request{proto.PageEnable{}}
}

// pausedRequest is an intercepted request.
type pausedRequest struct {
	ID       proto.FetchRequestID `json:"requestId"`
	Type     string               `json:"resourceType"`
	Response int                  `json:"responseStatusCode"`
	Request  struct {
		URL string `json:"url"`
	} `json:"request"`

	session *cdp.Session // that intercepted it
	tab     *page.Tab    // nil if the root session intercepted it
}

// Event implements [page.Observer].
func (j *RequestFilter) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var h pausedRequest
	if ev.Method != "Fetch.requestPaused" || !ev.Decode(&h) {
		return
	}
	h.tab, h.session = t, j.sessionOf(f)
	if h.session == nil {
		return
	}
	if !needsNetwork(h.Request.URL) {
		h.session.Post(proto.FetchContinueRequest{RequestID: h.ID})
		return
	}
	key := ev.Session + string(h.ID)
	ctx, ok := j.beginCheck(key)
	if !ok {
		j.refuse(h, errors.New("too many requests wait for a judgement"))
		return
	}
	j.work.Go(func() {
		defer j.endCheck(key)
		ctx, cancel := context.WithTimeout(ctx, checkLimit)
		defer cancel()
		if err := j.policy.AllowRequest(ctx, j.profile, h.Request.URL); err != nil {
			j.refuse(h, err)
			return
		}
		h.session.Post(proto.FetchContinueRequest{RequestID: h.ID})
	})
}

// sessionOf returns the session of a frame, or the root session.
func (j *RequestFilter) sessionOf(f *frame.Frame) *cdp.Session {
	if f != nil {
		return f.Session
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.root
}

// errEnded cancels checks when the connection has ended.
var errEnded = errors.New("the connection to the browser has ended")

// beginCheck returns the context of a check; ok is false if there are too many, or the connection has ended.
func (j *RequestFilter) beginCheck(key string) (context.Context, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || len(j.pending) >= maxPending {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j.pending[key] = cancel
	return ctx, true
}

func (j *RequestFilter) endCheck(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if cancel := j.pending[key]; cancel != nil {
		cancel(nil)
		delete(j.pending, key)
	}
}

// needsNetwork reports whether fetching an address uses the network.
func needsNetwork(address string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	// Unknown schemes count: the policy refuses them.
	return !slices.Contains([]string{"data", "blob", "about", "chrome", "chrome-extension", "devtools", "chrome-error"},
		scheme)
}

// refuse fails a request. A document is aborted, so that the present page stays.
func (j *RequestFilter) refuse(h pausedRequest, why error) {
	document := h.Type == "Document"
	reason := proto.NetworkErrorReasonBlockedByClient
	if document {
		reason = proto.NetworkErrorReasonAborted
	}
	if h.tab != nil {
		j.log.Debug("request of a page refused", "profile", j.profile, "tab", h.tab.ID(), "error", why)
		j.policy.AttributeRefusal(j.profile, h.tab.TargetID(), h.Request.URL, document)
	} else {
		j.log.Debug("request refused", "profile", j.profile, "error", why)
	}
	h.session.Post(proto.FetchFailRequest{RequestID: h.ID, ErrorReason: reason})
}

// RefusedHeader is the header of the proxy's responses to refused requests; its value is the rule. FailedHeader is the
// header of its responses if the server could not be reached.
const (
	RefusedHeader = "X-Clank-Refused"
	FailedHeader  = "X-Clank-Failed"
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

// RefusalObserver is a [page.Observer] that finds the tabs of requests that a proxy refused.
type RefusalObserver struct {
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

// NewRefusalObserver returns an observer for a connection to the browser of a profile.
func NewRefusalObserver(gate Attributor, profile string) *RefusalObserver {
	return &RefusalObserver{attributor: gate, profile: profile, open: map[string]openRequest{}}
}

// Attach implements [page.Observer]. It requests nothing.
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

// takeEarlyRefusal reports whether the refusal of a request was reported before the request, and forgets it.
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

// key identifies a request. Chromium's request ids are unique among all processes of a browser.
func key(t *page.Tab, id string) string { return t.TargetID() + id }

func (w *RefusalObserver) addOpen(key string, r openRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= maxOpenRequests {
		clear(w.open)
	}
	w.open[key] = r
}

// handleResponse looks for responses of the proxy itself. For cross-origin requests, headers are only in ExtraInfo
// events.
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

// handleFailure handles requests that failed, as after a refused CONNECT. A request that failed because it is
// cross-origin may have had a response, whose headers are reported before or after.
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

// keepFailed keeps a request whose headers may still be reported.
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

// handleWebSocket tracks WebSockets, for which no response to a refused CONNECT is reported.
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

// takeOpen removes and returns a request that has ended.
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
