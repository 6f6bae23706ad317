package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/transport"
)

// passing explains every error as one that may pass after wait.
func passing(wait time.Duration) transport.ExplainFunc {
	return func(err error) (*llm.Error, bool) {
		return &llm.Error{Kind: llm.ErrUnavailable, Message: err.Error(), RetryAfter: wait}, true
	}
}

func TestTheWaitDoublesWhereTheServerDoesNotSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		p := transport.RetryPolicy{Backoff: time.Second, OnRetry: func(r transport.RetryEvent) {
			waits = append(waits, r.Wait)
			check.Equal(t, "try", r.Try, len(waits))
		}}.WithDefaults()
		got, err := transport.CallWithRetry(t.Context(), p, passing(0), func(context.Context) (int, error) {
			if len(waits) < 2 {
				return 0, errors.New("no")
			}
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Errorf("got %d, %v; want 7", got, err)
		}
		for i, w := range waits {
			if base := time.Second << i; w < base/2 || w >= base*3/2 {
				t.Errorf("wait %d = %v, want about %v", i, w, base)
			}
		}
	})
}

func TestALongFirstWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		p := transport.RetryPolicy{Backoff: time.Hour, OnRetry: func(r transport.RetryEvent) {
			if r.Wait < 15*time.Second/2 || r.Wait >= 15*time.Second*3/2 {
				t.Errorf("wait = %v, want about 15 s", r.Wait)
			}
		}}.WithDefaults()
		_, err := transport.CallWithRetry(t.Context(), p, passing(0), func(context.Context) (int, error) {
			tries++
			return 0, errors.New("no")
		})
		check.Fails(t, err, nil, "no")
		check.Equal(t, "tries", tries, 3)
	})
}

func TestWhatIsLeftOpenHasADefault(t *testing.T) {
	for _, open := range []time.Duration{0, -1} {
		got := transport.RetryPolicy{Timeout: open, Idle: open, Backoff: open}.WithDefaults()
		if got.Timeout != 10*time.Minute || got.Idle != 90*time.Second || got.Backoff != time.Second/2 || got.Logger == nil {
			t.Errorf("%v becomes %+v", open, got)
		}
	}
}

func TestAStopEndsTheWaitForTheNextTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		cause := errors.New("stopped by ada")
		time.AfterFunc(2*time.Second, func() { stop(cause) })
		tries, start := 0, time.Now()
		_, err := transport.CallWithRetry(ctx, transport.RetryPolicy{}.WithDefaults(), passing(9*time.Second),
			func(context.Context) (int, error) {
				tries++
				return 0, errors.New("no")
			})
		if !errors.Is(err, cause) || tries != 1 || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %d tries and %v", err, tries, time.Since(start))
		}
	})
}

func TestAServerThatAsksForTooLongIsNotWaitedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout, ask time.Duration
		tries        int
	}{
		"longer than we wait":     {time.Hour, 31 * time.Second, 1},
		"longer than we may":      {5 * time.Second, 6 * time.Second, 1},
		"exactly what is left":    {5 * time.Second, 5 * time.Second, 1},
		"not at all worthwhile":   {time.Hour, 24 * time.Hour, 1},
		"exactly what we wait":    {time.Hour, 30 * time.Second, 3},
		"long, and then too long": {50 * time.Second, 30 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, start := 0, time.Now()
				_, err := transport.CallWithRetry(t.Context(), transport.RetryPolicy{Timeout: tt.timeout}.WithDefaults(),
					passing(tt.ask), func(context.Context) (int, error) {
						tries++
						return 0, errors.New("no")
					})
				check.Fails(t, err, nil, "no")
				if tries != tt.tries || time.Since(start) != time.Duration(tries-1)*tt.ask {
					t.Errorf("%d tries, %v", tries, time.Since(start))
				}
			})
		})
	}
}

func TestNothingIsDeliveredAfterAStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	transport.Deltas(ctx, nil)(llm.Delta{Text: "x"})
	var got []llm.Delta
	emit := transport.Deltas(ctx, func(d llm.Delta) { got = append(got, d) })
	for _, d := range []llm.Delta{{}, {Text: "x"}, {Reasoning: "y"}} {
		emit(d)
	}
	stop()
	emit(llm.Delta{Text: "z"})
	check.Diff(t, "delivered", got, []llm.Delta{{Text: "x"}, {Reasoning: "y"}})
}

