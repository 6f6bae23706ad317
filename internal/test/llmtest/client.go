package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/transport"
)

// Ask returns a request with text as the user's message.
func Ask(text string) llm.Request { return llm.Request{Messages: []llm.Message{llm.UserText(text)}} }

// Generate returns the model's reply to req, which must succeed.
func Generate(tb testing.TB, m llm.Model, req llm.Request) llm.Reply {
	tb.Helper()
	reply, err := m.Generate(tb.Context(), req, nil)
	check.Must(tb, err)
	return reply
}

// Failure returns the error of a call that must fail.
func Failure(tb testing.TB, m llm.Model, kind llm.ErrorKind) *llm.Error {
	tb.Helper()
	_, err := m.Generate(tb.Context(), Ask("hello"), nil)
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != kind {
		tb.Fatalf("err = %v, want an *llm.Error of kind %s", err, kind)
	}
	return told
}

// JSONBody returns the body of a request as the vendor sees it.
func (r Request) JSONBody(tb testing.TB) map[string]any {
	tb.Helper()
	var o map[string]any
	check.Must(tb, json.Unmarshal(r.Body, &o))
	return o
}

// Results returns the messages after a reply: the same result for each of its calls.
func Results(reply llm.Reply, text string) []llm.Message {
	results := llm.Message{Role: llm.RoleUser}
	for _, c := range reply.Calls() {
		results.Parts = append(results.Parts, llm.Part{Result: &llm.ToolResult{ID: c.ID, Text: text}})
	}
	return []llm.Message{reply.Message, results}
}

// Client is a client of a model server, for [TestClient].
type Client struct {
	Serve   func(tb testing.TB, script ...Turn) *Server
	Open    func(tb testing.TB, baseURL string, p transport.RetryPolicy) llm.Model
	Key     string // must not appear in errors
	Keyless error  // the error of a client of the vendor's own server without a key
	Midway  int    // number of events that are sent when a part of the text was sent
}

// open returns a model of s with short timeouts unless changed.
func (c Client) open(tb testing.TB, s *Server, changes ...func(*transport.RetryPolicy)) llm.Model {
	tb.Helper()
	p := transport.RetryPolicy{Timeout: 20 * time.Second, Idle: 10 * time.Second, Backoff: time.Millisecond}
	for _, change := range changes {
		change(&p)
	}
	return c.Open(tb, s.BaseURL(), p)
}

