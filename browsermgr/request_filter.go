package browsermgr

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

// requestFilter is a [page.Observer] that intercepts every request (CDP Fetch) of the pages of one connection until a
// policy has checked it, in the tabs' sessions and in the browser's root session, since shared workers and some
// sandboxed frames are only paused there. It is for browsers that we did not start, and best effort: WebSockets,
// WebTransport, WebRTC, DNS prefetching and reports are not paused. No other observer may continue requests; see
// emulate.Emulator.RequestsIntercepted.
type requestFilter struct {
	policy  RequestPolicy
	profile string
	log     *slog.Logger

	work sync.WaitGroup

	mu      sync.Mutex
	root    *cdp.Session // of the browser; nil before the first tab
	closed  bool
	pending map[string]context.CancelCauseFunc // running checks, by session and request id
}

// newRequestFilter returns a filter for a connection to the browser of a profile. The caller calls Close.
func newRequestFilter(gate RequestPolicy, profile string, logger *slog.Logger) *requestFilter {
	return &requestFilter{policy: gate, profile: profile, log: logger, pending: map[string]context.CancelCauseFunc{}}
}

// Close cancels running checks and waits for them.
func (j *requestFilter) Close() error {
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
func (j *requestFilter) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
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
func (j *requestFilter) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
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
func (j *requestFilter) sessionOf(f *frame.Frame) *cdp.Session {
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
func (j *requestFilter) beginCheck(key string) (context.Context, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || len(j.pending) >= maxPending {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j.pending[key] = cancel
	return ctx, true
}

func (j *requestFilter) endCheck(key string) {
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
func (j *requestFilter) refuse(h pausedRequest, why error) {
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
