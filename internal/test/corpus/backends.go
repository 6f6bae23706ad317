package corpus

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // images as they are sent
	_ "image/png"
	"strings"
	"sync"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/cancel"
	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/computeruse/gemini"
	"clank/computeruse/openai"
	"clank/internal/test/llmtest"
	"clank/llm"
	anthropicmodel "clank/llm/anthropic"
	geminimodel "clank/llm/gemini"
	openaimodel "clank/llm/openai"
	"clank/llm/plain"
	"clank/llm/transport"
	"clank/sessions"
)

// Backend is a way to run tasks.
type Backend struct {
	Name    string
	Runtime string
	// lacks returns why a step is impossible for it by design; "" if it is possible.
	lacks func(Step) string
	part  int // the part of the corpus that it runs, see InPart
	open  func(ctx context.Context, task Task, url string, w *windowTracker) (openBackend, error)
}

// Unsupported returns why a task is impossible for the backend by design; "" if it is possible.
func (b Backend) Unsupported(task Task) string {
	if b.lacks == nil {
		return ""
	}
	return unsupportedSteps(b.lacks, task)
}

func unsupportedSteps(lacks func(Step) string, task Task) string {
	for _, s := range task.Steps {
		if why := lacks(s); why != "" {
			return why
		}
	}
	return ""
}

// partCount is the number of parts of the corpus when not every backend runs all of it.
const partCount = 4

// InPart reports whether the backend runs the n-th task in its part. Every task runs with two backends: one that
// works with elements and one that works with screenshots or, if the task needs a mouse, two of the latter.
func (b Backend) InPart(n int, task Task) bool {
	if n%partCount == b.part {
		return true
	}
	return b.lacks == nil && unsupportedSteps(mouseReason, task) != "" && (n+1)%partCount == b.part
}

// Backends returns all backends: the local loop in four dialects and with the built-in model, then computer use.
func Backends() []Backend {
	return append(elementBackends(), screenBackends()...)
}

// openBackend is a backend with a model server of its own.
type openBackend struct {
	sessions.Backend
	prompt string
	close  func() (problems []string) // returns the errors in the requests to the server
}

// modelServer is the common interface of the servers of all dialects.
type modelServer interface {
	BaseURL() string
	SetFallback(turn llmtest.Turn)
	Problems() []string
	Close()
}

// taskPrompt returns the prompt of a task.
func taskPrompt(task Task, url string) string {
	return fmt.Sprintf("%s The site is at %s", task.Prompt, url)
}

// windowTracker is a browser for both loops, which remembers the window opened last.
type windowTracker struct {
	manager *browsermgr.Manager

	mu   sync.Mutex
	last *browsermgr.Window
}

// Open implements [sessions.Browser].
func (b *windowTracker) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	w, reopened, err := b.manager.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL, Ephemeral: true})
	if err == nil {
		b.mu.Lock()
		b.last = w
		b.mu.Unlock()
	}
	return w, reopened, err
}

// page returns the window that was opened last; nil if there is none.
func (b *windowTracker) page() *browsermgr.Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Rest implements [sessions.Browser].
func (b *windowTracker) Rest(string) {}

// Close closes the page of a session.
func (b *windowTracker) Close(ctx context.Context, key string) error {
	if w, ok := b.manager.Lookup(key); ok {
		return w.Close(ctx)
	}
	return nil
}

// Park implements [sessions.Browser]: the page stays as it is.
func (*windowTracker) Park(context.Context, string, bool) (bool, error) { return true, nil }

// dialect is a model API with tool calls: a server and its client.
type dialect struct {
	name  string
	serve func() (modelServer, error)
	model func(base string) (llm.Model, error)
}

// dialects returns the dialects that the loop over elements speaks.
func dialects() []dialect {
	return []dialect{
		{"responses", openaiServer, openaiModel(openaimodel.APIResponses)},
		{"chat completions", openaiServer, openaiModel(openaimodel.APIChat)},
		{"anthropic", anthropicServer, func(base string) (llm.Model, error) {
			return anthropicmodel.New(anthropicmodel.Options{
				BaseURL: base, Key: testKey, Model: "claude-opus-5-5",
				Retry: transport.RetryPolicy{Idle: idle},
			})
		}},
		{"gemini", geminiServer, func(base string) (llm.Model, error) {
			return geminimodel.New(geminimodel.Options{
				BaseURL: base, Key: testKey, Model: "gemini-3.5-flash",
				Retry: transport.RetryPolicy{Idle: idle},
			})
		}},
	}
}

