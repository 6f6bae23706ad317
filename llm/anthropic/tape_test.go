package anthropic_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"

	"github.com/google/go-cmp/cmp"
)

// stream returns these events as the vendor sends them.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var head struct{ Type string }
		_ = json.Unmarshal([]byte(e), &head)
		b.WriteString("event: " + head.Type + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

const (
	begun   = `{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}`
	okBlock = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`
	ended   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	stopped = `{"type":"message_stop"}`
)

// taped returns a model whose server is s.
func taped(t *testing.T, s *llmtest.Tape, o anthropic.Options) *anthropic.Model {
	t.Helper()
	o.BaseURL, o.Key, o.HTTPClient, o.Backoff = "https://server.test/sub/", testKey, &http.Client{Transport: s}, time.Millisecond
	if o.Model == "" {
		o.Model = "claude-opus-5-5"
	}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// blocks returns what is sent of the messages, block by block as JSON.
func blocks(t *testing.T, body []byte) [][]string {
	t.Helper()
	var sent struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	all := make([][]string, len(sent.Messages))
	for i, m := range sent.Messages {
		for _, b := range m.Content {
			all[i] = append(all[i], string(b))
		}
	}
	return all
}

func TestWhatAModelSaidIsSentBackBitByBit(t *testing.T) {
	s := &llmtest.Tape{Body: stream(begun,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"is 1 < 2 & \"so\" on\u2028?"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq+/"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"8w=="}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"a+/<=="}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"hologram","light":[1,2.50,1e400,12345678901234567890],"<&>":{"b":null}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"photon_delta","n":1}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","toolset_name":"eyes","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":12345678901234567890,"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"f\":1.0,\"b\":1e400}"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`, stopped)}
	m := taped(t, s, anthropic.Options{})
	q := anthropic.MessageRequest{Messages: []anthropic.Message{{Role: anthropic.RoleUser, Content: anthropic.OptionalText("go")}}}
	got, err := m.Ask(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Messages = append(q.Messages, anthropic.Message{Role: anthropic.RoleAssistant, Content: anthropic.ReplayContent(got.Blocks)},
		anthropic.Message{Role: anthropic.RoleUser, Content: []anthropic.Content{anthropic.NewResult("toolu_1", "eyes", "seen", nil, false)}})
	if _, err := m.Ask(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"thinking","thinking":"is 1 < 2 & \"so\" on\u2028?","signature":"Eq+/8w=="}`,
		`{"type":"redacted_thinking","data":"a+/<=="}`,
		`{"type":"hologram","light":[1,2.50,1e400,12345678901234567890],"<&>":{"b":null}}`,
		`{"type":"tool_use","id":"toolu_1","name":"look","toolset_name":"eyes","input":{"n":12345678901234567890,"f":1.0,"b":1e400}}`,
	}
	if diff := cmp.Diff(want, blocks(t, s.Bodies[1])[1]); diff != "" {
		t.Errorf("blocks (-said +sent back):\n%s", diff)
	}
}

func TestARequestSaysWhatItWantsAndNothingOfThisComputer(t *testing.T) {
	s := &llmtest.Tape{Body: stream(begun, okBlock, ended, stopped)}
	q := anthropic.MessageRequest{
		Messages: []anthropic.Message{{Role: anthropic.RoleUser, Content: anthropic.OptionalText("go")}}, Betas: []string{"one-2025-01-01", "two-2026-01-01"},
	}
	if _, err := taped(t, s, anthropic.Options{}).Ask(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"},
		"X-Api-Key": {testKey}, "Anthropic-Beta": {"one-2025-01-01,two-2026-01-01"},
	}
	if diff := cmp.Diff(want, s.Requests[0].Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if got, want := s.Requests[0].URL.String(), "https://server.test/sub/v1/messages"; got != want {
		t.Errorf("sent to %s, want %s", got, want)
	}
}

func TestStreamsOfGatewaysAreRead(t *testing.T) {
	whole := stream(begun, okBlock, ended, stopped)
	for name, sent := range map[string]string{
		"with carriage returns":     strings.ReplaceAll(whole, "\n", "\r\n"),
		"without names":             strings.ReplaceAll(whole, "event: ", ": "),
		"kept alive by comments":    ": hello\n\n" + strings.ReplaceAll(whole, "event: message_delta", ":\n\nevent: message_delta"),
		"kept alive by nothing":     strings.ReplaceAll(whole, "event: message_delta", "event: ping\ndata:\n\ndata: \n\nevent: message_delta"),
		"kept alive by pings":       strings.ReplaceAll(whole, "event: message_delta", "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_delta"),
		"with nonsense at the end":  whole + "data: [DONE]\n\nevent: error\ndata: {\n\n",
		"without the last line end": strings.TrimRight(whole, "\n"),
	} {
		reply := generate(t, taped(t, &llmtest.Tape{Body: sent}, anthropic.Options{}), ask("hi"))
		if reply.Text() != "ok" || reply.Stop != llm.StopEnd || reply.Usage.InputTokens != 3 || reply.Usage.OutputTokens != 7 {
			t.Errorf("%s: reply = %+v", name, reply)
		}
	}
}

func TestAnswersThatAreNoneAreMalformed(t *testing.T) {
	for name, s := range map[string]*llmtest.Tape{
		"in one piece":    {Kind: "application/json", Body: `{"type":"message","content":[]}`},
		"a line too long": {Body: "data: " + strings.Repeat("x", 33<<20)},
		"words":           {Body: "data: hello\n\n"},
	} {
		t.Run(name, func(t *testing.T) { failure(t, taped(t, s, anthropic.Options{}), llm.ErrMalformed) })
	}
}

func TestErrorsToldInAStreamAreRead(t *testing.T) {
	for name, told := range map[string]string{
		"as the vendor does":  `event: error` + "\n" + `data: {"type":"error","error":{"type":"invalid_request_error","message":"too odd"}}`,
		"without a name":      `data: {"type":"error","error":{"type":"invalid_request_error","message":"too odd"}}`,
		"without a type":      `data: {"error":{"type":"invalid_request_error","message":"too odd"}}`,
		"outside of an error": `event: error` + "\n" + `data: {"type":"invalid_request_error","message":"too odd"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Tape{Body: stream(begun) + told + "\n\n"}
			if e := failure(t, taped(t, s, anthropic.Options{}), llm.ErrRejected); !strings.Contains(e.Message, "too odd") {
				t.Errorf("message = %q", e.Message)
			}
		})
	}
}

