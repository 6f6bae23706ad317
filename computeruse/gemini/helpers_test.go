package gemini_test

import (
	"image"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/gemini"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/internal/test/llmtest"
	"clank/llm"
	vendor "clank/llm/gemini"
	"clank/llm/transport"
)

const (
	newer = "gemini-3.5-flash"
	older = "gemini-2.5-computer-use-preview-10-2025"
)

var begin, next = computerusetest.Begin, computerusetest.Next

var size = image.Pt(1280, 720)

func mind(t *testing.T, s *llmtest.Server, model string) *gemini.Model {
	t.Helper()
	m, err := vendor.New(vendor.Options{
		BaseURL: s.BaseURL(), Key: "AIzaTest0123456789", Model: model,
		Retry: transport.RetryPolicy{Timeout: 2 * time.Minute, Idle: time.Minute, Backoff: time.Millisecond},
	})
	check.Must(t, err)
	made, err := gemini.New(m)
	check.Must(t, err)
	return made
}

func shot(n byte) *computeruse.Screenshot {
	return &computeruse.Screenshot{
		Image: llm.Image{MediaType: "image/png", Data: []byte{'p', 'n', 'g', n}}, Size: size,
		URL: "https://example.com/",
	}
}

// say returns the beginning of a task.
func say(text string) computeruse.Input {
	return computeruse.Input{Says: []string{text}, Shot: shot(0)}
}

func outcome(c computeruse.Call) computeruse.CallResult { return computeruse.CallResult{CallID: c.ID} }

func wire(t *testing.T, r llmtest.Request) llmtest.GeminiRequest {
	t.Helper()
	w, err := llmtest.DecodeGemini(r.Body)
	check.Must(t, err)
	return w
}

// images returns the last bytes of the pictures in a request, in their order.
func images(w llmtest.GeminiRequest) []byte {
	var all []byte
	for _, c := range w.Contents {
		for _, p := range c.Parts {
			if p.InlineData != nil {
				all = append(all, p.InlineData.Data[3])
			}
			if p.FunctionResponse != nil {
				for _, in := range p.FunctionResponse.Parts {
					all = append(all, in.InlineData.Data[3])
				}
			}
		}
	}
	return all
}

func read(name string) llm.Tool {
	return llm.Tool{
		Name: name, Description: "Does " + name + ".",
		Schema: []byte(`{"type":"object","properties":{"url":{"type":"string"}}}`),
	}
}