func openaiModel(api openaimodel.API) func(string) (llm.Model, error) {
	return func(base string) (llm.Model, error) {
		return openaimodel.New(openaimodel.Options{
			BaseURL: base, Key: testKey, Model: "gpt-6-sol-test", API: api,
			Retry: transport.RetryPolicy{Idle: idle},
		})
	}
}

// openModel starts a server with a model that answers by turn, and returns its client. close stops the server and
// returns the errors in its requests.
func openModel[M any](
	serve func() (modelServer, error), client func(base string) (M, error), turn llmtest.Turn,
) (model M, close func() []string, err error) {
	s, err := serve()
	if err != nil {
		return model, nil, err
	}
	s.SetFallback(turn)
	if model, err = client(s.BaseURL()); err != nil {
		s.Close()
		return model, nil, err
	}
	return model, func() []string { s.Close(); return s.Problems() }, nil
}

// elementBackends returns the backends that work with elements.
func elementBackends() []Backend {
	all := []Backend{{Name: "plain sentences", Runtime: browseagent.Runtime, lacks: mouseReason, open: openPlainModel}}
	for i, d := range dialects() {
		all = append(all, Backend{
			Name: "loop over " + d.name, Runtime: browseagent.Runtime, part: i % partCount,
			lacks: mouseReason, open: d.openForTask,
		})
	}
	return all
}

// mouseReason returns why the loop over elements cannot do a step: it has no tool for it.
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

// openForTask opens the loop with a model that performs a task.
func (d dialect) openForTask(_ context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	m, end, err := openModel(d.serve, d.model, (&elementModel{task: task, url: url}).nextReply)
	if err != nil {
		return openBackend{}, err
	}
	return openBackend{Backend: newAgent(w, m), prompt: taskPrompt(task, url), close: end}, nil
}

func newAgent(w *windowTracker, m llm.Model) *browseagent.Agent {
	return &browseagent.Agent{Browser: w, Model: func(context.Context, string) (llm.Model, error) { return m, nil }}
}

// openPlainModel opens the local loop with the built-in model, whose prompt contains the steps.
func openPlainModel(_ context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	prompt, _ := task.Sentences(url)
	return openBackend{
		Backend: newAgent(w, plain.New(plain.Options{})), prompt: prompt,
		close: func() []string { return nil },
	}, nil
}

// Vendor is a vendor's computer-use API: a server, its client, and the format of its models' answers.
type Vendor struct {
	Name        string
	Runtime     string
	serve       func() (modelServer, error)
	newModel    func(base string) (computeruse.Model, error)
	encodeReply func(actions []modelAction, size image.Point) llmtest.Reply
}

const testKey = "test-0123456789abcdef"

// idle is how long a server may send nothing.
const idle = 30 * time.Second

// Vendors returns the vendors of computer-use models.
func Vendors() []Vendor {
	return []Vendor{
		{"openai computer", computeruse.RuntimeOpenAI, openaiServer, openaiComputerModel, openaiReply},
		{
			"anthropic computer", computeruse.RuntimeAnthropic, anthropicServer, anthropicComputerModel(anthropic.ToolsComputer),
			anthropicScreenReply,
		},
		{
			"anthropic browser", computeruse.RuntimeAnthropic, anthropicServer, anthropicComputerModel(anthropic.ToolsBrowser),
			anthropicBrowserReply,
		},
		{"gemini computer", computeruse.RuntimeGemini, geminiServer, geminiComputerModel, geminiReply},
	}
}

func openaiServer() (modelServer, error)    { return llmtest.Open() }
func anthropicServer() (modelServer, error) { return llmtest.OpenAnthropic(), nil }
func geminiServer() (modelServer, error)    { return llmtest.OpenGemini(), nil }

func openaiComputerModel(base string) (computeruse.Model, error) {
	return openai.New(openai.Options{Client: openaimodel.Options{
		BaseURL: base, Key: testKey, Model: "gpt-6-sol-test",
		Retry: transport.RetryPolicy{Idle: idle},
	}})
}

