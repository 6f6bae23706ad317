package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

const maxErrorBody = 64 << 10

// errNotEvents is an answer that is neither a stream of events nor JSON.
var errNotEvents = errors.New("not an answer of a model server")

// attempt carries one request. It stands between the client library and the
// network: it turns error statuses into errors that keep their header, watches
// for silence, and hands on a body the library can read.
type attempt struct {
	http      *http.Client
	idle      *idleClock
	clean     func(string) string
	anonymous bool      // the key of the request is a placeholder
	pictures  *pictures // of the request
	body      *dataBody // nil until there is one
}

func (a *attempt) client() *http.Client { return &http.Client{Transport: a} }

// RoundTrip implements http.RoundTripper.
func (a *attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	req, err := a.pictures.request(req)
	if err != nil {
		return nil, err
	}
	if a.anonymous {
		req = req.Clone(req.Context())
		req.Header.Del("X-Goog-Api-Key")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	a.idle.start()
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = resp.Body.Close() }() // read as far as we want it
		body, _ := io.ReadAll(io.LimitReader(a.idle.watch(resp.Body), maxErrorBody))
		if req.Context().Err() != nil {
			return nil, context.Cause(req.Context())
		}
		return nil, newStatusError(resp, body, a.clean)
	}
	body := a.idle.watch(resp.Body)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case strings.HasSuffix(kind, "json"):
		a.body = &dataBody{next: wholeBody(body), close: resp.Body.Close}
	case strings.HasSuffix(kind, "html"):
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: it is a web page", errNotEvents)
	default:
		a.body = &dataBody{next: newEventReader(body).next, close: resp.Body.Close}
	}
	resp.Body = a.body
	return resp, nil
}

// why is the error behind one that the client library gave: what happened to
// the body, if it was that.
func (a *attempt) why(err error) error {
	if a.body != nil && a.body.err != nil && !errors.Is(a.body.err, io.EOF) {
		return a.body.err
	}
	return err
}

// idleClock cancels a call when no byte arrives for limit.
type idleClock struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	limit time.Duration
	timer *time.Timer
}

// start begins to measure; before it, only the deadline of the call counts.
func (c *idleClock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(c.limit, func() { c.cancel(errIdle) })
}

func (c *idleClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

// shorten lowers the limit from here on.
func (c *idleClock) shorten(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = min(c.limit, limit)
	c.timer.Reset(c.limit)
}

func (c *idleClock) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Reset(c.limit)
}

// watch restarts the clock with each byte read.
func (c *idleClock) watch(r io.Reader) io.Reader { return &watched{r: r, clock: c} }

type watched struct {
	r     io.Reader
	clock *idleClock
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.clock.touch()
	}
	return n, err
}
