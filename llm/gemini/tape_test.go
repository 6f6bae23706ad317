package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"
	"clank/llm/transport"
)

const done = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}` +
	"\n\n"

// taped returns a model whose server is s.
func taped(t *testing.T, s *llmtest.Tape, o gemini.Options) *gemini.Model {
	t.Helper()
	o.BaseURL, o.Key, o.HTTPClient = "https://server.test/sub/", testKey, &http.Client{Transport: s}
	if o.Model == "" {
		o.Model = newer
	}
	m, err := gemini.New(o)
	check.Must(t, err)
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
	s := &llmtest.Tape{Body: `data: {"candidates":[{"index":0,"content":{"role":"model","parts":` +
		strings.ReplaceAll(said, "\n", " ") +
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
	check.Must(t, json.Unmarshal(s.Bodies[1], &sent))
	var want []any
	check.Must(t, json.Unmarshal([]byte(said), &want))
	check.Diff(t, "parts", sent.Contents[1].Parts, want)
}

func TestTheVendorsWordsAboutACallItKeptBackAreTold(t *testing.T) {
	s := &llmtest.Tape{Body: `data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: look(\n"}]}` + "\n\n"}
	reply := generate(t, taped(t, s, gemini.Options{}), ask("go"))
	if calls := reply.Calls(); len(calls) != 1 || calls[0].Malformed != "Malformed function call: look(" {
		t.Errorf("calls = %+v", calls)
	}
}

func TestWhatFollowsAWholeAnswerDoesNotSpoilIt(t *testing.T) {
	for _, rest := range []string{
		"data: [DONE]\n\n", "data: {\n\n", `data: {"error":{"message":"late"}}` + "\n\n",
		"data: null\n\n", "data: {\"cand",
	} {
		reply := generate(t, taped(t, &llmtest.Tape{Body: done + rest}, gemini.Options{}), ask("hello"))
		if reply.Text() != "ok" || reply.Stop != llm.StopEnd {
			t.Errorf("after %q: reply = %+v", rest, reply)
		}
	}
}

// Whatever a server sends becomes a reply or an error for people, and a reply can be sent back.
func FuzzAnswer(f *testing.F) {
	for _, data := range []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"at":[1,{"b":null}]}},"thoughtSignature":"c2ln"},null]}}]}`,
		`{"candidates":[null,{"content":null,"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":-1}}`,
		`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"-_8"},{"toolCall":{"args":{}},"partMetadata":{}},{"fileData":null}]},"finishReason":"X"}]}`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"error":{"code":429}}`, `{"error":"x"}`, `null`, `[]`,
		`{"createTime":""}`,
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
			BaseURL: "http://server.test", Model: newer, HTTPClient: &http.Client{Transport: c},
			Retry: transport.RetryPolicy{Timeout: 10 * time.Second, Backoff: 1},
		})
		check.Must(t, err)
		req := ask("hello")
		reply, err := m.Generate(t.Context(), req, nil)
		if _, reported := errors.AsType[*llm.Error](err); err != nil && !reported {
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
		`{"error":{"message":"x","status":"Y","details":[{"retryDelay":"1s"},null,3]}}`, `[{"error":"x"}]`, `"x"`, `<html>`,
		`{"message":"\u0000"}`, ``,
	} {
		f.Add(429, body)
		f.Add(400, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 300 || status > 599 {
			t.Skip("no status of a failure")
		}
		m, err := gemini.New(gemini.Options{
			BaseURL: "http://server.test", Model: newer,
			HTTPClient: &http.Client{Transport: &llmtest.Tape{Status: status, Body: body, Kind: "text/plain"}},
			Retry:      transport.RetryPolicy{Backoff: 1},
		})
		check.Must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // for those who ask to wait
		defer cancel()
		_, err = m.Generate(ctx, ask("hello"), nil)
		var reported *llm.Error
		if err == nil || !errors.As(err, &reported) && ctx.Err() == nil {
			t.Fatalf("err = %v, want an *llm.Error", err)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("told %q", err)
		}
	})
}

