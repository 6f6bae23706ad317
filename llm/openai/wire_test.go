package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/llm/openai"

	"github.com/google/go-cmp/cmp"
)

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
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := openai.ReadEvents(strings.NewReader(tt.in))
			if !errors.Is(err, io.EOF) {
				t.Errorf("ended with %v, want EOF", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineWithoutEndIsNotGatheredForever(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), zeroes{})
	if _, err := openai.ReadEvents(endless); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("err = %v, want that the line is too long", err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: {}\n\n", "event: error\r\ndata: x\r\n\r\n", ":\n\n", "data\n\n", "error:\n\n", "data: [1,\ndata:2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		events, err := openai.ReadEvents(strings.NewReader(in))
		if !errors.Is(err, io.EOF) {
			t.Fatalf("ended with %v", err)
		}
		for _, e := range events {
			line := openai.DataLine(e)
			if !strings.HasPrefix(line, "data:") || strings.Count(line, "\n") != 1 || strings.Contains(line, "\r") {
				t.Fatalf("event %q became %q, want one line", e, line)
			}
			if payload := strings.TrimPrefix(line, "data:"); json.Valid([]byte(e)) && !json.Valid([]byte(payload)) {
				t.Fatalf("event %q was JSON and became %q", e, line)
			}
		}
	})
}

func TestRetryAfterIsReadInAllItsForms(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.25", 250 * time.Millisecond},
		{"Retry-After-Ms", "120", 120 * time.Millisecond},
		{"Retry-After", "Sat, 21 Nov 2026 12:00:09 GMT", 9 * time.Second},
		{"Retry-After", "Sat, 21 Nov 2026 11:00:00 GMT", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "soon", 0},
		{"X", "", 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set(tt.key, tt.value)
		if got := openai.RetryAfter(h, now); got != tt.want {
			t.Errorf("%s: %q = %v, want %v", tt.key, tt.value, got, tt.want)
		}
	}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	for try, base := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 20: 15 * time.Second} {
		for range 50 {
			if got := openai.Backoff(time.Second, try); got < base/2 || got > base*3/2 {
				t.Fatalf("wait after try %d = %v, want %v give or take half", try, got, base)
			}
		}
	}
}

func TestErrorBodiesOfAllKinds(t *testing.T) {
	tests := []struct{ in, code, message string }{
		{`{"error":{"message":"m","type":"t","code":"c"}}`, "c", "m"},
		{`{"error":{"message":"m","type":"t","code":null}}`, "t", "m"},
		{`{"error":{"message":"m","code":429}}`, "429", "m"},
		{`{"error":"model 'x' not found"}`, "", "model 'x' not found"},
		{`{"object":"error","message":"m","code":404}`, "404", "m"},
		{`{"detail":"Not Found"}`, "", "Not Found"},
		{`{"detail":[{"loc":["body"]}]}`, "", `[{"loc":["body"]}]`},
		{"plain\n\ttext", "", "plain text"},
		{"<!DOCTYPE html><html>no</html>", "", ""},
		{`{"error":{"error":{"message":"m"}}}`, "", "m"},
		{"", "", ""},
	}
	for _, tt := range tests {
		if code, message := openai.ReadErrorBody(tt.in); code != tt.code || message != tt.message {
			t.Errorf("%s: got %q, %q; want %q, %q", tt.in, code, message, tt.code, tt.message)
		}
	}
}

func FuzzErrorBody(f *testing.F) {
	f.Add(`{"error":{"message":["a"],"code":1}}`)
	f.Add(`{"error":{"error":{"error":null}}}`)
	f.Add("\xff\x00\u2028")
	f.Add(strings.Repeat(`{"error":`, 5000) + "1" + strings.Repeat("}", 5000))
	f.Fuzz(func(t *testing.T, in string) {
		_, message := openai.ReadErrorBody(in)
		if strings.ContainsAny(message, "\n\r\x00\x1b") || len(message) > 4*400 {
			t.Errorf("message %q of %q is not fit to show", message, in)
		}
	})
}

func TestSecretsAreCutOutOfServersWords(t *testing.T) {
	tests := []struct{ key, base, in, want string }{
		{"abcdefgh1234", "http://x", "bad key abcdefgh1234!", "bad key [key]!"},
		{"k", "http://x", "Incorrect API key provided: sk-proj-****abcd.", "Incorrect API key provided: [key]"},
		{"ollama", "http://x", "ollama says no", "ollama says no"},
		{"", "http://u:hunter2hunter2@x", "u:hunter2hunter2", "u:[key]"},
		{"", "http://x", "a skateboarding-skeleton", "a skateboarding-skeleton"},
	}
	for _, tt := range tests {
		got, err := openai.Clean(tt.key, tt.base, tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%q = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestIDsFitTheWire(t *testing.T) {
	long := strings.Repeat("x", 65)
	if got := openai.WireID("call_1"); got != "call_1" {
		t.Errorf("short id became %q", got)
	}
	if a, b := openai.WireID(long), openai.WireID(long+"y"); len(a) > 64 || a == b || a != openai.WireID(long) {
		t.Errorf("long ids became %q and %q", a, b)
	}
	if openai.WireID("") == "" {
		t.Error("an empty id stays empty, which the API refuses")
	}
}
