package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/transport"

	"github.com/google/go-cmp/cmp"
)

func readEvents(kind string, r io.Reader) (events []string, err error) {
	next := transport.ReadEvents(kind, r)
	for {
		data, err := next()
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"one", "data: {\"a\":1}\n\n", []string{`{"a":1}`}},
		{"carriage returns", "data: 1\r\n\r\ndata: 2\r\n\r\n", []string{"1", "2"}},
		{"no space", "data:1\n\n", []string{"1"}},
		{"several lines join", "data: [1,\ndata: 2]\n\n", []string{"[1,\n2]"}},
		{"comments, ids and retry are dropped", ": hi\nid: 7\nretry: 5\n\ndata: 1\nid: 8\n\n", []string{"1"}},
		{"event names are dropped", "event: x\ndata: {}\n\n", []string{"{}"}},
		{"byte order mark", "\xef\xbb\xbfdata: 1\n\n", []string{"1"}},
		{"end mark without blank line", "data: [DONE]", []string{"[DONE]"}},
		{"whole JSON without blank line", "data: {}\n", []string{"{}"}},
		{"half an event at the end", "data: 1\n\ndata: {\"a\":", []string{"1"}},
		{"named error", "event: error\ndata: {\"message\":\"m\"}\n\n", []string{`{"error":{"message":"m"}}`}},
		{"named error in full", "event: error\ndata: {\"error\":\"m\"}\n\n", []string{`{"error":"m"}`}},
		{"error field", "error: out of memory\n\n", []string{`{"error":"out of memory"}`}},
		{"named error of that type", "event: error\ndata: {\"type\":\"error\"}\n\n", []string{`{"type":"error"}`}},
		{"an error's name without data", "event: error\n\ndata: {}\n\n", []string{"{}"}},
		{"a long line", "data: " + strings.Repeat("1", 9000) + "\n\n", []string{strings.Repeat("1", 9000)}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readEvents("text/event-stream", strings.NewReader(tt.in))
			check.Fails(t, err, io.EOF)
			check.Diff(t, "events", got, tt.want)
		})
	}
}

func TestAnAnswerInOnePieceIsItsEvents(t *testing.T) {
	for in, want := range map[string][]string{
		`{"a":1}`:           {`{"a":1}`},
		`[{"a":1},{"b":2}]`: {`{"a":1}`, `{"b":2}`},
		`[]`:                nil,
		`{"a"`:              {`{"a"`},
	} {
		got, err := readEvents("application/json", strings.NewReader(in))
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%s ended with %v (-want +got):\n%s", in, err, diff)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: {}\n\n", "event: error\r\ndata: x\r\n\r\n", ":\n\n", "data\n\n", "error:\n\n",
		"data: [1,\ndata:2]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, kind := range []string{"text/event-stream", "application/json"} {
			check.Fails(t, check.Err(readEvents(kind, strings.NewReader(in))), io.EOF)
		}
	})
}

func TestAnAnswerIsBoundedAndItsPartsAreReported(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes int
		want  error
	}{"long": {16 << 20, nil}, "too long": {16<<20 + 1, transport.ErrTooLong}} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.CopyN(w, zeros{}, int64(tc.bytes))
			}))
			defer s.Close()
			parts := 0
			ctx, cancel := context.WithCancelCause(llm.WithProgress(t.Context(), func() { parts++ }))
			defer cancel(nil)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
			check.Must(t, err)
			a := transport.NewAttempt(s.Client(), time.Minute, cancel, func(s string) string { return s })
			defer a.StopTimer()
			resp, err := a.Do(req)
			check.Must(t, err)
			defer resp.Body.Close()
			if _, err = io.Copy(io.Discard, resp.Body); !errors.Is(err, tc.want) || parts == 0 {
				t.Errorf("got %v after %d parts", err, parts)
			}
		})
	}
}

// zeros is without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