func TestPicturesAreSentAsTheyAreInEachTry(t *testing.T) {
	picture := llm.Image{MediaType: "image/png", Data: bytes.Repeat([]byte{0xff, 0xfe, '<', 0}, 1000)}
	s := &llmtest.Tape{Body: stream(begun) + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}` + "\n\n"}
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Image: &picture}}}}}
	if _, err := taped(t, s, anthropic.Options{}).Generate(t.Context(), req, nil); err == nil {
		t.Fatal("no error")
	}
	if len(s.Bodies) != 3 {
		t.Fatalf("%d tries, want 3", len(s.Bodies))
	}
	for i, body := range s.Bodies {
		var sent struct {
			Messages []struct {
				Content []struct{ Source struct{ Data []byte } }
			}
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if got := sent.Messages[0].Content[0].Source.Data; !bytes.Equal(got, picture.Data) {
			t.Errorf("try %d: a picture of %d bytes, want the %d given", i, len(got), len(picture.Data))
		}
	}
}

func TestARequestThatCannotBeWrittenIsNotSent(t *testing.T) {
	s := &llmtest.Tape{}
	req := ask("hi")
	req.Tools = []llm.Tool{{Name: "look", Schema: json.RawMessage(`{"type":`)}}
	if _, err := taped(t, s, anthropic.Options{}).Generate(t.Context(), req, nil); err == nil || len(s.Requests) != 0 {
		t.Errorf("err = %v after %d requests, want an error after none", err, len(s.Requests))
	}
}

func TestBlocksAreReadAsTheyWereWritten(t *testing.T) {
	for name, block := range map[string]anthropic.Content{
		"text":      anthropic.NewText("a < b"),
		"result":    anthropic.NewResult("toolu_1", "computer", "Done.", nil, false),
		"failure":   anthropic.NewResult("toolu_1", "", "No.", nil, true),
		"no output": anthropic.NewResult("toolu_1", "", "", nil, false),
		"unknown":   anthropic.RawBlock(`{"type":"hologram","light":[1,2.50]}`),
		"a picture": anthropic.RawBlock(`{"type":"image","source":{"type":"url","url":"http://a.test/"}}`),
	} {
		written, err := json.Marshal(block)
		if err != nil {
			t.Fatal(err)
		}
		read, err := anthropic.ReadBlock(written)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(block, read); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
	for _, raw := range []string{`"x"`, `{"type":7}`, `{"type":"text","text":7}`, `{"type":"tool_result","content":"x"}`, `{"type":"tool_result","content":["x"]}`} {
		if b, err := anthropic.ReadBlock(json.RawMessage(raw)); err == nil {
			t.Errorf("%s is read as %v", raw, b)
		}
	}
}

func TestResultsStoredByFormerReleasesAreRead(t *testing.T) {
	stored := `{"tool_use_id":"toolu_1","toolset_name":"computer","is_error":true,"content":[{"text":"No.","type":"text"}],"type":"tool_result"}`
	got, err := anthropic.ReadBlock(json.RawMessage(stored))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(anthropic.Content(anthropic.NewResult("toolu_1", "computer", "No.", nil, true)), got); diff != "" {
		t.Errorf("block (-want +got):\n%s", diff)
	}
}

func FuzzEventsAreDecodedOrRefused(f *testing.F) {
	f.Add(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a b","name":"x","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":-7}}
{"type":"message_stop"}`)
	f.Add(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}
{"type":"content_block_delta","index":-1}`)
	f.Add(`{"type":"message_start","message":{"usage":"many"}}`)
	f.Fuzz(func(t *testing.T, stream string) {
		got, _, err := anthropic.Decode(strings.Split(stream, "\n")...)
		if err != nil {
			return
		}
		for _, b := range got.Blocks {
			if !json.Valid(b.Raw) {
				t.Errorf("block %q cannot be sent back", b.Raw)
			}
			if b.Tool != nil && (len(b.Tool.Input) == 0 || b.Tool.Input[0] != '{' || anthropic.WireID(b.Tool.ID) != b.Tool.ID) {
				t.Errorf("call %+v is not sound", b.Tool)
			}
		}
		if u := got.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.ReasoningTokens > u.OutputTokens || u.CachedTokens+u.CacheWriteTokens > u.InputTokens {
			t.Errorf("usage %+v does not add up", u)
		}
	})
}