// TestClient checks the common behavior of vendor clients: which failures are reported and retried, and that silence
// and cancellation end a call at each point.
func TestClient(t *testing.T, c Client) {
	t.Helper()
	var told *llm.Error
	if !errors.As(c.Keyless, &told) || told.Kind != llm.ErrAuth || !strings.Contains(told.Hint, "_API_KEY") {
		t.Errorf("without a key: err = %v, want kind auth and where to set it", c.Keyless)
	}
	for name, test := range map[string]func(*testing.T, Client){
		"text streams and is returned whole":      testText,
		"passing trouble is tried again and told": testPassingTrouble,
		"lasting trouble ends the tries":          testLastingTrouble,
		"a spoiled stream is never an answer":     testSpoiledStreams,
		"a lively server is listened to":          testLivelyServers,
		"malformed arguments can be answered":     testMalformedArguments,
		"one model serves many at once":           testManyAtOnce,
		"silence is bounded":                      testSilence,
		"a stop is immediate":                     testStop,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

func testText(t *testing.T, c Client) {
	t.Helper()
	usage := llm.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 20, ReasoningTokens: 5}
	const said, thought = "Hello there, Ada.", "let me think"
	server := c.Serve(t, Answer(Reply{
		Reasoning: &Reasoning{Summary: thought, Encrypted: "c2ln"}, Text: said,
		Usage: &usage,
	}))
	var text, reasoning []string
	reply, err := c.open(t, server).Generate(t.Context(), llm.Request{
		System: "be brief", Messages: []llm.Message{llm.UserText("hi")}, MaxTokens: 500,
	}, func(d llm.Delta) {
		text, reasoning = append(text, d.Text), append(reasoning, d.Reasoning)
	})
	check.Must(t, err)
	if got := strings.Join(text, ""); reply.Text() != said || got != said || len(text) < 2 ||
		strings.Join(reasoning, "") != thought {
		t.Errorf("text %q, streamed %q after %q; want %q", reply.Text(), text, reasoning, said)
	}
	if reply.Stop != llm.StopEnd || reply.Message.Role != llm.RoleAssistant {
		t.Errorf("stop %q, role %q; want end, assistant", reply.Stop, reply.Message.Role)
	}
	usage.Calls, usage.USD, usage.Unpriced = 1, reply.Usage.USD, reply.Usage.Unpriced
	check.Equal(t, "usage", reply.Usage, usage)
	if r := server.Requests()[0]; r.System != "be brief" || r.MaxTokens != 500 || !r.Stream || r.LastText() != "hi" {
		t.Errorf("request %+v", r.Request)
	}
}

func testPassingTrouble(t *testing.T, c Client) {
	t.Helper()
	for _, status := range []int{429, 500, 502, 503, 504} {
		said := "busy with " + c.Key
		server := c.Serve(t, Fail(status, "", said), SayWithFault("", Fault{
			Status: status, Message: said, Header: map[string]string{"Retry-After-Ms": "30"},
		}), Say("fine"))
		var log bytes.Buffer
		var retries []transport.RetryEvent
		m := c.open(t, server, func(p *transport.RetryPolicy) {
			p.Logger = slog.New(slog.NewTextHandler(&log, nil))
			p.OnRetry = func(r transport.RetryEvent) { retries = append(retries, r) }
		})
		if got := Generate(t, m, Ask("hi")).Text(); got != "fine" {
			t.Errorf("%d: got %q, want fine", status, got)
		}
		if len(retries) != 2 || retries[0].Try != 1 || retries[1].Wait != 30*time.Millisecond ||
			!strings.Contains(retries[0].Err.Error(), "busy") {
			t.Errorf("%d: retries told %v, want two with their reason, the second after 30ms", status, retries)
		}
		if n := strings.Count(log.String(), "trying again"); n != 2 ||
			strings.Contains(log.String()+fmt.Sprint(retries), c.Key) {
			t.Errorf("%d: %d lines in the log, want 2 without the key: %s", status, n, log.String())
		}
	}
}

func testLastingTrouble(t *testing.T, c Client) {
	t.Helper()
	server := c.Serve(t)
	server.SetFallback(Fail(503, "", "overloaded"))
	if told := Failure(t, c.open(t, server), llm.ErrUnavailable); told.Status != 503 || len(server.Requests()) != 3 {
		t.Errorf("status %d after %d tries; want 503 after 3", told.Status, len(server.Requests()))
	}
	spent := errors.New("spent")
	ctx := llm.WithRetryApproval(t.Context(), func(error) error { return spent })
	if _, err := c.open(t, server).Generate(ctx, Ask("hi"), nil); !errors.Is(err, spent) || len(server.Requests()) != 4 {
		t.Errorf("err = %v after %d requests, want no second try without a yes", err, len(server.Requests())-3)
	}
	server = c.Serve(t, SayWithFault("", Fault{Status: 429, Header: map[string]string{"Retry-After": "90"}}))
	told := Failure(t, c.open(t, server), llm.ErrRateLimited)
	if told.RetryAfter != 90*time.Second || !strings.Contains(told.Error(), "1m30s") {
		t.Errorf("error %q with RetryAfter %v, want 1m30s in both", told, told.RetryAfter)
	}
	server.Close()
	if told := Failure(t, c.open(t, server), llm.ErrUnavailable); !strings.Contains(told.Error(), "127.0.0.1") ||
		!strings.Contains(told.Error(), "is the server running?") {
		t.Errorf("error %q, want the address and the question", told)
	}
}

func testSpoiledStreams(t *testing.T, c Client) {
	t.Helper()
	for _, cut := range []Cut{CutClean, CutClose, CutReset} {
		heard, hear := context.WithCancel(t.Context())
		server := c.Serve(t, SayWithFault("one two three four", Fault{Cut: cut, At: c.Midway, Release: heard.Done()}))
		streamed := ""
		reply, err := c.open(t, server).Generate(t.Context(), Ask("hi"), func(d llm.Delta) {
			streamed += d.Text
			hear() // a reset may discard unread bytes
		})
		var told *llm.Error
		if !errors.As(err, &told) || told.Kind != llm.ErrCutOff || reply.Text() != "" || streamed == "" ||
			len(server.Requests()) != 1 {
			t.Errorf("cut %d: got %q after %q, %v and %d requests; want an error of kind cut_off after one",
				cut, reply.Text(), streamed, err, len(server.Requests()))
		}
	}
	server := c.Serve(t, SayWithFault("a b c d", Fault{
		StreamError: "the GPU melted with " + c.Key, At: c.Midway,
		Comments: 1,
	}))
	if told := Failure(t, c.open(t, server), llm.ErrUnavailable); !strings.Contains(told.Error(), "the GPU melted") ||
		strings.Contains(told.Error(), c.Key) {
		t.Errorf("error %q, want the server's words without the key", told)
	}
	garbage := "{not json"
	for _, reply := range []Reply{{Events: []string{garbage}}, {Fault: Fault{Body: &garbage}}} {
		_ = Failure(t, c.open(t, c.Serve(t, Answer(reply))), llm.ErrMalformed)
	}
}

func testLivelyServers(t *testing.T, c Client) {
	t.Helper()
	for name, f := range map[string]Fault{
		"it never hangs up": {Hang: InStream, At: 1000}, "it comments": {Comments: 400},
	} {
		check.Equal(t, name, Generate(t, c.open(t, c.Serve(t, SayWithFault("still here", f))), Ask("hi")).Text(),
			"still here")
	}
}

func testMalformedArguments(t *testing.T, c Client) {
	t.Helper()
	for _, arguments := range []string{`{"ref": e1`, `[1]`, `x=1`} {
		m := c.open(t, c.Serve(t, Use("click", arguments), Say("sorry")))
		req := Ask("click")
		req.Tools = []llm.Tool{{Name: "click", Description: "Clicks."}}
		reply := Generate(t, m, req)
		if calls := reply.Calls(); len(calls) != 1 || !strings.Contains(calls[0].Malformed, arguments) ||
			string(calls[0].Input) != "{}" {
			t.Fatalf("calls %+v; want one marked malformed, with an empty object", reply.Calls())
		}
		req.Messages = append(req.Messages, Results(reply, "not JSON")...)
		Generate(t, m, req)
	}
}

func testManyAtOnce(t *testing.T, c Client) {
	t.Helper()
	server := c.Serve(t)
	server.SetFallback(func(r Request) Reply { return Reply{Text: "echo " + r.LastText()} })
	m := c.open(t, server)
	var wg sync.WaitGroup
	for name := range strings.FieldsSeq("a b c d e f g h") {
		wg.Go(func() {
			reply, err := m.Generate(t.Context(), Ask(name), nil)
			if err != nil || reply.Text() != "echo "+name {
				t.Errorf("%s: got %q, %v", name, reply.Text(), err)
			}
		})
	}
	wg.Wait()
}

func testSilence(t *testing.T, c Client) {
	t.Helper()
	for name, tt := range map[string]struct {
		fault         Fault
		timeout, idle time.Duration
		says          string
	}{
		"no header within the call's time": {
			Fault{Hang: BeforeHeaders},
			150 * time.Millisecond, time.Minute,
			"no complete answer within 150ms",
		},
		"header, then nothing": {Fault{Hang: InStream}, time.Minute, 100 * time.Millisecond, "stalled"},
		"silence in the middle": {
			Fault{Hang: InStream, At: c.Midway},
			time.Minute, 100 * time.Millisecond,
			"stalled",
		},
		"a trickle without end": {
			Fault{Trickle: 20 * time.Millisecond},
			300 * time.Millisecond, time.Minute,
			"no complete answer within 300ms",
		},
	} {
		server := c.Serve(t, SayWithFault("one two three four", tt.fault))
		m := c.open(t, server, func(p *transport.RetryPolicy) { p.Timeout, p.Idle = tt.timeout, tt.idle })
		if told := Failure(t, m, llm.ErrTimeout); !strings.Contains(told.Error(), tt.says) {
			t.Errorf("%s: error %q does not say %q", name, told, tt.says)
		}
		if len(server.Requests()) > 0 { // on a busy machine there may be none
			awaitGone(t, server)
		}
	}
}

// awaitGone waits until the client has closed the connection of its first request.
func awaitGone(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := server.Await(ctx, 0, Ended); err != nil {
		t.Errorf("the connection is still open: %v", err)
	}
}

func testStop(t *testing.T, c Client) {
	t.Helper()
	stopped := errors.New("stopped by ada")
	for name, fault := range map[string]Fault{
		"waiting for the header": {Hang: BeforeHeaders},
		"before an event":        {Hang: InStream},
		"in the middle":          {Hang: InStream, At: c.Midway},
		"waiting to try again":   {Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "15"}},
	} {
		server := c.Serve(t, SayWithFault("one two three", fault))
		ctx, stop := context.WithCancelCause(t.Context())
		m := c.open(t, server, func(p *transport.RetryPolicy) { p.OnRetry = func(transport.RetryEvent) { stop(stopped) } })
		done := make(chan error, 1)
		go func() {
			_, err := m.Generate(ctx, Ask("hi"), func(llm.Delta) { stop(stopped) })
			done <- err
		}()
		if fault.At == 0 && fault.Status == 0 {
			waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
			check.Must(t, check.Err(server.Await(waiting, 0, func(r Request) bool { return !r.Received.IsZero() })))
			cancel()
			stop(stopped)
		}
		select {
		case err := <-done:
			if !errors.Is(err, stopped) || err.Error() != stopped.Error() {
				t.Errorf("%s: err = %v, want the cause itself", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the call goes on after the stop", name)
		}
		awaitGone(t, server)
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%s: %d requests, want none after the stop", name, n)
		}
		if _, err := m.Generate(ctx, Ask("hi"), nil); !errors.Is(err, stopped) || len(server.Requests()) != 1 {
			t.Errorf("%s: a call after the stop sends something, %v", name, err)
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	deltas := 0
	_, err := c.open(t, c.Serve(t, Say("one two three four five"))).Generate(ctx, Ask("hi"), func(llm.Delta) {
		deltas++
		stop(stopped)
	})
	if !errors.Is(err, stopped) || deltas != 1 {
		t.Errorf("%d deltas, err %v; want 1 and the cause", deltas, err)
	}
}

// Tape is a transport that gives each request the same response and stores the requests.
type Tape struct {
	Kind     string // media type of the response; empty means an event stream
	Body     string
	Status   int // 0 means 200
	Requests []*http.Request
	Bodies   [][]byte
}

// RoundTrip implements [http.RoundTripper].
func (s *Tape) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if int64(len(body)) != r.ContentLength {
		return nil, io.ErrUnexpectedEOF
	}
	s.Requests, s.Bodies = append(s.Requests, r), append(s.Bodies, body)
	return &http.Response{
		StatusCode: cmp.Or(s.Status, http.StatusOK),
		Header:     http.Header{"Content-Type": {cmp.Or(s.Kind, "text/event-stream; charset=utf-8")}},
		Body:       io.NopCloser(strings.NewReader(s.Body)), Request: r,
	}, nil
}
