package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
	"clank/llm/transport"
)

func TestFailuresSayWhatHappenedAndWhatToDo(t *testing.T) {
	page := "<!DOCTYPE html><html>login</html>"
	tests := []struct {
		name  string
		fault llmtest.Fault
		kind  llm.ErrorKind
		says  []string
	}{
		{"wrong key", llmtest.Fault{Status: 401, Message: "Incorrect API key provided: " + testKey}, llm.ErrAuth, []string{"key was not accepted", "SOME_KEY"}},
		{"forbidden", llmtest.Fault{Status: 403, Message: "no access"}, llm.ErrAuth, []string{"no access", "SOME_KEY"}},
		{"unknown model", llmtest.Fault{Status: 404, Code: "model_not_found", Message: "The model does not exist"}, llm.ErrNotFound, []string{"gpt-6-sol-test", "http://127.0.0.1"}},
		{"unknown model told by 400", llmtest.Fault{Status: 400, Message: "x is not a valid model ID"}, llm.ErrNotFound, []string{"gpt-6-sol-test"}},
		{"wrong path", llmtest.Fault{Status: 404, Message: "404 page not found"}, llm.ErrNotFound, []string{"/v1", "server's address"}},
		{"no credit", llmtest.Fault{Status: 429, Code: "insufficient_quota", Message: "You exceeded"}, llm.ErrRateLimited, []string{"credit", "billing"}},
		{"payment required", llmtest.Fault{Status: 402, Message: "Insufficient credits"}, llm.ErrRateLimited, []string{"credit"}},
		{"too long", llmtest.Fault{Status: 400, Code: "context_length_exceeded", Message: "maximum context length"}, llm.ErrRejected, []string{"too long", "new one"}},
		{"refused as invalid", llmtest.Fault{Status: 422, Message: "bad field"}, llm.ErrRejected, []string{"422", "bad field"}},
		{"redirect", llmtest.Fault{Status: 308, Header: map[string]string{"Location": "https://elsewhere/v1"}}, llm.ErrRejected, []string{"https://elsewhere/v1", "base URL"}},
		{"web page", llmtest.Fault{Header: map[string]string{"Content-Type": "text/html"}, Body: &page}, llm.ErrMalformed, []string{"web page", "server's address"}},
		{"not implemented", llmtest.Fault{Status: 501, Message: "no"}, llm.ErrUnavailable, []string{"501"}},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					server := llmtest.NewServer(t, llmtest.SayWithFault("", tt.fault))
					m := open(t, server, api, func(o *openai.Options) { o.KeyEnv = "SOME_KEY" })
					told := failure(t, m, tt.kind)
					for _, want := range tt.says {
						if !strings.Contains(told.Error(), want) {
							t.Errorf("error %q does not say %q", told, want)
						}
					}
					if strings.Contains(fmt.Sprintf("%v %v", told, told.Err), testKey) {
						t.Errorf("error %q, %q gives the key away", told, told.Err)
					}
					if tt.fault.Status != told.Status && tt.fault.Body == nil {
						t.Errorf("status = %d, want %d", told.Status, tt.fault.Status)
					}
					if n := len(server.Requests()); n != 1 {
						t.Errorf("%d requests, want no second try", n)
					}
				})
			}
		})
	}
}

func TestPassingTroubleIsTriedAgainAndTold(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, status := range []int{429, 500, 502, 503, 504} {
				server := llmtest.NewServer(t, llmtest.Fail(status, "", "busy"), llmtest.Fail(status, "", "busy"), llmtest.Say("fine"))
				var log bytes.Buffer
				var retries []transport.RetryEvent
				m := open(t, server, api, func(o *openai.Options) {
					o.Logger = slog.New(slog.NewTextHandler(&log, nil))
					o.OnRetry = func(r transport.RetryEvent) { retries = append(retries, r) }
				})
				reply, err := m.Generate(t.Context(), ask("hi"), nil)
				if err != nil || reply.Text() != "fine" {
					t.Fatalf("%d: got %q, %v; want fine", status, reply.Text(), err)
				}
				if len(retries) != 2 || retries[0].Try != 1 || retries[1].Try != 2 || !strings.Contains(retries[0].Err.Error(), "busy") {
					t.Errorf("%d: retries told %v, want two with their reason", status, retries)
				}
				if got := strings.Count(log.String(), "trying again"); got != 2 {
					t.Errorf("%d: %d lines in the log, want 2: %s", status, got, log.String())
				}
				if strings.Contains(log.String(), testKey) {
					t.Error("the log gives the key away")
				}
			}
		})
	}
}