func TestStatusesAreDescribed(t *testing.T) {
	for _, tt := range []struct {
		status  int
		kind    llm.ErrorKind
		passing bool
	}{
		{302, llm.ErrRejected, false},
		{400, llm.ErrRejected, false},
		{401, llm.ErrAuth, false},
		{402, llm.ErrRateLimited, false},
		{403, llm.ErrAuth, false},
		{404, llm.ErrNotFound, false},
		{405, llm.ErrNotFound, false},
		{408, llm.ErrTimeout, false},
		{413, llm.ErrRejected, false},
		{429, llm.ErrRateLimited, true},
		{500, llm.ErrUnavailable, true},
		{501, llm.ErrUnavailable, false},
		{503, llm.ErrUnavailable, true},
		{504, llm.ErrUnavailable, true},
		{505, llm.ErrUnavailable, false},
		{529, llm.ErrUnavailable, true},
		{599, llm.ErrUnavailable, false},
	} {
		e := &llm.Error{}
		got := transport.DescribeError(e, &transport.StatusError{Status: tt.status},
			transport.Endpoint{Host: "h", DisplayURL: "http://h"}, transport.RetryPolicy{})
		if e.Kind != tt.kind || got != tt.passing || e.Status != tt.status || e.Message == "" {
			t.Errorf("%d: %s (%q), passing %v; want %s, %v", tt.status, e.Kind, e.Message, got, tt.kind, tt.passing)
		}
	}
}

func TestAnAttemptKeepsWhatTheServerSaidAndNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"type":"rate_limit_error","message":"slow\n down, secret-key-1234"}}`))
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	check.Must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a := transport.NewAttempt(transport.NoRedirects(nil), time.Minute, cancel,
		transport.SecretRemover("secret-key-1234", u))
	defer a.StopTimer()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	check.Must(t, err)
	resp, err := a.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	var status *transport.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("err = %v, want a status", err)
	}
	want := &transport.StatusError{
		Status: 429, Code: "rate_limit_error", Message: "slow down, [key]",
		RetryAfter: 7 * time.Second,
	}
	check.Diff(t, "status", status, want)
}

func TestWhatServersSayIsFoundInAnyWrapping(t *testing.T) {
	for body, want := range map[string]transport.ServerError{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: {
			Code:    "overloaded_error",
			Message: "Overloaded",
		},
		`{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}`: {
			Code:    "RESOURCE_EXHAUSTED",
			Message: "Quota",
		},
		`[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`: {
			Code:    "INVALID_ARGUMENT",
			Message: "bad",
		},
		`{"error":"plain"}`:                    {Message: "plain"},
		`{"detail":"x","code":"y"}`:            {Code: "y", Message: "x"},
		`"just text"`:                          {Message: "just text"},
		"upstream\nfailed":                     {Message: "upstream failed"},
		"<!DOCTYPE html><p>bad gateway":        {},
		`{"error":null,"message":"m"}`:         {Message: "m"},
		`{"error":{"error":{"message":"in"}}}`: {Message: "in"},
		`{"error":{"error":{"error":{"error":{"error":"too deep"}}}}}`: {},
		`[[[[["too deep"]]]]]`:   {Message: `["too deep"]`},
		``:                       {},
		`[]`:                     {Message: "[]"},
		strings.Repeat("é", 300): {Message: strings.Repeat("é", 300)},
		strings.Repeat("é", 301): {Message: strings.Repeat("é", 300) + "…"},
		`{"error":{"message":"m","type":"t","code":"c"}}`:  {Code: "c", Message: "m"},
		`{"error":{"message":"m","type":"t","code":null}}`: {Code: "t", Message: "m"},
		`{"error":{"message":"m","code":429}}`:             {Code: "429", Message: "m"},
		`{"detail":[{"loc":["body"]}]}`:                    {Message: `[{"loc":["body"]}]`},
		`{"error":{"message":"m","status":"S","details":[3,null,{"reason":"R"},{"retryDelay":"34.5s"}]}}`: {
			Code: "S", Message: "m", Reason: "R", RetryAfter: 34500 * time.Millisecond,
		},
	} {
		check.Equal(t, body, transport.ParseServerError([]byte(body)), want)
	}
}

func TestRetryAfterIsReadInEachOfItsForms(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "NaN": 0, "1e300": 24 * time.Hour, "soon": 0, "": 0,
		"Sat, 21 Nov 2026 12:00:09 GMT": 9 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
	} {
		check.Equal(t, value, transport.ParseRetryAfter(http.Header{"Retry-After": {value}}, now), want)
	}
	if got := transport.ParseRetryAfter(http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}},
		now); got != 1500*time.Millisecond {
		t.Errorf("milliseconds: %v", got)
	}
}

func FuzzToldIsOneShortLine(f *testing.F) {
	f.Add([]byte(`{"error":{"type":"a","message":"b\nc"}}`))
	f.Add([]byte(`[[[[[[{"error":{"error":{"error":{"error":"x"}}}}]]]]]]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := transport.ParseServerError(body).Message
		if strings.ContainsAny(got, "\n\r") || len([]rune(got)) > 301 {
			t.Errorf("message %q", got)
		}
	})
}

