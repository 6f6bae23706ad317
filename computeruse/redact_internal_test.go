package computeruse

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

func TestPasswordsAreTakenOutOfEveryVendorsMemory(t *testing.T) {
	t.Parallel()
	const word = `hun"ter<2`
	for name, tc := range map[string]struct{ raw, want string }{
		"openai": {
			`{"items":[{"raw":{"type":"computer_call","call_id":"c1","actions":[{"type":"type","text":"hun\"ter<2"}]}},{"raw":{"type":"function_call","arguments":"{\"text\":\"hun\\\"ter\\u003c2\"}"}}]}`,
			`{"items":[{"raw":{"actions":[{"text":"[password]","type":"type"}],"call_id":"c1","type":"computer_call"}},{"raw":{"arguments":"{\"text\":\"[password]\"}","type":"function_call"}}]}`,
		},
		"anthropic": {
			`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"now hun\"ter<2","signature":"s"},{"type":"tool_use","id":"t1","name":"type","input":{"text":"hun\"ter\u003c2"}}]}]}`,
			`{"messages":[{"content":[{"id":"t1","input":{"text":"[password]"},"name":"type","type":"tool_use"}],"role":"assistant"}]}`,
		},
		"gemini": {
			`{"contents":[{"parts":[{"functionCall":{"name":"type","args":{"text":"hun\"ter<2","intent":"enter hun\"ter<2"}},"thoughtSignature":"aHVu"}]}],"size":{"X":1,"Y":2}}`,
			`{"contents":[{"parts":[{"functionCall":{"args":{"intent":"enter [password]","text":"[password]"},"name":"type"},"thoughtSignature":"aHVu"}]}],"size":{"X":1,"Y":2}}`,
		},
		"nothing in it": {`{"b":"x",  "a":1e3}`, `{"b":"x",  "a":1e3}`},
		"no JSON":       {`{"b":`, `{"b":`},
	} {
		var s typedSecrets
		s.Learn(word)
		check.Diff(t, name, string(s.RedactJSON(json.RawMessage(tc.raw), maskForModel)), tc.want)
	}
}

func TestAPasswordThatIsAWordBreaksNoMemory(t *testing.T) {
	t.Parallel()
	var s typedSecrets
	for _, word := range []string{"message", "1234", "42", "type"} {
		s.Learn(word)
	}
	raw := `{"items":[{"type":"message","call_id":"1234","text":"type","at":[42,1234],"value":1234}],"said":"42 is not 1234"}`
	want := `{"items":[{"at":[42,1234],"call_id":"1234","text":"[password]","type":"message","value":"[password]"}],"said":"42 is not [password]"}`
	if d := cmp.Diff(want, string(s.RedactJSON(json.RawMessage(raw), maskForModel))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func FuzzCleanedMemoryIsJSONWithoutThePassword(f *testing.F) {
	f.Add("hunter2", "so hunter2 it is")
	f.Add(`a"b\c`, `{"text":"a\"b\\c"}`)
	f.Add("ﬁve5", "\xff")
	f.Fuzz(func(t *testing.T, word, text string) {
		if len(word) < minRedactAnywhere || strings.ContainsAny(word, "\x00[]") || strings.Contains(maskForModel, word) ||
			strings.ToValidUTF8(word, "�") != word {
			return
		}
		raw, err := json.Marshal(map[string]any{"text": text, "parts": []string{text + word, word}})
		check.Must(t, err)
		var s typedSecrets
		s.Learn(word)
		var out struct {
			Text  string
			Parts []string
		}
		if err := json.Unmarshal(s.RedactJSON(raw, maskForModel), &out); err != nil {
			t.Fatalf("%q is no JSON: %v", raw, err)
		}
		for _, p := range out.Parts {
			if strings.Contains(strings.ReplaceAll(p, maskForModel, "\x00"), word) && !strings.HasPrefix(p, "{") {
				t.Errorf("%q holds %q", p, word)
			}
		}
	})
}

func TestWhatIsStoredIsReadAgainSettled(t *testing.T) {
	m := storedConversation{Model: "test:model", Talk: json.RawMessage(`{"a":1}`)}
	m.addPrompt("first")
	m.setAnswer("one")
	m.Next.addCalls(Turn{Calls: []Call{{ID: "a"}, {ID: "b"}}, Tools: []llm.ToolCall{{ID: "f"}}})
	m.Next.answerCall(CallResult{CallID: "a", Image: &llm.Image{Data: []byte("big")}})
	raw, err := m.marshal()
	check.Must(t, err)
	got, err := parseConversation(raw)
	check.Must(t, err)
	in := got.Next.drain()
	if len(in.Outcomes) != 2 || in.Outcomes[0].Image != nil || in.Outcomes[1].CallID != "b" || in.Outcomes[1].Err == "" ||
		!in.Results[0].IsError {
		t.Errorf("got %+v, want every call answered and no picture kept", in)
	}
	if diff := cmp.Diff(m.Said, got.Said); diff != "" || got.Model != "test:model" {
		t.Errorf("model %q, said: %s", got.Model, diff)
	}
}

func TestMemoriesAreBounded(t *testing.T) {
	var m storedConversation
	for range 50 {
		m.addPrompt(strings.Repeat("word ", 1000))
		m.setAnswer(strings.Repeat("word ", 1000))
	}
	if got := len(m.recap()); got > 2*maxSaid*(maxSaidChars+50) {
		t.Errorf("the recap has %d bytes", got)
	}
}

func FuzzReadMemory(f *testing.F) {
	f.Add([]byte(`{"version":1,"runtime":"computeruse","talk":{},"next":{"calls":["a"],"tools":["b"]},"said":[{"prompt":"p"}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseConversation(raw)
		if err != nil {
			return
		}
		if len(m.Next.Calls)+len(m.Next.Tools) != 0 {
			t.Error("a call is left unanswered")
		}
		if _, err := m.marshal(); err != nil {
			t.Errorf("cannot be stored again: %v", err)
		}
	})
}