func TestItGivesUpAfterThreeTries(t *testing.T) {
	server := llmtest.NewServer(t)
	server.SetFallback(llmtest.Fail(503, "", "overloaded"))
	told := failure(t, open(t, server, openai.APIChat, nil), llm.ErrUnavailable)
	if n := len(server.Requests()); n != 3 || told.Status != 503 {
		t.Errorf("%d tries, status %d; want 3, 503", n, told.Status)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	tests := map[string]struct {
		key, value string
		least      time.Duration
	}{
		"seconds":      {"Retry-After", "1", time.Second},
		"milliseconds": {"Retry-After-Ms", "300", 300 * time.Millisecond},
		"date":         {"Retry-After", time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat), 500 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewServer(t,
				llmtest.SayWithFault("", llmtest.Fault{Status: 429, Header: map[string]string{tt.key: tt.value}}), llmtest.Say("ok"))
			if _, err := open(t, server, openai.APIResponses, nil).Generate(t.Context(), ask("hi"), nil); err != nil {
				t.Fatal(err)
			}
			r := server.Requests()
			if got := r[1].Arrived.Sub(r[0].Ended); got < tt.least {
				t.Errorf("second try after %v, want %v or more", got, tt.least)
			}
		})
	}
}

func TestALongRetryAfterIsToldInsteadOfWaitedFor(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.SayWithFault("", llmtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "90"}}))
	told := failure(t, open(t, server, openai.APIChat, nil), llm.ErrRateLimited)
	if told.RetryAfter != 90*time.Second || !strings.Contains(told.Error(), "1m30s") {
		t.Errorf("error %q with RetryAfter %v, want 1m30s in both", told, told.RetryAfter)
	}
}

func TestAWaitThatOutlastsTheCallIsNotBegun(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.SayWithFault("", llmtest.Fault{Status: 503, Header: map[string]string{"Retry-After": "25"}}))
	start := time.Now()
	failure(t, open(t, server, openai.APIChat, nil), llm.ErrUnavailable)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %v, want an answer at once", took)
	}
}

func TestACutStreamIsAnErrorAndNeverAnAnswer(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, cut := range []llmtest.Cut{llmtest.CutClean, llmtest.CutClose, llmtest.CutReset} {
				heard, hear := context.WithCancel(t.Context())
				server := llmtest.NewServer(t, llmtest.SayWithFault("one two three four", llmtest.Fault{Cut: cut, At: midway(api), Release: heard.Done()}))
				streamed := ""
				reply, err := open(t, server, api, nil).Generate(t.Context(), ask("hi"), func(d llm.Delta) {
					streamed += d.Text
					hear() // a reset may take unread bytes with it
				})
				var told *llm.Error
				if !errors.As(err, &told) || told.Kind != llm.ErrCutOff || reply.Text() != "" {
					t.Errorf("cut %d: got %q, %v; want an error of kind cut_off", cut, reply.Text(), err)
				}
				if n := len(server.Requests()); n != 1 || streamed == "" {
					t.Errorf("cut %d: %d requests after %q was delivered; want one", cut, n, streamed)
				}
			}
		})
	}
}

func TestATruncatedAnswerWithCallsIsCutOffToo(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{
				Calls: []llmtest.Call{{Name: "pay", Arguments: `{"amount": 1}`}}, Fault: llmtest.Fault{Cut: llmtest.CutClean, At: 4},
			}))
			failure(t, open(t, server, api, nil), llm.ErrCutOff)
		})
	}
}

