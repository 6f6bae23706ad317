package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/llm"
	"clank/llm/openai"

	"github.com/google/go-cmp/cmp"
)

func TestToolCallsArePutTogetherWhateverTheServersHabits(t *testing.T) {
	a := llm.ToolCall{ID: "a", Name: "click", Input: json.RawMessage(`{"ref":"e1"}`)}
	b := llm.ToolCall{ID: "b", Name: "type", Input: json.RawMessage(`{"text":"x"}`)}
	tests := []struct {
		name   string
		pieces []string
		want   []llm.ToolCall
	}{
		{"numbered, interleaved", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":""}}`,
			`{"index":1,"id":"b","function":{"name":"type","arguments":"{\"te"}}`,
			`{"index":0,"function":{"arguments":"{\"ref\":\"e1\"}"}}`,
			`{"index":1,"function":{"arguments":"xt\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"no numbers, pieces follow", []string{
			`{"id":"a","function":{"name":"click","arguments":"{\"ref\":"}}`,
			`{"function":{"arguments":"\"e1\"}"}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"whole calls at once without numbers", []string{
			`{"id":"a","function":{"name":"click","arguments":"{\"ref\":\"e1\"}"}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"number 0 for all", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\":\"e1\"}"}}`,
			`{"index":0,"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"id and name repeated with every piece", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\":"}}`,
			`{"index":0,"id":"a","function":{"name":"click","arguments":"\"e1\"}"}}`,
			`{"index":0,"id":"a","function":{"name":"click","arguments":""}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\""}}`,
			`{"id":"b","function":{"name":"type","arguments":":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"arguments as an object", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":{"ref":"e1"}}}`,
		}, []llm.ToolCall{a}},
		{"no arguments", []string{
			`{"index":0,"id":"a","function":{"name":"read"}}`,
			`{"index":1,"id":"b","function":{"name":"read","arguments":null}}`,
		}, []llm.ToolCall{{ID: "a", Name: "read", Input: json.RawMessage(`{}`)}, {ID: "b", Name: "read", Input: json.RawMessage(`{}`)}}},
		{"malformed arguments", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\": e1"}}`,
			`{"index":1,"id":"b","function":{"name":"click","arguments":"[1]"}}`,
		}, []llm.ToolCall{
			{ID: "a", Name: "click", Input: json.RawMessage(`{}`), Malformed: `{"ref": e1`},
			{ID: "b", Name: "click", Input: json.RawMessage(`{}`), Malformed: `[1]`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := openai.BuildCalls(tt.pieces...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepeatedAndMissingIDsBecomeDistinct(t *testing.T) {
	got, err := openai.BuildCalls(
		`{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}`,
		`{"index":1,"id":"x","function":{"name":"b","arguments":"{}"}}`,
		`{"index":2,"function":{"name":"c","arguments":"{}"}}`,
		`{"index":2,"function":{"name":"d","arguments":"{}"}}`,
	)
	if err != nil || len(got) != 4 {
		t.Fatalf("got %v, %v; want four calls", got, err)
	}
	var names strings.Builder
	ids := map[string]bool{}
	for _, c := range got {
		names.WriteString(c.Name)
		ids[c.ID] = c.ID != ""
	}
	if names.String() != "abcd" || len(ids) != 4 {
		t.Errorf("names %q with ids %v; want abcd, all distinct", names.String(), ids)
	}
}

func FuzzCalls(f *testing.F) {
	f.Add(`{"index":0,"id":"a","function":{"name":"n","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`)
	f.Add(`{"id":"a","function":{"arguments":{}}}`, `{"id":"a"}`)
	f.Fuzz(func(t *testing.T, p, q string) {
		calls, err := openai.BuildCalls(p, q)
		if err != nil {
			return
		}
		for _, c := range calls {
			var o map[string]any
			if json.Unmarshal(c.Input, &o) != nil || o == nil || c.ID == "" || c.Name == "" {
				t.Fatalf("call %+v of %q, %q has no object, id or name", c, p, q)
			}
		}
	})
}

func FuzzDecodeChat(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	f.Add(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"length"}]}`, `{"error":1}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		reply, whole, err := openai.DecodeChat(a, b)
		checkDecoded(t, reply, whole, err)
	})
}

func FuzzDecodeResponses(f *testing.F) {
	f.Add(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[]}}`)
	f.Add(`{"object":"response","status":"incomplete"}`, `{"type":"error"}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		reply, whole, err := openai.DecodeResponses(a, b)
		checkDecoded(t, reply, whole, err)
	})
}

// checkDecoded: a whole reply can be stored, whatever the server sent.
func checkDecoded(t *testing.T, reply llm.Reply, whole bool, err error) {
	t.Helper()
	if err != nil || !whole {
		return
	}
	data, err := json.Marshal(reply.Message)
	if err != nil {
		t.Fatalf("reply %+v cannot be stored: %v", reply, err)
	}
	if reply.Stop == "" || !strings.Contains(string(data), "assistant") {
		t.Fatalf("reply %+v has no reason to stop or no role", reply)
	}
}

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
