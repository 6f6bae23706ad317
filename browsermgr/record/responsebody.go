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

// Limits of [Recorder.ResponseBody]; callers clamp to them.
const (
	DefaultBodyTimeout = 20 * time.Second
	MinBodyTimeout     = 500 * time.Millisecond

	DefaultBodyChars = 200_000
	MinBodyChars     = 1
	MaxBodyChars     = 5_000_000
)

// Response is a response with its body.
type Response struct {
	URL       string            `json:"url"`
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"` // names in lower case, secrets removed
	Body      string            `json:"body"`
	Base64    bool              `json:"base64,omitempty"`    // Body is base64, because it is not text
	Truncated bool              `json:"truncated,omitempty"` // Body is truncated
}

// bodyWaiter waits for one response. The Recorder's mutex guards its fields.
type bodyWaiter struct {
	match   func(string) bool
	id      string // of the matching request
	url     string
	answer  networkResponse
	method  string
	matched chan struct{} // closed when a response matched
	ended   chan struct{} // closed when the body is available or never will be
	body    *cdp.Call     // requested when it became available
	failure string
}

// matchWaiters passes an event to the waiters. The caller holds r.mu.
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
				// Request it now: the page may navigate at any moment, and Chromium then drops its bodies.
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

// ResponseBody waits for the next response whose URL matches the pattern ([ParseURLPattern]) and returns it with at
// most maxChars characters of its body. Redirects have no body and do not count. timeout covers both; when it ends, the
// error wraps context.DeadlineExceeded and says what was missing. Errors wrap page.ErrTabGone, page.ErrTabCrashed or
// page.ErrBrowserGone if the tab is gone, or the cause of ctx.
func (r *Recorder) ResponseBody(ctx context.Context, t *page.Tab, pattern string, timeout time.Duration,
	maxChars int,
) (Response, error) {
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
		return Response{}, fmt.Errorf("the response %s ended early: %s", w.url, failure)
	}
	var got proto.NetworkGetResponseBodyResult
	err := call.Wait(ctx, &got)
	if err != nil && !w.bodiless(err) {
		if cdp.IsDocumentGone(err) || strings.Contains(err.Error(), "No resource with given identifier") {
			return Response{}, fmt.Errorf("the page navigated before the body of %s could be read; try again: %w", w.url, err)
		}
		return Response{}, fmt.Errorf("read the body of %s: %w", w.url, err)
	}
	res := Response{URL: w.url, Status: w.answer.Status}
	res.Headers, _ = cleanHeaders(w.answer.Headers)
	res.fill(got, maxChars)
	return res, nil
}

// bodiless reports whether the error means that the response has no body.
func (w *bodyWaiter) bodiless(err error) bool {
	return strings.Contains(err.Error(), "No data found") || w.method == "HEAD" || w.answer.Status == 204 ||
		w.answer.Status == 304
}

// fill stores the body. Chromium may report text as binary.
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

// explain says why there is no response.
func (w *bodyWaiter) explain(err error, pattern string, timeout time.Duration) error {
	limit, ok := errors.AsType[*fault.TimeLimitError](err)
	if !ok {
		return err
	}
	select {
	case <-w.matched:
		// Clients of the control API match on this spelling.
		return fmt.Errorf("Response body read timed out after %dms: %s answered with status %d, but its body has not "+
			"ended: %w",
			timeout.Milliseconds(), w.url, w.answer.Status, err)
	default:
		over := &fault.TimeLimitError{Limit: limit.Limit, Unmet: fmt.Sprintf("no response matched %q", pattern)}
		return fmt.Errorf("%w; use the requests command to see which addresses the page asks for, "+
			"and start to wait before the page asks", over)
	}
}

// ParseURLPattern parses a pattern for URLs: the whole URL, a part of it, or a glob with * and **, both of which match
// anything. The error wraps fault.ErrInvalid.
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

// matchGlob reports whether the parts occur in the URL in order, anchored where the pattern does not begin or end with
// a star. It takes linear time.
func matchGlob(url, pattern string, parts []string) bool {
	for i, part := range parts {
		first, last := i == 0 && pattern[0] != '*', i == len(parts)-1 && pattern[len(pattern)-1] != '*'
		at := strings.Index(url, part)
		switch {
		case at < 0 || first && at != 0:
			return false
		case last:
			return strings.HasSuffix(url, part) // url is the rest after the previous match
		}
		url = url[at+len(part):]
	}
	return true
}