func TestSecretsAreCutOutOfServersWords(t *testing.T) {
	for _, tt := range []struct{ key, base, in, want string }{
		{"abcdefgh1234", "http://x", "bad key abcdefgh1234!", "bad key [key]!"},
		{"k", "http://x", "Incorrect API key provided: sk-proj-****abcd.", "Incorrect API key provided: [key]"},
		{"abcdefg1", "http://u:passwor1@x", "abcdefg1 and passwor1", "[key] and [key]"},
		{"ollama1", "http://u:hunter2@x", "ollama1 says hunter2", "ollama1 says hunter2"},
		{"", "http://u:hunter2hunter2@x", "u:hunter2hunter2", "u:[key]"},
		{"", "http://x", "a skateboarding-skeleton", "a skateboarding-skeleton"},
	} {
		u, err := url.Parse(tt.base)
		check.Must(t, err)
		check.Equal(t, tt.in, transport.SecretRemover(tt.key, u)(tt.in), tt.want)
	}
}

func TestOptionsThatCannotWorkAreToldAtOnce(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	for name, tt := range map[string]struct {
		options transport.ClientOptions
		says    string
	}{
		"no model":       {transport.ClientOptions{Key: key, BaseURL: "http://h"}, "no model"},
		"no scheme":      {transport.ClientOptions{Model: "m", BaseURL: "localhost:11434"}, "http"},
		"another scheme": {transport.ClientOptions{Model: "m", BaseURL: "ftp://h"}, "http"},
		"no host":        {transport.ClientOptions{Model: "m", BaseURL: "http:///v1"}, "host"},
		"no address":     {transport.ClientOptions{Model: "m", BaseURL: ":"}, "http"},
		"a query":        {transport.ClientOptions{Model: "m", BaseURL: "http://h/v1?key=" + key}, "without ?"},
		"a fragment":     {transport.ClientOptions{Model: "m", BaseURL: "http://h/v1#x"}, "without ?"},
		"no key": {transport.ClientOptions{
			Model: "m", Key: " \n", KeyEnv: "MY_KEY",
			BaseURL: "https://vendor.test/v1", VendorHost: "vendor.test",
		}, "set MY_KEY"},
	} {
		_, err := transport.NewClient(tt.options)
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, tt.says)
		}
		if told, ok := errors.AsType[*llm.Error](err); name == "no key" && (!ok || told.Kind != llm.ErrAuth) {
			t.Errorf("%s: err = %v, want kind auth", name, err)
		}
	}
	for _, base := range []string{"https://host/v1", "http://host:8080"} {
		c, err := transport.NewClient(transport.ClientOptions{
			Provider: "p", Model: " m ", BaseURL: base,
			VendorHost: "vendor.test", UnknownCaps: llm.Caps{Vision: true},
		})
		if err != nil || c.Name() != "p:m" || c.Caps() != (llm.Caps{Vision: true, ToolImages: true}) {
			t.Errorf("%s: %+v, %v", base, c, err)
		}
		e := &llm.Error{}
		c.Describe(e, &transport.StatusError{Status: http.StatusUnauthorized})
		check.Contains(t, e.Message, "wants a key")
	}
}

