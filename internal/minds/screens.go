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
	for _, v := range Vendors() {
		all = append(all, Backend{Name: v.Name, Runtime: v.Runtime, open: v.follow})
	}
	return all
}

// follow opens the backend with a mind that does a task.
func (v Vendor) follow(task tasks.Task, url string, w *windows) (running, error) {
	s, err := v.serve()
	if err != nil {
		return running{}, err
	}
	mind, err := v.mind(s.BaseURL())
	if err != nil {
		s.Close()
		return running{}, err
	}
	ctx, stop := context.WithCancel(context.Background())
	watch := &watcher{task: task, url: url, page: func() tasks.Page { return w.page() }, says: v.says}
	s.Otherwise(watch.turn(ctx))
	agent := &computeruse.Agent{Browser: glass{w}, Mind: func(context.Context, string) (computeruse.Mind, error) { return mind, nil }}
	r := over(s, agent, task, url)
	r.close = func() { stop(); s.Close() }
	return r, nil
}
