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

// RequestPolicy judges requests. It is asked from many goroutines.
type RequestPolicy interface {
	Attributor
	// AllowRequest is nil if a page of the profile may ask for the http or https address, and otherwise says why not.
	AllowRequest(ctx context.Context, profile, address string) error
}

const (
	// checkLimit bounds the judgement of one request; one that is not judged by then is refused.
	checkLimit = 90 * time.Second
	// maxPending bounds how many requests of a connection wait for a judgement; more are refused.
	maxPending = 256
)

// RequestFilter is a [page.Observer] that holds every request of the pages of one connection until a gate has judged
// it. Beside it nobody may let requests go on; see emulate.Emulator.RequestsIntercepted.
type RequestFilter struct {
	policy  RequestPolicy
	profile string
	log     *slog.Logger

	work sync.WaitGroup

	mu      sync.Mutex
	root    *cdp.Session // of the browser; nil before the first tab
	closed  bool
	pending map[string]context.CancelCauseFunc // judgements under way, by session and request id
}

// NewRequestFilter makes one for a connection to the browser of a profile. Close ends it.
func NewRequestFilter(gate RequestPolicy, profile string, logger *slog.Logger) *RequestFilter {
	return &RequestFilter{policy: gate, profile: profile, log: logger, pending: map[string]context.CancelCauseFunc{}}
}

// Close ends judgements that are under way, and waits for them.
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

// Attach has the requests of a new session held. That is sent at once, so that it comes before what those who answer
// challenges ask of the same domain. The first time, the browser is asked the same: it holds what no session of a tab
// does, requests of workers that are shared between pages and the first ones of frames that get a process of their own
// without a request. What a tab's session holds is held there once more.
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

// pausedRequest is a request that waits.
type pausedRequest struct {
	ID       proto.FetchRequestID `json:"requestId"`
	Type     string               `json:"resourceType"`
	Response int                  `json:"responseStatusCode"`
	Request  struct {
		URL string `json:"url"`
	} `json:"request"`

	session *cdp.Session // that holds it
	tab     *page.Tab    // nil if the browser holds it
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

// sessionOf returns the session of a frame, or the browser's.
func (j *RequestFilter) sessionOf(f *frame.Frame) *cdp.Session {
	if f != nil {
		return f.Session
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.root
}

// errEnded says that nobody waits for a judgement any more.
var errEnded = errors.New("the connection to the browser has ended")

// beginCheck makes the context of a judgement; false if there are too many, or the connection has ended.
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

// needsNetwork reports whether an address is fetched from somewhere.
func needsNetwork(address string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	// What nobody knows needs it, too: the gate refuses what it cannot read.
	return !slices.Contains([]string{"data", "blob", "about", "chrome", "chrome-extension", "devtools", "chrome-error"}, scheme)
}

// refuse lets a request fail. A document is given up, so that the page stays that was there.
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
