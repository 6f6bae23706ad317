package minds

import (
	"context"

	"clank/browseagent"
	"clank/internal/tasks"
	"clank/llm"
	anthropicmodel "clank/llm/anthropic"
	geminimodel "clank/llm/gemini"
	"clank/llm/llmtest"
	openaimodel "clank/llm/openai"
	"clank/llm/plain"
)

// Dialect is one way to speak with a model that uses tools: a server and the client of it.
type Dialect struct {
	Name  string
	serve func() (server, error)
	model func(base string) (llm.Model, error)
}

// Dialects are those in which the loop over elements speaks.
func Dialects() []Dialect {
	return []Dialect{
		{"responses", openaiServer, openaiModel(openaimodel.APIResponses)},
		{"chat completions", openaiServer, openaiModel(openaimodel.APIChat)},
		{"anthropic", anthropicServer, func(base string) (llm.Model, error) {
			return anthropicmodel.New(anthropicmodel.Options{BaseURL: base, Key: testKey, Model: "claude-opus-5-5", IdleTimeout: idle})
		}},
		{"gemini", geminiServer, func(base string) (llm.Model, error) {
			return geminimodel.New(geminimodel.Options{BaseURL: base, Key: testKey, Model: "gemini-3.5-flash", IdleTimeout: idle})
		}},
	}
}

func openaiModel(api openaimodel.API) func(string) (llm.Model, error) {
	return func(base string) (llm.Model, error) {
		return openaimodel.New(openaimodel.Options{BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", API: api, IdleTimeout: idle})
	}
}

// Open starts the server with a model that answers by turn, and returns the client. close ends the server and returns what
// was wrong with what it was asked.
func (d Dialect) Open(turn llmtest.Turn) (model llm.Model, close func() []string, err error) {
	s, err := d.serve()
	if err != nil {
		return nil, nil, err
	}
	s.Otherwise(turn)
	if model, err = d.model(s.BaseURL()); err != nil {
		s.Close()
		return nil, nil, err
	}
	return model, func() []string { s.Close(); return s.Problems() }, nil
}

// loops are the backends that work a page by its elements.
func loops() []Backend {
	all := []Backend{{Name: "plain sentences", Runtime: browseagent.Runtime, lacks: noMouse, open: sentences}}
	for i, d := range Dialects() {
		all = append(all, Backend{Name: "loop over " + d.Name, Runtime: browseagent.Runtime, part: i % parts, lacks: noMouse, open: d.follow})
	}
	return all
}

// noMouse are the steps that have neither words nor a tool of the loop over elements.
func noMouse(s tasks.Step) string {
	switch {
	case s.Held != "":
		return "no key can be held during a click"
	case s.Verb == tasks.Drag, s.Verb == tasks.DragAt:
		return "nothing can be dragged"
	case s.Verb == tasks.ClickAt:
		return "no point can be clicked, only elements"
	case s.Verb == tasks.Wheel:
		return "the wheel cannot be turned over an element"
	}
	return ""
}

// follow opens the loop with a model that does a task.
func (d Dialect) follow(_ context.Context, task tasks.Task, url string, w *windows) (running, error) {
	m, end, err := d.Open((&reader{task: task, url: url}).turn)
	if err != nil {
		return running{}, err
	}
	return running{Backend: agent(w, m), prompt: asked(task, url), close: end}, nil
}

func agent(w *windows, m llm.Model) *browseagent.Agent {
	return &browseagent.Agent{Browser: pages{w}, Model: func(context.Context, string) (llm.Model, error) { return m, nil }}
}

// sentences opens the local loop with the built-in model, which is told the steps in words.
func sentences(_ context.Context, task tasks.Task, url string, w *windows) (running, error) {
	prompt, _ := task.Sentences(url)
	return running{Backend: agent(w, plain.New(plain.Options{})), prompt: prompt, close: func() []string { return nil }}, nil
}
