package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"

	"github.com/google/go-cmp/cmp"
)

const done = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}` + "\n\n"

// taped returns a model whose server is s.
func taped(t *testing.T, s *llmtest.Tape, o gemini.Options) *gemini.Model {
	t.Helper()
	o.BaseURL, o.Key, o.HTTPClient = "https://server.test/sub/", testKey, &http.Client{Transport: s}
	if o.Model == "" {
		o.Model = newer
	}
	m, err := gemini.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatAModelSaidIsSentBackBitByBit(t *testing.T) {
	said := `[
		{"text":"thinking","thought":true,"thoughtSignature":"-_8"},
		{"executableCode":{"code":"1+1","language":"PYTHON","id":"7","new":[1]},"thoughtSignature":"+/8="},
		{"codeExecutionResult":{}},
		{"toolCall":{"toolType":"GOOGLE_SEARCH","args":{"q":"<x>"}},"partMetadata":{"a":{"b":null}}},
		{"inlineData":{"data":"//79","mimeType":"image/png"},"mediaResolution":{"level":"HIGH"}},
		{"functionCall":{"args":{"at":"a"},"id":"c1","name":"look"},"thoughtSignature":"not base64!"},
		{"text":"","thoughtSignature":"c2ln"}]`
	s := &llmtest.Tape{Body: `data: {"candidates":[{"index":0,"content":{"role":"model","parts":` + strings.ReplaceAll(said, "\n", " ") +
		`},"finishReason":"STOP","safetyRatings":"odd"}],"usageMetadata":{"promptTokenCount":7,"trafficType":3},"tomorrow":{}}` + "\n\n"}
	m := taped(t, s, gemini.Options{})
	req := llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{llm.UserText("go")}}
	reply := generate(t, m, req)
	if reply.Usage.InputTokens != 7 {
		t.Errorf("usage = %+v", reply.Usage)
	}
	req.Messages = append(req.Messages, stored(t, reply.Message), result(reply.Calls()[0], "A"))
	generate(t, m, req)
	var sent struct {
		Contents []struct{ Parts []any }
	}
	if err := json.Unmarshal(s.Bodies[1], &sent); err != nil {
		t.Fatal(err)
	}
	var want []any
	if err := json.Unmarshal([]byte(said), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, sent.Contents[1].Parts); diff != "" {
		t.Errorf("parts (-said +sent back):\n%s", diff)
	}
}

func TestTheVendorsWordsAboutACallItKeptBackAreTold(t *testing.T) {
	s := &llmtest.Tape{Body: `data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: look(\n"}]}` + "\n\n"}
	reply := generate(t, taped(t, s, gemini.Options{}), ask("go"))
	if calls := reply.Calls(); len(calls) != 1 || calls[0].Malformed != "Malformed function call: look(" {
		t.Errorf("calls = %+v", calls)
	}
}

func TestWhatFollowsAWholeAnswerDoesNotSpoilIt(t *testing.T) {
	for _, rest := range []string{"data: [DONE]\n\n", "data: {\n\n", `data: {"error":{"message":"late"}}` + "\n\n", "data: null\n\n", "data: {\"cand"} {
		reply := generate(t, taped(t, &llmtest.Tape{Body: done + rest}, gemini.Options{}), ask("hello"))
		if reply.Text() != "ok" || reply.Stop != llm.StopEnd {
			t.Errorf("after %q: reply = %+v", rest, reply)
		}
	}
}

// Whatever a server sends becomes a reply or an error for people, and a reply
// can be sent back.
func FuzzAnswer(f *testing.F) {
	for _, data := range []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"at":[1,{"b":null}]}},"thoughtSignature":"c2ln"},null]}}]}`,
		`{"candidates":[null,{"content":null,"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":-1}}`,
		`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"-_8"},{"toolCall":{"args":{}},"partMetadata":{}},{"fileData":null}]},"finishReason":"X"}]}`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"error":{"code":429}}`, `{"error":"x"}`, `null`, `[]`, `{"createTime":""}`,
		`{"candidates":[{"citationMetadata":{"citationSources":[null]},"groundingMetadata":null,"urlContextMetadata":{"urlMetadata":[null]}}]}`,
	} {
		f.Add("data: "+data+"\n\n", true)
		f.Add(data, false)
		f.Add(": comment\r\nevent: x\r\ndata: "+data, true)
	}
	f.Fuzz(func(t *testing.T, body string, stream bool) {
		c := &llmtest.Tape{Kind: "application/json", Body: body}
		if stream {
			c.Kind = ""
		}
		m, err := gemini.New(gemini.Options{
			BaseURL: "http://server.test", Model: newer, HTTPClient: &http.Client{Transport: c}, Timeout: 10 * time.Second, Backoff: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		req := ask("hello")
		reply, err := m.Generate(t.Context(), req, nil)
		if _, told := errors.AsType[*llm.Error](err); err != nil && !told {
			t.Fatalf("err = %v, want an *llm.Error", err)
		}
		if err != nil {
			return
		}
		req.Messages = append(req.Messages, stored(t, reply.Message), llm.UserText("go on"))
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatalf("the reply cannot be sent back: %v", err)
		}
	})
}

// Whatever a server says about a failure is fit for one line.
func FuzzFailure(f *testing.F) {
	for _, body := range []string{
		`{"error":{"message":"x","status":"Y","details":[{"retryDelay":"1s"},null,3]}}`, `[{"error":"x"}]`, `"x"`, `<html>`, `{"message":"\u0000"}`, ``,
	} {
		f.Add(429, body)
		f.Add(400, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 300 || status > 599 {
			t.Skip()
		}
		m, err := gemini.New(gemini.Options{BaseURL: "http://server.test", Model: newer, HTTPClient: &http.Client{Transport: &llmtest.Tape{Status: status, Body: body, Kind: "text/plain"}}, Backoff: 1})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // for those who ask to wait
		defer cancel()
		_, err = m.Generate(ctx, ask("hello"), nil)
		var told *llm.Error
		if err == nil || !errors.As(err, &told) && ctx.Err() == nil {
			t.Fatalf("err = %v, want an *llm.Error", err)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("told %q", err)
		}
	})
}
