package gemini_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/computeruse/gemini"
	"clank/llm"
	vendor "clank/llm/gemini"
)

// instant is a model that answers at once.
type instant struct{}

func (instant) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"click","args":{"x":1,"y":1}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}` + "\n\n")),
	}, nil
}

// BenchmarkNext measures a turn with an instant model and images of 300 KB, as a busy page of 1280x720 has.
func BenchmarkNext(b *testing.B) {
	m, err := vendor.New(vendor.Options{BaseURL: "http://server.test", Model: newer, HTTPClient: &http.Client{Transport: instant{}}})
	if err != nil {
		b.Fatal(err)
	}
	made, err := gemini.New(m, gemini.Options{})
	if err != nil {
		b.Fatal(err)
	}
	picture := llm.Image{MediaType: "image/png", Data: bytes.Repeat([]byte("0123456789"), 30_000)}
	var talk computeruse.Conversation
	var in computeruse.Input
	for i := range b.N {
		if i%30 == 0 { // as long as a task may be
			if talk, err = made.Begin(computeruse.ConversationOptions{}); err != nil {
				b.Fatal(err)
			}
			in = computeruse.Input{Says: []string{"go"}}
		}
		in.Shot = &computeruse.Screenshot{Image: picture, Size: size, URL: "https://example.com/"}
		turn, err := talk.Next(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		in = computeruse.Input{Outcomes: []computeruse.CallResult{outcome(turn.Calls[0])}}
	}
}
