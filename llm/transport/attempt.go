package transport

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

	"clank/llm"
)

const maxErrorBody = 64 << 10

// Answers that are none of a model server's.
var (
	errWebPage   = errors.New("the answer is a web page")
	errNotEvents = errors.New("the answer is no stream of events")
	errEmpty     = errors.New("the answer is empty")
)

// Attempt carries one request of a vendor's client library. It stands between the library and the network: it turns
// error statuses into [StatusError] and cancels the request, for [ErrIdle], when an answer that has begun falls
// silent.
type Attempt struct {
	http  *http.Client
	clean func(string) string

	cancel context.CancelCauseFunc
	mu     sync.Mutex
	limit  time.Duration
	timer  *time.Timer
}

// NewAttempt carries a request over client. The context of the request must end
// by cancel; clean removes secrets from what a server says.
func NewAttempt(client *http.Client, limit time.Duration, cancel context.CancelCauseFunc,
	clean func(string) string,
) *Attempt {
	return &Attempt{http: client, limit: limit, cancel: cancel, clean: clean}
}

// Do sends req, whose answer must be a stream of events. It is what client libraries want of an HTTP client.
func (a *Attempt) Do(req *http.Request) (*http.Response, error) {
	resp, kind, err := a.Send(req)
	if err != nil {
		return nil, err
	}
	if isWhole(kind) {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: its type is %s", errNotEvents, kind)
	}
	return resp, nil
}

// Send sends req. The answer may be a stream of events or come in one piece, as
// its media type says, which is returned; [ReadEvents] reads either.
func (a *Attempt) Send(req *http.Request) (*http.Response, string, error) {
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	a.mu.Lock()
	a.timer = time.AfterFunc(a.limit, func() { a.cancel(ErrIdle) })
	a.mu.Unlock()
	resp.Body = &watchedBody{ReadCloser: resp.Body, left: maxAnswer, touch: func() {
		a.resetTimer()
		llm.ReportProgress(req.Context())
	}}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = resp.Body.Close() }() // read as far as we want it
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if req.Context().Err() != nil {
			return nil, "", context.Cause(req.Context())
		}
		return nil, "", newStatusError(resp, body, a.clean)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if strings.HasSuffix(kind, "html") {
		_ = resp.Body.Close()
		return nil, "", errWebPage
	}
	return resp, kind, nil
}

// ShortenTimeout lowers the limit from here on: what may still follow a whole answer
// is not waited for as long as the answer.
func (a *Attempt) ShortenTimeout(limit time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limit = min(a.limit, limit)
	if a.timer != nil {
		a.timer.Reset(a.limit)
	}
}

// StopTimer ends the watch. It is called once the answer is read.
func (a *Attempt) StopTimer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (a *Attempt) resetTimer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Reset(a.limit)
}

// maxAnswer bounds an answer, with all that is around it, in bytes.
const maxAnswer = 16 << 20

// watchedBody calls touch after each read that returned data, and fails if the body is empty or too long.
type watchedBody struct {
	io.ReadCloser
	left  int
	touch func()
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.left -= n; w.left < 0 {
		return 0, ErrTooLong
	}
	if n > 0 {
		w.touch()
	} else if errors.Is(err, io.EOF) && w.left == maxAnswer {
		return 0, errEmpty
	}
	return n, err
}

// NoRedirects returns a copy of c (nil: a plain client) that reports redirects instead of following them: a request
// that was redirected has lost its body or its key.
func NoRedirects(c *http.Client) *http.Client {
	copied := http.Client{}
	if c != nil {
		copied = *c
	}
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied
}