func TestFailuresAreSorted(t *testing.T) {
	page := "<!doctype html><html>proxy</html>"
	badKey := `[{"error":{"code":400,"message":"API key not valid: ` + testKey + `","status":"INVALID_ARGUMENT",` +
		`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`
	tests := []struct {
		name string
		turn llmtest.Turn
		kind llm.ErrorKind
		says string
	}{
		{
			"wrong key", llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 400, Body: &badKey}}), llm.ErrAuth,
			"GEMINI_API_KEY",
		},
		{"forbidden", llmtest.Fail(403, "", "no"), llm.ErrAuth, "may not use"},
		{"no such model", llmtest.Fail(404, "", "models/x is not found"), llm.ErrNotFound, newer},
		{"invalid", llmtest.Fail(400, "", "bad part"), llm.ErrRejected, "bad part"},
		{
			"place not served", llmtest.Fail(400, "FAILED_PRECONDITION", "User location is not supported"), llm.ErrRejected,
			"location",
		},
		{
			"too long", llmtest.Fail(400, "", "The input token count exceeds the maximum number of tokens"), llm.ErrRejected,
			"start a new one",
		},
		{
			"web page with 502", llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 501, Body: &page}}),
			llm.ErrUnavailable, "501",
		},
		{
			"wrong shape", llmtest.Answer(llmtest.Reply{Events: []string{`{"candidates":"none"}`}}), llm.ErrMalformed,
			"could not be understood",
		},
		{"null", llmtest.Answer(llmtest.Reply{Events: []string{`null`}}), llm.ErrMalformed, "could not be understood"},
		{"no events", llmtest.Answer(llmtest.Reply{Events: []string{}}), llm.ErrCutOff, "answered with nothing"},
		{"quota inside", llmtest.SayWithFault("hello",
			llmtest.Fault{At: 1, Code: "RESOURCE_EXHAUSTED", StreamError: "enough"}), llm.ErrRateLimited, "enough"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewGeminiServer(t, tt.turn)
			reported := failure(t, open(t, s, nil), tt.kind)
			check.Contains(t, reported.Error(), tt.says)
			if strings.Contains(reported.Error(), testKey) {
				t.Errorf("the key is told: %s", reported)
			}
			check.Equal(t, "requests", len(s.Requests()), 1)
		})
	}
}

func TestALongWaitIsToldInsteadOfWaited(t *testing.T) {
	for _, turn := range []llmtest.Turn{
		llmtest.GeminiExhausted("3600s"),
		llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{
			Status: http.StatusTooManyRequests,
			Header: map[string]string{"Retry-After": "3600"},
		}}),
	} {
		s := llmtest.NewGeminiServer(t, turn)
		reported := failure(t, open(t, s, nil), llm.ErrRateLimited)
		if reported.RetryAfter != time.Hour || len(s.Requests()) != 1 {
			t.Errorf("RetryAfter = %v after %d requests, want 1h after 1", reported.RetryAfter, len(s.Requests()))
		}
	}
}

func TestAServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	body := `[{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]}}]},` +
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}]`
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Body: &body}}))
	reply := generate(t, open(t, s, func(o *gemini.Options) { o.Key = "" }), ask("hello"))
	if reply.Text() != "hello" || reply.Usage.InputTokens != 3 {
		t.Errorf("reply = %+v", reply)
	}
	check.Equal(t, "key sent", s.Requests()[0].Header.Get("X-Goog-Api-Key"), "")
}

func TestNamesOfModelsAreChecked(t *testing.T) {
	check.Fails(t, check.Err(gemini.New(gemini.Options{Key: testKey, Model: "../x"})),
		nil, `"../x" is not a name of a Gemini model`)
	m, err := gemini.New(gemini.Options{Key: testKey, Model: "models/" + newer})
	if err != nil || m.Name() != "gemini:"+newer || !m.Caps().Computer || !m.Caps().ToolImages {
		t.Errorf("New = %v, %v", m, err)
	}
}

func TestASchemaThatIsNoneIsRefusedBeforeItIsSent(t *testing.T) {
	s := llmtest.NewGeminiServer(t)
	req := ask("hello")
	req.Tools = []llm.Tool{{Name: "look", Description: "Looks.", Schema: []byte(`[`)}}
	_, err := open(t, s, nil).Generate(t.Context(), req, nil)
	if reported, ok := errors.AsType[*llm.Error](err); !ok || reported.Kind != llm.ErrRejected {
		t.Errorf("err = %v", err)
	}
}

func TestAnAnswerThatWouldGoOnIsNotAskedForOnTheSly(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Events: []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]},"finishReason":"CONTINUATION","continuationToken":"dG9rZW4="}]}`,
	}}))
	if reply := generate(t, open(t, s, nil), ask("hello")); reply.Text() != "hel" || reply.Stop != llm.StopUnknown {
		t.Errorf("reply = %+v", reply)
	}
	check.Equal(t, "requests", len(s.Requests()), 1)
}