func TestAConnectionThatDiesBeforeTheAnswerIsTriedAgain(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, cut := range []llmtest.Cut{llmtest.CutClose, llmtest.CutReset} {
				server := llmtest.NewServer(t, llmtest.SayWithFault("x", llmtest.Fault{Cut: cut}), llmtest.Say("fine"))
				reply, err := open(t, server, api, nil).Generate(t.Context(), ask("hi"), nil)
				if err != nil || reply.Text() != "fine" {
					t.Errorf("cut %d: got %q, %v; want fine", cut, reply.Text(), err)
				}
			}
		})
	}
}

func TestNobodyAtTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tries := 0
	m, err := openai.New(openai.Options{
		BaseURL: "http://" + addr + "/v1", Model: "m", Backoff: time.Millisecond, OnRetry: func(transport.RetryEvent) { tries++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	told := failure(t, m, llm.ErrUnavailable)
	if !strings.Contains(told.Error(), addr) || !strings.Contains(told.Error(), "is the server running?") || tries != 2 {
		t.Errorf("error %q after %d repeated tries; want the address, the question and 2", told, tries)
	}
}

func TestErrorsInsideAStream(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, at := range []int{0, 5} {
				server := llmtest.NewServer(t, llmtest.SayWithFault("a b c d", llmtest.Fault{StreamError: "the GPU melted", At: at}))
				told := failure(t, open(t, server, api, nil), llm.ErrUnavailable)
				if !strings.Contains(told.Error(), "the GPU melted") {
					t.Errorf("error %q, want the server's words", told)
				}
			}
		})
	}
	failed := `{"type":"response.failed","response":{"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{failed}}))
	if told := failure(t, open(t, server, openai.APIResponses, nil), llm.ErrRateLimited); !strings.Contains(told.Error(), "slow down") {
		t.Errorf("error %q, want the server's words", told)
	}
}

func TestGarbageIsNotUnderstood(t *testing.T) {
	garbage := "{not json"
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, reply := range []llmtest.Reply{{Events: []string{garbage}}, {Events: []string{`[1]`}}, {Fault: llmtest.Fault{Body: &garbage}}} {
				failure(t, open(t, llmtest.NewServer(t, llmtest.Answer(reply)), api, nil), llm.ErrMalformed)
			}
		})
	}
}

func TestSilenceIsBounded(t *testing.T) {
	tests := map[string]struct {
		fault llmtest.Fault
		opts  func(*openai.Options)
		says  string
	}{
		"no header within the call's time": {llmtest.Fault{Hang: llmtest.BeforeHeaders}, func(o *openai.Options) { o.Timeout = 150 * time.Millisecond }, "150ms"},
		"header, then nothing":             {llmtest.Fault{Hang: llmtest.InStream}, func(o *openai.Options) { o.IdleTimeout = 100 * time.Millisecond }, "stalled"},
		"silence in the middle":            {llmtest.Fault{Hang: llmtest.InStream, At: 5}, func(o *openai.Options) { o.IdleTimeout = 100 * time.Millisecond }, "stalled"},
		"a trickle without end":            {llmtest.Fault{Trickle: 20 * time.Millisecond}, func(o *openai.Options) { o.Timeout = 200 * time.Millisecond }, "200ms"},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for name, tt := range tests {
				t.Run(name, func(t *testing.T) {
					server := llmtest.NewServer(t, llmtest.SayWithFault("one two three four", tt.fault))
					told := failure(t, open(t, server, api, tt.opts), llm.ErrTimeout)
					if !strings.Contains(told.Error(), tt.says) {
						t.Errorf("error %q does not say %q", told, tt.says)
					}
					if r, err := server.Await(within(t, time.Minute), 0, llmtest.Ended); err != nil || !r.Gone {
						t.Errorf("the connection is still open: %v", err)
					}
				})
			}
		})
	}
}

func TestASlowButLivelyAnswerOutlastsTheIdleTimeout(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{
		Events: []string{`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`}, Fault: llmtest.Fault{Trickle: 10 * time.Millisecond},
	}))
	const idle = 300 * time.Millisecond
	m := open(t, server, openai.APIChat, func(o *openai.Options) { o.IdleTimeout = idle })
	// A machine that is busy enough is silent for as long, but not each time.
	for tries := 5; ; tries-- {
		start := time.Now()
		reply, err := m.Generate(t.Context(), ask("hi"), nil)
		took := time.Since(start)
		if err == nil && reply.Text() == "x" && took > idle {
			return
		}
		if err == nil || tries == 1 {
			t.Fatalf("got %q, %v after %v; want x after more than the idle timeout", reply.Text(), err, took)
		}
	}
}

func TestACompleteAnswerIsNotHeldByAServerThatNeverHangsUp(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.SayWithFault("done", llmtest.Fault{Hang: llmtest.InStream, At: 1000}))
	reply, err := open(t, server, openai.APIChat, nil).Generate(t.Context(), ask("hi"), nil)
	if err != nil || reply.Text() != "done" {
		t.Errorf("got %q, %v; want done", reply.Text(), err)
	}
}

func TestStopIsImmediateAndClosesTheConnection(t *testing.T) {
	stopped := errors.New("stopped by ada")
	faults := map[string]llmtest.Fault{
		"waiting for the header": {Hang: llmtest.BeforeHeaders},
		"in the middle":          {Hang: llmtest.InStream},
		"waiting to try again":   {Status: 429, Header: map[string]string{"Retry-After": "15"}},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for name, fault := range faults {
				t.Run(name, func(t *testing.T) {
					fault.At = midway(api)
					server := llmtest.NewServer(t, llmtest.SayWithFault("one two three", fault))
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					waiting := make(chan struct{}, 8)
					m := open(t, server, api, func(o *openai.Options) { o.OnRetry = func(transport.RetryEvent) { waiting <- struct{}{} } })
					done := make(chan error, 1)
					go func() {
						_, err := m.Generate(ctx, ask("hi"), func(llm.Delta) { waiting <- struct{}{} })
						done <- err
					}()
					if fault.Hang == llmtest.BeforeHeaders {
						if _, err := server.Await(within(t, time.Minute), 0, llmtest.Arrived); err != nil {
							t.Fatal(err)
						}
					} else {
						select {
						case <-waiting:
						case err := <-done:
							t.Fatalf("ended before the stop: %v", err)
						}
					}
					start := time.Now()
					cancel(stopped)
					if err := <-done; !errors.Is(err, stopped) || err.Error() != stopped.Error() {
						t.Errorf("err = %v, want the cause itself", err)
					}
					if took := time.Since(start); took > 5*time.Second { // a busy machine takes its time, and the call would take longer
						t.Errorf("returned %v after the stop, want at once", took)
					}
					r, err := server.Await(within(t, time.Minute), 0, llmtest.Ended)
					if err != nil || (fault.Status == 0 && !r.Gone) {
						t.Errorf("the connection is still open: %v", err)
					}
					if n := len(server.Requests()); n != 1 {
						t.Errorf("%d requests, want none after the stop", n)
					}
				})
			}
		})
	}
}

func TestAStopFromWithinADeltaDeliversNoMore(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Say("one two three four five"))
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := errors.New("enough")
			deltas := 0
			_, err := open(t, server, api, nil).Generate(ctx, ask("hi"), func(llm.Delta) {
				deltas++
				cancel(stopped)
			})
			if !errors.Is(err, stopped) || deltas != 1 {
				t.Errorf("%d deltas, err %v; want 1 and the cause", deltas, err)
			}
		})
	}
}

func TestAStopBeforeTheCallSendsNothing(t *testing.T) {
	server := llmtest.NewServer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("too late")
	cancel(stopped)
	if _, err := open(t, server, openai.APIChat, nil).Generate(ctx, ask("hi"), nil); !errors.Is(err, stopped) {
		t.Errorf("err = %v, want the cause", err)
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestWhoeverWantsToKnowDecidesWhetherACallIsTriedAgain(t *testing.T) {
	for _, api := range both {
		server := llmtest.NewServer(t)
		server.SetFallback(llmtest.Fail(503, "", "overloaded"))
		spent := errors.New("spent")
		ctx := llm.WithRetryApproval(t.Context(), func(error) error { return spent })
		_, err := open(t, server, api, nil).Generate(ctx, llm.Request{Messages: []llm.Message{llm.UserText("hello")}}, nil)
		if !errors.Is(err, spent) || len(server.Requests()) != 1 {
			t.Errorf("%s: err = %v after %d requests", api, err, len(server.Requests()))
		}
	}
}