func TestWhatACallCostsIsSaidByWhoKnowsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		model    string
		told     float64
		tokens   int // read, and as many written
		usd      float64
		unpriced bool
	}{
		"as the server told":        {"gpt-4.1", 0.5, 1000, 0.5, false},
		"as the table says":         {"gpt-4.1", 0, 1000, 0.01, false},
		"nobody knows the model":    {"model-nobody-knows", 0, 10, 0, true},
		"nobody said anything":      {"gpt-4.1", 0, 0, 0, true},
		"the server told only this": {"model-nobody-knows", 0.5, 0, 0.5, false},
	} {
		used := llm.Usage{InputTokens: tt.tokens, OutputTokens: tt.tokens}
		want := used
		used.USD, want.USD, want.Calls, want.Unpriced = tt.told, tt.usd, 1, tt.unpriced
		check.Equal(t, name, transport.WithPrice(tt.model, used), want)
	}
}

func TestWhoeverWantsToKnowDecidesWhetherACallIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent := errors.New("spent")
		tries, asked := 0, 0
		ctx := llm.WithRetryApproval(t.Context(), func(told error) error {
			if asked++; asked == 2 {
				return spent
			}
			check.Contains(t, told.Error(), "no")
			return nil
		})
		_, err := transport.CallWithRetry(ctx, transport.RetryPolicy{}.WithDefaults(), passing(0),
			func(context.Context) (int, error) {
				tries++
				return 0, errors.New("no")
			})
		if !errors.Is(err, spent) || tries != 2 || asked != 2 {
			t.Errorf("err = %v after %d tries and %d questions", err, tries, asked)
		}
	})
}

// trickle is an answer whose body brings some bytes at a time, each after a pause.
type trickle struct {
	ctx    context.Context
	pause  time.Duration
	pieces []string // an empty one is a read that brings nothing
}

func (b *trickle) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(b.pause):
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
	n := copy(p, b.pieces[0])
	b.pieces = b.pieces[1:]
	return n, nil
}

func (*trickle) Close() error { return nil }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAnswerLivesAsLongAsSomethingComes(t *testing.T) {
	const limit = 10 * time.Second
	for name, tt := range map[string]struct {
		pause   time.Duration
		pieces  []string
		shorten time.Duration
		stop    bool
		want    error
		took    time.Duration
	}{
		"slow and steady": {pause: 8 * time.Second, pieces: strings.Split("data: 1", ""), took: 56 * time.Second},
		"silent":          {pause: 11 * time.Second, pieces: []string{"data"}, want: transport.ErrIdle, took: limit},
		"silent after a while": {
			pause: 8 * time.Second, pieces: []string{"da", "ta", "", "", ""},
			want: transport.ErrIdle, took: 16*time.Second + limit,
		},
		"too slow once it is done": {
			pause: 8 * time.Second, pieces: []string{"da", "ta"}, shorten: 3 * time.Second,
			want: transport.ErrIdle, took: 3 * time.Second,
		},
		"no longer watched": {pause: time.Minute, pieces: []string{"data"}, stop: true, took: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				body := &trickle{ctx: ctx, pause: tt.pause, pieces: tt.pieces}
				a := transport.NewAttempt(&http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
					return &http.Response{
						StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body,
						Request: r,
					}, nil
				})}, limit, cancel, func(s string) string { return s })
				defer a.StopTimer()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test/", nil)
				check.Must(t, err)
				resp, err := a.Do(req)
				check.Must(t, err)
				defer resp.Body.Close()
				if tt.shorten > 0 {
					a.ShortenTimeout(tt.shorten)
				}
				if tt.stop {
					a.StopTimer()
				}
				start := time.Now()
				got, err := io.ReadAll(resp.Body)
				if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
					t.Errorf("read %q, %v; want %v", got, err, tt.want)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
				if cause := context.Cause(ctx); !errors.Is(cause, tt.want) || tt.want == nil && cause != nil {
					t.Errorf("the request ended by %v, want %v", cause, tt.want)
				}
			})
		})
	}
}
