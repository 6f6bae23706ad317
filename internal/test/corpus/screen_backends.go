package corpus

import (
	"context"
	"image"
	"time"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/computeruse/gemini"
	"clank/computeruse/openai"
	"clank/internal/test/llmtest"
	anthropicmodel "clank/llm/anthropic"
	geminimodel "clank/llm/gemini"
	openaimodel "clank/llm/openai"
)

// Vendor is one vendor's way to work a screen: a server, the client of it, and the words in which its models answer.
type Vendor struct {
	Name        string
	Runtime     string
	serve       func() (modelServer, error)
	newModel    func(base string) (computeruse.Model, error)
	encodeReply func(deeds []modelAction, size image.Point) llmtest.Reply
}

const testKey = "test-0123456789abcdef"

// idle is how long a server may say nothing.
const idle = 30 * time.Second

// Vendors returns the vendors whose models work a screen.
func Vendors() []Vendor {
	return []Vendor{
		{"openai computer", computeruse.RuntimeOpenAI, openaiServer, openaiComputerModel, openaiReply},
		{"anthropic computer", computeruse.RuntimeAnthropic, anthropicServer, anthropicComputerModel(anthropic.ToolsComputer), anthropicScreenReply},
		{"anthropic browser", computeruse.RuntimeAnthropic, anthropicServer, anthropicComputerModel(anthropic.ToolsBrowser), anthropicBrowserReply},
		{"gemini computer", computeruse.RuntimeGemini, geminiServer, geminiComputerModel, geminiReply},
	}
}

func openaiServer() (modelServer, error)    { return llmtest.Open() }
func anthropicServer() (modelServer, error) { return llmtest.OpenAnthropic(), nil }
func geminiServer() (modelServer, error)    { return llmtest.OpenGemini(), nil }

func openaiComputerModel(base string) (computeruse.Model, error) {
	return openai.New(openai.Options{Client: openaimodel.Options{BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", IdleTimeout: idle}})
}

func anthropicComputerModel(tools anthropic.Tools) func(string) (computeruse.Model, error) {
	return func(base string) (computeruse.Model, error) {
		model, err := anthropicmodel.New(anthropicmodel.Options{BaseURL: base, Key: testKey, Model: "claude-opus-5-5", IdleTimeout: idle})
		if err != nil {
			return nil, err
		}
		return anthropic.New(model, tools)
	}
}

func geminiComputerModel(base string) (computeruse.Model, error) {
	model, err := geminimodel.New(geminimodel.Options{BaseURL: base, Key: testKey, Model: "gemini-3.5-flash", IdleTimeout: idle})
	if err != nil {
		return nil, err
	}
	return gemini.New(model)
}

// screenBackends returns the backends of computer use.
func screenBackends() []Backend {
	var all []Backend
	for i, v := range Vendors() {
		all = append(all, Backend{Name: v.Name, Runtime: v.Runtime, part: i % partCount, open: v.openForTask})
	}
	return all
}

// Open starts the vendor's server with a model that answers by turn, and returns the mind in front of it. close ends the
// server and returns what was wrong with what it was asked.
func (v Vendor) Open(turn llmtest.Turn) (mind computeruse.Model, close func() []string, err error) {
	s, err := v.serve()
	if err != nil {
		return nil, nil, err
	}
	s.SetFallback(turn)
	if mind, err = v.newModel(s.BaseURL()); err != nil {
		s.Close()
		return nil, nil, err
	}
	return mind, func() []string { s.Close(); return s.Problems() }, nil
}

// Click returns the answer of a model that clicks at each of the places of a picture of that size.
func (v Vendor) Click(places []PicturePoint, size image.Point) llmtest.Reply {
	var deeds []modelAction
	for _, p := range places {
		deeds = append(deeds, modelAction{kind: actionClick, at: []PicturePoint{p}})
	}
	return v.encodeReply(deeds, size)
}

// Move returns the answer of a model that moves the mouse to a place.
func (v Vendor) Move(place PicturePoint, size image.Point) llmtest.Reply {
	return v.encodeReply([]modelAction{{kind: actionMove, at: []PicturePoint{place}}}, size)
}

// openForTask opens the backend with a mind that does a task.
func (v Vendor) openForTask(ctx context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	watch := &screenModel{task: task, url: url, page: func() TaskPage { return w.page() }, encodeReply: v.encodeReply}
	mind, end, err := v.Open(watch.turn(ctx))
	if err != nil {
		return openBackend{}, err
	}
	agent := &computeruse.Agent{Browser: w, Model: func(context.Context, string) (computeruse.Model, error) { return mind, nil }}
	return openBackend{Backend: agent, prompt: taskPrompt(task, url), close: end}, nil
}
