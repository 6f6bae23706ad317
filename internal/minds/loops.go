package minds

import (
	"context"

	"clank/browseagent"
	"clank/internal/tasks"
	"clank/llm"
	anthropicmodel "clank/llm/anthropic"
	geminimodel "clank/llm/gemini"
	openaimodel "clank/llm/openai"
	"clank/llm/plain"
)

// loops are the backends that work a page by its elements.
func loops() []Backend {
	openai := func(api openaimodel.API) func(string) (llm.Model, error) {
		return func(base string) (llm.Model, error) {
			return openaimodel.New(openaimodel.Options{BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", API: api, IdleTimeout: idle})
		}
	}
	claude := func(base string) (llm.Model, error) {
		return anthropicmodel.New(anthropicmodel.Options{BaseURL: base, Key: testKey, Model: "claude-opus-5-5", IdleTimeout: idle})
	}
	gemini := func(base string) (llm.Model, error) {
		return geminimodel.New(geminimodel.Options{BaseURL: base, Key: testKey, Model: "gemini-3.5-flash", IdleTimeout: idle})
	}
	return []Backend{
		loop(0, "loop over responses", openaiServer, openai(openaimodel.APIResponses)),
		loop(1, "loop over chat completions", openaiServer, openai(openaimodel.APIChat)),
		loop(2, "loop over anthropic", anthropicServer, claude),
		loop(3, "loop over gemini", geminiServer, gemini),
		{Name: "plain sentences", Runtime: browseagent.Runtime, lacks: noMouse, open: sentences},
	}
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

// loop is the local loop with a model behind a server.
func loop(part int, name string, serve func() (server, error), model func(base string) (llm.Model, error)) Backend {
	return Backend{Name: name, Runtime: browseagent.Runtime, part: part, lacks: noMouse, open: func(_ context.Context, task tasks.Task, url string, w *windows) (running, error) {
		s, err := serve()
		if err != nil {
			return running{}, err
		}
		m, err := model(s.BaseURL())
		if err != nil {
			s.Close()
			return running{}, err
		}
		s.Otherwise((&reader{task: task, url: url}).turn)
		return running{Backend: agent(w, m), prompt: asked(task, url), close: func() []string { s.Close(); return s.Problems() }}, nil
	}}
}

func agent(w *windows, m llm.Model) *browseagent.Agent {
	return &browseagent.Agent{Browser: pages{w}, Model: func(context.Context, string) (llm.Model, error) { return m, nil }}
}

// sentences opens the local loop with the built-in model, which is told the steps in words.
func sentences(_ context.Context, task tasks.Task, url string, w *windows) (running, error) {
	prompt, _ := task.Sentences(url)
	return running{Backend: agent(w, plain.New(plain.Options{})), prompt: prompt, close: func() []string { return nil }}, nil
}
