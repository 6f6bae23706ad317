package transport_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/transport"
)

// answer returns a handler that gives an answer of this type.
func answer(kind, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, body)
	}
}

func TestAnswersThatAreNoneAreDescribed(t *testing.T) {
	const events, packed = "text/event-stream", "\x1f\x8b\b\x00\x00\x00\x00\x00\x00\x00"
	none := answer(events, "")
	page, whole := answer("text/html; charset=utf-8", "<p>hi"), answer("application/json", "{}")
	unpacked := answer(events, "this is not packed", "Content-Encoding", "gzip")
	broken := answer(events, packed+"\xff", "Content-Encoding", "gzip")
	for name, tt := range map[string]struct {
		serve   http.HandlerFunc
		tls     bool // of the server
		scheme  string
		kind    llm.ErrorKind
		says    string
		passing bool
	}{
		"a web page":    {page, false, "http", llm.ErrMalformed, "a web page", false},
		"no events":     {whole, false, "http", llm.ErrMalformed, "speaks the Test API", false},
		"nothing":       {none, false, "http", llm.ErrCutOff, "answered with nothing", false},
		"not packed":    {unpacked, false, "http", llm.ErrMalformed, "decompressed", false},
		"badly packed":  {broken, false, "http", llm.ErrMalformed, "decompressed", false},
		"no TLS":        {none, false, "https", llm.ErrUnavailable, "does not speak TLS", false},
		"a certificate": {none, true, "https", llm.ErrUnavailable, "certificate", false},
		"a redirect": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			false, "http", llm.ErrRejected, "redirects to /elsewhere", false,
		},
		"several choices": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMultipleChoices) },
			false, "http", llm.ErrRejected, "redirects to somewhere else", false,
		},
		"a closed connection": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			false, "http", llm.ErrUnavailable, "closed the connection", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(tt.serve)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			if tt.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			_, host, _ := strings.Cut(server.URL, "://")
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, tt.scheme+"://"+host, nil)
			check.Must(t, err)
			a := transport.NewAttempt(transport.NoRedirects(nil), time.Minute, cancel, func(s string) string { return s })
			defer a.StopTimer()
			resp, err := a.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			describes(t, name, err, tt.kind, tt.says, tt.passing)
		})
	}
}

// describes checks how an error is described.
func describes(t *testing.T, name string, err error, kind llm.ErrorKind, says string, passing bool) {
	t.Helper()
	e := &llm.Error{}
	got := transport.DescribeError(e, err, transport.Endpoint{
		Host: "h", DisplayURL: "http://h/v1", API: "Test API", KeyEnv: "MY_KEY", HasKey: true, Model: "gpt-4o",
	}, transport.RetryPolicy{Timeout: time.Minute, Idle: time.Second})
	if text := e.Message + "; " + e.Hint; e.Kind != kind || got != passing || !strings.Contains(text, says) {
		t.Errorf("%s: %v is %s, %q, passing %v; want %s, %q, %v", name, err, e.Kind, text, got, kind, says, passing)
	}
}

func TestFailuresOnTheWayAreDescribed(t *testing.T) {
	var none net.ListenConfig
	l, err := none.Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.Must(t, err)
	check.Must(t, l.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
	check.Must(t, err)
	resp, refused := http.DefaultClient.Do(req)
	if refused == nil {
		_ = resp.Body.Close()
	}
	status := func(code int, message string) error { return &transport.StatusError{Status: code, Message: message} }
	cut, garbled := &transport.TruncatedError{Err: io.ErrUnexpectedEOF}, &transport.MalformedError{Err: errors.New("odd")}
	wait := &transport.StatusError{Status: 429, RetryAfter: 1234 * time.Millisecond}
	for name, tt := range map[string]struct {
		err     error
		kind    llm.ErrorKind
		says    string
		passing bool
	}{
		"refused":       {refused, llm.ErrUnavailable, "is the server running?", true},
		"cut off":       {io.ErrUnexpectedEOF, llm.ErrUnavailable, "closed the connection", true},
		"no host":       {&net.DNSError{Name: "nowhere"}, llm.ErrUnavailable, "there is no host nowhere", false},
		"unknown":       {errors.New("odd"), llm.ErrUnavailable, "cannot be reached", false},
		"too slow":      {transport.ErrTimeout, llm.ErrTimeout, "within 1m0s", false},
		"silent":        {transport.ErrIdle, llm.ErrTimeout, "nothing came for 1s", false},
		"too long":      {transport.ErrTooLong, llm.ErrMalformed, "longer than 16 MiB", false},
		"half a one":    {cut, llm.ErrCutOff, "cut off in the middle", false},
		"garbled":       {garbled, llm.ErrMalformed, "check that http://h/v1", false},
		"broken off":    {&transport.StreamError{}, llm.ErrUnavailable, "no reason given", false},
		"bad request":   {status(400, "odd"), llm.ErrRejected, "h answered 400: odd", false},
		"bad key":       {status(401, ""), llm.ErrAuth, "set MY_KEY to a valid key", false},
		"bad model":     {status(404, "No such Model"), llm.ErrNotFound, `no model "gpt-4o"`, false},
		"old model":     {status(404, "model"), llm.ErrNotFound, "gpt-6-luna", false},
		"bad address":   {status(404, ""), llm.ErrNotFound, "http://h/v1 has no Test API", false},
		"too much":      {status(413, ""), llm.ErrRejected, "start a new one", false},
		"too often":     {status(429, ""), llm.ErrRateLimited, "no reason given; wait a little", true},
		"asked to wait": {wait, llm.ErrRateLimited, "it asks to wait 1.2s", true},
	} {
		describes(t, name, tt.err, tt.kind, tt.says, tt.passing)
	}
}
