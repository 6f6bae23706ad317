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