func anthropicComputerModel(tools anthropic.Tools) func(string) (computeruse.Model, error) {
	return func(base string) (computeruse.Model, error) {
		model, err := anthropicmodel.New(anthropicmodel.Options{
			BaseURL: base, Key: testKey, Model: "claude-opus-5-5",
			Retry: transport.RetryPolicy{Idle: idle},
		})
		if err != nil {
			return nil, err
		}
		return anthropic.New(model, tools)
	}
}

func geminiComputerModel(base string) (computeruse.Model, error) {
	model, err := geminimodel.New(geminimodel.Options{
		BaseURL: base, Key: testKey, Model: "gemini-3.5-flash",
		Retry: transport.RetryPolicy{Idle: idle},
	})
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

// Open starts the vendor's server with a model that answers by turn, see [openModel].
func (v Vendor) Open(turn llmtest.Turn) (mind computeruse.Model, close func() []string, err error) {
	return openModel(v.serve, v.newModel, turn)
}

// Click returns the answer of a model that clicks at positions of an image of a size.
func (v Vendor) Click(places []PicturePoint, size image.Point) llmtest.Reply {
	var actions []modelAction
	for _, p := range places {
		actions = append(actions, modelAction{kind: actionClick, at: []PicturePoint{p}})
	}
	return v.encodeReply(actions, size)
}

// openForTask opens the backend with a model that performs a task.
func (v Vendor) openForTask(ctx context.Context, task Task, url string, w *windowTracker) (openBackend, error) {
	watch := &screenModel{task: task, url: url, page: func() TaskPage { return w.page() }, encodeReply: v.encodeReply}
	mind, end, err := v.Open(watch.turn(ctx))
	if err != nil {
		return openBackend{}, err
	}
	agent := &computeruse.Agent{Browser: w, Model: func(context.Context, string) (computeruse.Model, error) {
		return mind, nil
	}}
	return openBackend{Backend: agent, prompt: taskPrompt(task, url), close: end}, nil
}

// maxSteps is more than any task takes.
const maxSteps = 80

// Run runs a task, whose site is at url, in a new window of m, and saves it in store. When the task has ended it
// calls after with the window, which returns what is not as expected, and closes the window. The error is what went
// wrong before.
func (b Backend) Run(
	ctx context.Context, m *browsermgr.Manager, store sessions.Store, task Task, url string,
	after func(*browsermgr.Window) error,
) (err error) {
	w := &windowTracker{manager: m}
	r, err := b.open(ctx, task, url, w)
	if err != nil {
		return fmt.Errorf("open %s: %w", b.Name, err)
	}
	defer func() {
		for _, p := range r.close() {
			err = errors.Join(err, fmt.Errorf("model server: %s", p))
		}
	}()
	manager := &sessions.Manager{
		Store: store, Backends: map[string]sessions.Backend{b.Runtime: r},
		DefaultRuntime: b.Runtime, Limits: func() sessions.Limits { return sessions.Limits{} }, Scopes: &cancel.Scopes{},
	}
	if err := manager.Open(ctx); err != nil {
		return fmt.Errorf("open the manager of sessions: %w", err)
	}
	defer func() { err = errors.Join(err, manager.Close(context.WithoutCancel(ctx))) }()
	var trouble []string
	record, err := manager.Run(ctx,
		sessions.Task{
			Prompt: r.prompt, MaxSteps: maxSteps,
			Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: task.Name},
		},
		func(e sessions.Event) {
			if e.Step != nil && e.Step.Phase == sessions.PhaseDone {
				trouble = append(trouble, fmt.Sprintf("%s: %s", e.Step.Label, e.Step.Text))
			}
		})
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	page := w.page()
	if page == nil {
		return fmt.Errorf("no window was opened: %s %s", record.Reason, record.Answer)
	}
	defer func() { err = errors.Join(err, page.Close(context.WithoutCancel(ctx))) }()
	if record.State != sessions.TaskDone {
		err = fmt.Errorf("the task is %s: %s %s", record.State, record.Reason, record.Answer)
	}
	err = errors.Join(err, after(page))
	if err != nil {
		err = fmt.Errorf("%w\nthe answer was %q after\n%s", err, record.Answer, strings.Join(trouble, "\n"))
	}
	return err
}
