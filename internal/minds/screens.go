package minds

import (
	"context"
	"image"
	"time"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/computeruse/gemini"
	"clank/computeruse/openai"
	"clank/internal/tasks"
	anthropicmodel "clank/llm/anthropic"
	geminimodel "clank/llm/gemini"
	"clank/llm/llmtest"
	anthropicserver "clank/llm/llmtest/anthropic"
	geminiserver "clank/llm/llmtest/gemini"
	openaimodel "clank/llm/openai"
)

// Vendor is one vendor's way to work a screen: a server, the client of it, and the words in which its models answer.
type Vendor struct {
	Name    string
	Runtime string
	serve   func() (server, error)
	mind    func(base string) (computeruse.Mind, error)
	says    func(deeds []deed, size image.Point) llmtest.Reply
}

const testKey = "test-0123456789abcdef"

// idle is how long a server may say nothing.
const idle = 30 * time.Second

// Vendors are those whose models work a screen.
func Vendors() []Vendor {
	return []Vendor{
		{"openai computer", computeruse.RuntimeOpenAI, openaiServer, openaiMind, openaiSays},
		{"anthropic computer", computeruse.RuntimeAnthropic, anthropicServer, anthropicMind(anthropic.ToolsComputer), claudeScreen},
		{"anthropic browser", computeruse.RuntimeAnthropic, anthropicServer, anthropicMind(anthropic.ToolsBrowser), claudeBrowser},
		{"gemini computer", computeruse.RuntimeGemini, geminiServer, geminiMind, geminiSays},
	}
}

func openaiServer() (server, error)    { return llmtest.Open() }
func anthropicServer() (server, error) { return anthropicserver.Open(), nil }
func geminiServer() (server, error)    { return geminiserver.Open(), nil }

func openaiMind(base string) (computeruse.Mind, error) {
	return openai.New(openai.Options{Client: openaimodel.Options{BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", IdleTimeout: idle}})
}

func anthropicMind(tools anthropic.Tools) func(string) (computeruse.Mind, error) {
	return func(base string) (computeruse.Mind, error) {
		model, err := anthropicmodel.New(anthropicmodel.Options{BaseURL: base, Key: testKey, Model: "claude-opus-5-5", IdleTimeout: idle})
		if err != nil {
			return nil, err
		}
		return anthropic.New(model, tools)
	}
}

func geminiMind(base string) (computeruse.Mind, error) {
	model, err := geminimodel.New(geminimodel.Options{BaseURL: base, Key: testKey, Model: "gemini-3.5-flash", IdleTimeout: idle})
	if err != nil {
		return nil, err
	}
	return gemini.New(model, gemini.Options{})
}

// screens are the backends of computer use.
func screens() []Backend {
	var all []Backend
	for i, v := range Vendors() {
		all = append(all, Backend{Name: v.Name, Runtime: v.Runtime, part: i % parts, open: v.follow})
	}
	return all
}

// Open starts the vendor's server with a model that answers by turn, and returns the mind in front of it. close ends the
// server and returns what was wrong with what it was asked.
func (v Vendor) Open(turn llmtest.Turn) (mind computeruse.Mind, close func() []string, err error) {
	s, err := v.serve()
	if err != nil {
		return nil, nil, err
	}
	s.Otherwise(turn)
	if mind, err = v.mind(s.BaseURL()); err != nil {
		s.Close()
		return nil, nil, err
	}
	return mind, func() []string { s.Close(); return s.Problems() }, nil
}

// Click is the answer of a model that clicks at each of the places of a picture of that size.
func (v Vendor) Click(places []Place, size image.Point) llmtest.Reply {
	var deeds []deed
	for _, p := range places {
		deeds = append(deeds, deed{kind: deedClick, at: []Place{p}})
	}
	return v.says(deeds, size)
}

// Move is the answer of a model that moves the mouse to a place.
func (v Vendor) Move(place Place, size image.Point) llmtest.Reply {
	return v.says([]deed{{kind: deedMove, at: []Place{place}}}, size)
}

// follow opens the backend with a mind that does a task.
func (v Vendor) follow(ctx context.Context, task tasks.Task, url string, w *windows) (running, error) {
	watch := &watcher{task: task, url: url, page: func() tasks.Page { return w.page() }, says: v.says}
	mind, end, err := v.Open(watch.turn(ctx))
	if err != nil {
		return running{}, err
	}
	agent := &computeruse.Agent{Browser: glass{w}, Mind: func(context.Context, string) (computeruse.Mind, error) { return mind, nil }}
	return running{Backend: agent, prompt: asked(task, url), close: end}, nil
}
