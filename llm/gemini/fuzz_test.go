package gemini_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/llm"
	"clank/llm/gemini"
)

// canned answers each request with the same body.
type canned struct{ kind, body string }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {c.kind}},
		Body: io.NopCloser(strings.NewReader(c.body)), Request: r,
	}, nil
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
		c := canned{"application/json", body}
		if stream {
			c.kind = "text/event-stream"
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
		m, err := gemini.New(gemini.Options{BaseURL: "http://server.test", Model: newer, HTTPClient: &http.Client{Transport: failing{status, body}}, Backoff: 1})
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

type failing struct {
	status int
	body   string
}

func (c failing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}
