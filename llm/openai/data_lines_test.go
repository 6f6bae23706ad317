package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/llm/openai"
)

func FuzzDataLine(f *testing.F) {
	for _, s := range []string{"{}", "[1,\n2]", `{"error":"x"}`, "a\r\nb", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, event string) {
		line := openai.DataLine(event)
		if !strings.HasPrefix(line, "data:") || strings.Count(line, "\n") != 1 || strings.Contains(line, "\r") {
			t.Fatalf("event %q became %q, want one line", event, line)
		}
		if payload := strings.TrimPrefix(line, "data:"); json.Valid([]byte(event)) && !json.Valid([]byte(payload)) {
			t.Fatalf("event %q was JSON and became %q", event, line)
		}
	})
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
