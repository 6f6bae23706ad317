package record

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// The bounds of [Recorder.ResponseBody]; those who ask on behalf of others clamp to them.
const (
	DefaultBodyTimeout = 20 * time.Second
	MinBodyTimeout     = 500 * time.Millisecond

	DefaultBodyChars = 200_000
	MinBodyChars     = 1
	MaxBodyChars     = 5_000_000
)

// Response is an answer with its body.
type Response struct {
	URL       string            `json:"url"`
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"` // names in lower case, secrets removed
	Body      string            `json:"body"`
	Base64    bool              `json:"base64,omitempty"`    // the body is not text; Body is its base64 form
	Truncated bool              `json:"truncated,omitempty"` // Body is only the beginning
}

// bodyWaiter waits for one response. Its fields are guarded by the Recorder's mutex.
type bodyWaiter struct {
	match   func(string) bool
	id      string // of the request that matched
	url     string
	answer  networkResponse
	method  string
	matched chan struct{} // closed when it has
	ended   chan struct{} // closed when the body is there, or will never be
	body    *cdp.Call     // asked for when it was there
	failure string
}

// matchWaiters has waiters see an event. The caller holds r.mu.
func (l *tabLog) matchWaiters(f *frame.Frame, method string, p *networkEvent) {
	for w := range l.waiters {
		switch method {
		case "Network.responseReceived":
			x := l.requests.current(p.RequestID)
			if w.id != "" || x == nil || !w.match(p.Response.URL) && !w.match(x.URL) {
				continue
			}
			w.id, w.url, w.answer, w.method = p.RequestID, x.URL, p.Response, x.Method
			close(w.matched)
		case "Network.loadingFinished":
			if w.id == p.RequestID && w.body == nil && w.failure == "" {
				// The next page may take the place of this one at any moment, and its bodies with it.
				w.body = f.Begin(proto.NetworkGetResponseBody{RequestID: proto.NetworkRequestID(p.RequestID)})
				close(w.ended)
			}
		case "Network.loadingFailed":
			if w.id == p.RequestID && w.body == nil && w.failure == "" {
				w.failure = p.ErrorText
				close(w.ended)
			}
		}
	}
}

// ResponseBody waits for the next response whose address fits the pattern ([ParseURLPattern]) and returns it with its
// body, no more than maxChars characters of it. Redirects have no body and do not count. The time is for both: when it
// is over, the error wraps context.DeadlineExceeded and says what was missing. Errors wrap page.ErrTabGone,
// page.ErrTabCrashed or page.ErrBrowserGone when the tab went away, and the context's cause when it ended.
func (r *Recorder) ResponseBody(ctx context.Context, t *page.Tab, pattern string, timeout time.Duration, maxChars int) (Response, error) {
	match, err := ParseURLPattern(pattern)
	if err != nil {
		return Response{}, err
	}
	if timeout <= 0 || maxChars <= 0 {
		return Response{}, fault.Invalidf("timeoutMs and maxChars must be positive")
	}
	w := &bodyWaiter{match: match, matched: make(chan struct{}), ended: make(chan struct{})}
	r.mu.Lock()
	l := r.tabs[t]
	if l != nil {
		l.waiters[w] = struct{}{}
	}
	r.mu.Unlock()
	if l == nil {
		return Response{}, fmt.Errorf("wait for a response: %w", page.ErrTabGone)
	}
	defer func() {
		r.mu.Lock()
		delete(l.waiters, w)
		r.mu.Unlock()
	}()
	var res Response
	err = t.RunConcurrently(ctx, timeout, func(ctx context.Context) error {
		res, err = r.awaitBody(ctx, w, maxChars)
		return err
	})
	if err == nil {
		return res, nil
	}
	return Response{}, w.explain(err, pattern, timeout)
}

func (r *Recorder) awaitBody(ctx context.Context, w *bodyWaiter, maxChars int) (Response, error) {
	for _, step := range []chan struct{}{w.matched, w.ended} {
		select {
		case <-step:
		case <-ctx.Done():
			return Response{}, context.Cause(ctx)
		}
	}
	r.mu.Lock()
	call, failure := w.body, w.failure
	r.mu.Unlock()
	if call == nil {
		return Response{}, fmt.Errorf("the response %s broke off: %s", w.url, failure)
	}
	var got proto.NetworkGetResponseBodyResult
	err := call.Wait(ctx, &got)
	if err != nil && !w.bodiless(err) {
		if cdp.IsDocumentGone(err) || strings.Contains(err.Error(), "No resource with given identifier") {
			return Response{}, fmt.Errorf("the page moved on before the body of %s could be read; try again: %w", w.url, err)
		}
		return Response{}, fmt.Errorf("read the body of %s: %w", w.url, err)
	}
	res := Response{URL: w.url, Status: w.answer.Status}
	res.Headers, _ = cleanHeaders(w.answer.Headers)
	res.fill(got, maxChars)
	return res, nil
}

// bodiless says whether the error means that there is no body.
func (w *bodyWaiter) bodiless(err error) bool {
	return strings.Contains(err.Error(), "No data found") || w.method == "HEAD" || w.answer.Status == 204 || w.answer.Status == 304
}

// fill takes over the body. What Chromium takes for binary may be text all the same.
func (res *Response) fill(got proto.NetworkGetResponseBodyResult, maxChars int) {
	res.Body = got.Body
	if got.Base64Encoded {
		raw, err := base64.StdEncoding.DecodeString(got.Body)
		if err == nil && utf8.Valid(raw) && !strings.ContainsRune(string(raw), 0) {
			res.Body = string(raw)
		} else {
			res.Base64 = true
			maxChars = max(maxChars/4*4, 4) // whole groups can be decoded
		}
	}
	res.Body, res.Truncated = truncateText(res.Body, maxChars)
}

// explain puts into words why there is no response.
func (w *bodyWaiter) explain(err error, pattern string, timeout time.Duration) error {
	if limit := (*fault.TimeLimitError)(nil); !errors.As(err, &limit) {
		return err
	}
	select {
	case <-w.matched:
		// Clients of the control API match on this spelling.
		return fmt.Errorf("Response body read timed out after %dms: %s answered with status %d, but its body has not ended: %w",
			timeout.Milliseconds(), w.url, w.answer.Status, err)
	default:
		return fmt.Errorf("no response matched %q: %w; use the requests command to see which addresses the page asks for, and start "+
			"to wait before the page asks", pattern, err)
	}
}

// ParseURLPattern reads how the address of a response is described: whole, in part, or with * and ** for anything. The
// error wraps fault.ErrInvalid.
func ParseURLPattern(pattern string) (match func(url string) bool, err error) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" {
		return nil, fault.Invalidf("url is required")
	}
	if !strings.Contains(pattern, "*") {
		return func(url string) bool { return strings.Contains(url, pattern) }, nil
	}
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == '*' })
	return func(url string) bool { return url == pattern || matchGlob(url, pattern, parts) }, nil
}

// matchGlob reports whether the parts occur in the address one after the other, bound to its ends where the pattern has
// no star there. It takes linear time.
func matchGlob(url, pattern string, parts []string) bool {
	for i, part := range parts {
		first, last := i == 0 && pattern[0] != '*', i == len(parts)-1 && pattern[len(pattern)-1] != '*'
		at := strings.Index(url, part)
		switch {
		case at < 0 || first && at != 0:
			return false
		case last:
			return strings.HasSuffix(url, part) // after what matched before: url is the rest
		}
		url = url[at+len(part):]
	}
	return true
}
