package corpus

import (
	"context"

	"clank/browseagent"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
	"clank/llm/plain"
)

// Dialect is one way to speak with a model that uses tools: a server and the client of it.
type Dialect struct {
	Name  string
	serve func() (modelServer, error)
	model func(base string) (llm.Model, error)
}

// Dialects returns the dialects that the loop over elements speaks.
func Dialects() []Dialect {
	return []Dialect{
		{"responses", openaiServer, openaiModel(openai.APIResponses)},
		{"chat completions", openaiServer, openaiModel(openai.APIChat)},
		{"anthropic", anthropicServer, func(base string) (llm.Model, error) {
			return anthropic.New(anthropic.Options{BaseURL: base, Key: testKey, Model: "claude-opus-5-5", IdleTimeout: idle})
		}},
		{"gemini", geminiServer, func(base string) (llm.Model, error) {
			return gemini.New(gemini.Options{BaseURL: base, Key: testKey, Model: "gemini-3.5-flash", IdleTimeout: idle})
		}},
	}
}

func openaiModel(api openai.API) func(string) (llm.Model, error) {
	return func(base string) (llm.Model, error) {
		return openai.New(openai.Options{BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", API: api, IdleTimeout: idle})
	}
}

// Open starts the server with a model that answers by turn, and returns the client. close ends the server and returns what
// was wrong with what it was asked.
func (d Dialect) Open(turn llmtest.Turn) (model llm.Model, close func() []string, err error) {
	s, err := d.serve()
	if err != nil {
		return nil, nil, err
	}
	s.SetFallback(turn)
	if model, err = d.model(s.BaseURL()); err != nil {
		s.Close()
		return nil, nil, err
	}
	return model, func() []string { s.Close(); return s.Problems() }, nil
}

// elementBackends returns the backends that work a page by its elements.
func elementBackends() []Backend {
	all := []Backend{{Name: "plain sentences", Runtime: browseagent.Runtime, lacks: mouseReason, open: openPlainModel}}
	for i, d := range Dialects() {
		all = append(all, Backend{Name: "loop over " + d.Name, Runtime: browseagent.Runtime, part: i % partCount, lacks: mouseReason, open: d.openForTask})
	}
	return all
}

// mouseReason returns the steps that have neither words nor a tool of the loop over elements.
func mouseReason(s Step) string {
	switch {
	case s.Held != "":
		return "no key can be held during a click"
	case s.Verb == Drag, s.Verb == DragAt:
		return "nothing can be dragged"
	case s.Verb == ClickAt:
		return "no point can be clicked, only elements"
	case s.Verb == Wheel:
		return "the wheel cannot be turned over an element"
	}
	return ""
}

// openForTask opens the loop with a model that does a task.
func (d Dialect) openForTask(_ context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	m, end, err := d.Open((&elementModel{task: task, url: url}).nextReply)
	if err != nil {
		return openBackend{}, err
	}
	return openBackend{Backend: newAgent(w, m), prompt: taskPrompt(task, url), close: end}, nil
}

func newAgent(w *windowTracker, m llm.Model) *browseagent.Agent {
	return &browseagent.Agent{Browser: w, Model: func(context.Context, string) (llm.Model, error) { return m, nil }}
}

// openPlainModel opens the local loop with the built-in model, which is told the steps in words.
func openPlainModel(_ context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	prompt, _ := task.Sentences(url)
	return openBackend{Backend: newAgent(w, plain.New(plain.Options{})), prompt: prompt, close: func() []string { return nil }}, nil
}
