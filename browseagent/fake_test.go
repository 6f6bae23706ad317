package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browseagent"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

const shop = "http://shop.test/"

// home is the first page of the fake shop; found is the page of search results.
const (
	home = `- heading "Lumen" [level=1] [ref=e1]
- searchbox "Search" [ref=e2]
- link "Basket" [ref=e3]
- textbox "Password" [ref=e4]
- button "Buy" [ref=e5]
- paragraph: Good things for quiet rooms.
- paragraph: Nothing here is for sale.`
	found = `- heading "1 result" [level=1] [ref=e9]
- link "Lamp Anna" [ref=e10]
- text: 39 €`
)

// page is a scripted [sessions.Page].
type page struct {
	mu         sync.Mutex
	url, title string
	state      string
	tabs       []string
	acts       []string // as "click ref=e1"
	pictures   int      // screenshots taken
	shot       func(n int) ([]byte, error)
	on         map[string]func(ctx context.Context, args map[string]any) ([]string, error)
	broken     error // error of State and Snapshot
}

func (p *page) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p.mu.Lock()
	words := []string{kind}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		words = append(words, fmt.Sprintf("%s=%v", k, args[k]))
	}
	p.acts = append(p.acts, strings.Join(words, " "))
	on := p.on[kind]
	p.mu.Unlock()
	if on != nil {
		return on(ctx, args)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kind {
	case "navigate":
		p.url, p.title, p.state = args["url"].(string), "Lumen", home
	case "press":
		if p.url == shop {
			p.url, p.title, p.state = shop+"search?q=lamp", "Found", found
		}
	case "type":
		p.state = strings.Replace(p.state, `"Search" [ref=e2]`, fmt.Sprintf(`"Search" [ref=e2]: %s`, args["text"]), 1)
	}
	return nil, nil
}

// Assess implements [sessions.Page]: no action needs approval.
func (*page) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

// ActIfUnchanged implements [sessions.Page].
func (p *page) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, _ string) ([]string, bool, error) {
	notes, err := p.Act(ctx, kind, args)
	return notes, true, err
}

// errSilent has a page not answer in time.
var errSilent = errors.New("silent")

func (p *page) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (string, error) {
	if errors.Is(p.broken, errSilent) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.Interactive {
		return "- button \"Buy\" [ref=e5]", p.broken
	}
	return p.state[:min(o.MaxChars, len(p.state))], p.broken
}

func (p *page) Text(_ context.Context, ref string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "text of " + p.title + ref, nil
}

func (p *page) Screenshot(_ context.Context, ref string) (sessions.Screenshot, error) {
	if ref == "e404" {
		return sessions.Screenshot{}, errors.New("no element e404")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pictures++
	if p.shot != nil {
		data, err := p.shot(p.pictures)
		return jpegShot(data), err
	}
	return jpegShot([]byte("picture of " + p.url + ref)), nil
}

func jpegShot(data []byte) sessions.Screenshot {
	return sessions.Screenshot{Image: llm.Image{MediaType: "image/jpeg", Data: data}}
}

func (p *page) State(context.Context) (url, title string, tabs []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url, p.title, p.tabs, p.broken
}

func (p *page) done() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.acts)
}

// browser is a scripted [sessions.Browser] with one page per session.
type browser struct {
	mu     sync.Mutex
	pages  map[string]*page
	all    []*page
	make   func() *page
	open   func(ctx context.Context, key, url string) error // may return an error
	opened []string                                         // URLs at which pages were reopened
	closed []string
}

func (b *browser) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	key, url := o.Key, o.URL
	if b.open != nil {
		if err := b.open(ctx, key, url); err != nil {
			return nil, "", err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pages[key]; p != nil {
		return p, "", nil
	}
	p := &page{}
	if b.make != nil {
		p = b.make()
	}
	if url != "" {
		p.url, p.title, p.state = url, "Lumen", home
	}
	b.pages[key] = p
	b.all = append(b.all, p)
	b.opened = append(b.opened, url)
	return p, "the page had been closed and was opened again at " + url, nil
}

func (*browser) Rest(string) {}

func (b *browser) Close(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages, key)
	b.closed = append(b.closed, key)
	return nil
}

func (*browser) Park(context.Context, string, bool) (bool, error) { return true, nil }

func (b *browser) acts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, p := range b.all {
		n += len(p.done())
	}
	return n
}

// model is a scripted [llm.Model]: each call returns the next reply.
type model struct {
	mu       sync.Mutex
	caps     llm.Caps
	deaf     bool // ignores the end of its context
	replies  []func(ctx context.Context, req llm.Request) (llm.Reply, error)
	requests []llm.Request
}

func (m *model) Name() string   { return "test:model" }
func (m *model) Caps() llm.Caps { return m.caps }

func (m *model) Generate(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	m.mu.Lock()
	raw, err := json.Marshal(req.Messages)
	if err != nil {
		m.mu.Unlock()
		return llm.Reply{}, err
	}
	kept := req
	kept.Messages = nil
	if err := json.Unmarshal(raw, &kept.Messages); err != nil {
		m.mu.Unlock()
		return llm.Reply{}, err
	}
	m.requests = append(m.requests, kept)
	if len(m.replies) == 0 {
		m.mu.Unlock()
		return llm.Reply{}, errors.New("the script has ended")
	}
	next := m.replies[0]
	if len(m.replies) > 1 {
		m.replies = m.replies[1:]
	}
	m.mu.Unlock()
	reply, err := next(ctx, req)
	if ctx.Err() != nil && !m.deaf {
		return llm.Reply{}, context.Cause(ctx)
	}
	reply.Usage = llm.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10, USD: 0.5}
	return reply, err
}

// asked returns request i; a negative i counts from the end.
func (m *model) asked(t *testing.T, i int) llm.Request {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if i < 0 {
		i += len(m.requests)
	}
	if i < 0 || i >= len(m.requests) {
		t.Fatalf("the model was asked %d times, want request %d", len(m.requests), i)
	}
	return m.requests[i]
}

// say returns a reply of text alone.
func say(text string) func(context.Context, llm.Request) (llm.Reply, error) {
	return reply(llm.StopEnd, llm.Part{Text: text})
}

// call returns a reply that calls tools, given as alternating names and inputs.
func call(nameAndInput ...string) func(context.Context, llm.Request) (llm.Reply, error) {
	var parts []llm.Part
	for i := 0; i < len(nameAndInput); i += 2 {
		parts = append(parts, llm.Part{Call: &llm.ToolCall{
			ID: fmt.Sprintf("call%d", i/2), Name: "browser_" + nameAndInput[i], Input: json.RawMessage(nameAndInput[i+1]),
		}})
	}
	return reply(llm.StopTools, parts...)
}

func reply(stop llm.StopReason, parts ...llm.Part) func(context.Context, llm.Request) (llm.Reply, error) {
	return func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: slices.Clone(parts)}, Stop: stop}, nil
	}
}

// bench is an agent with scripted fakes around it.
type bench struct {
	agent    *browseagent.Agent
	browser  *browser
	model    *model
	settings browseagent.Settings
	session  sessions.Session
	task     sessions.Task
}

func newBench(replies ...func(context.Context, llm.Request) (llm.Reply, error)) *bench {
	b := &bench{
		browser: &browser{pages: map[string]*page{}},
		model:   &model{caps: llm.Caps{Tools: true, Vision: true, ToolImages: true}, replies: replies},
		session: sessions.Session{ID: "s1", Runtime: browseagent.Runtime},
		task:    sessions.Task{ID: "t1", SessionID: "s1", Prompt: "find a lamp", Origin: sessions.Origin{User: "42"}},
	}
	b.agent = &browseagent.Agent{
		Browser:  b.browser,
		Model:    func(context.Context, string) (llm.Model, error) { return b.model, nil },
		Settings: func() browseagent.Settings { return b.settings },
		Places:   map[string]string{"the demo shop": shop},
		Now:      func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}
	return b
}

// script replaces the model's replies.
func (b *bench) script(replies ...func(context.Context, llm.Request) (llm.Reply, error)) {
	b.model.mu.Lock()
	defer b.model.mu.Unlock()
	b.model.replies, b.model.requests = replies, nil
}

// run runs the task and updates the session, as a manager does.
func (b *bench) run(ctx context.Context) (steps []sessions.Step, err error) {
	for step, err := range b.agent.Run(ctx, b.session, b.task) {
		if err != nil {
			return steps, err
		}
		if step.URL != "" {
			b.session.URL, b.session.Title = step.URL, step.Title
		}
		if step.Memory != nil {
			b.session.Memory = step.Memory
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// answer runs the task to its answer.
func (b *bench) answer(t *testing.T) (answer sessions.Step, steps []sessions.Step) {
	t.Helper()
	steps, err := b.run(t.Context())
	if err != nil {
		t.Fatalf("the task failed after %s: %v", labels(steps), err)
	}
	last := steps[len(steps)-1]
	if last.Kind != sessions.StepAnswer {
		t.Fatalf("the last step is %+v, want an answer", last)
	}
	return last, steps
}

// page returns the page of the session.
func (b *bench) page(t *testing.T) *page {
	t.Helper()
	b.browser.mu.Lock()
	defer b.browser.mu.Unlock()
	p := b.browser.pages[b.session.ID]
	if p == nil {
		t.Fatal("the page is not open")
	}
	return p
}

// acts returns the completed acts among the steps.
func acts(steps []sessions.Step) (done []sessions.Step) {
	for _, s := range steps {
		if s.Kind == sessions.StepAct && s.Phase == sessions.PhaseDone {
			done = append(done, s)
		}
	}
	return done
}

func labels(steps []sessions.Step) string {
	var ls []string
	for _, s := range steps {
		if s.Phase == sessions.PhaseDone {
			ls = append(ls, s.Label)
		}
	}
	return strings.Join(ls, "; ")
}

// results returns the tool results of a conversation, oldest first.
func results(ms []llm.Message) (rs []llm.ToolResult) {
	for _, m := range ms {
		for _, p := range m.Parts {
			if p.Result != nil {
				rs = append(rs, *p.Result)
			}
		}
	}
	return rs
}

// checkAnswered fails the test unless every call of the conversation has one result, in the next message.
func checkAnswered(t *testing.T, ms []llm.Message) {
	t.Helper()
	for i, m := range ms {
		if i > 0 && ms[i-1].Role == m.Role {
			t.Errorf("messages %d and %d are both of role %s", i-1, i, m.Role)
		}
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			n := 0
			if i+1 < len(ms) {
				for _, r := range results(ms[i+1 : i+2]) {
					if r.ID == p.Call.ID {
						n++
					}
				}
			}
			check.Equal(t, fmt.Sprintf("call %s of message %d has answers", p.Call.ID, i), n, 1)
		}
	}
}

// named returns a reply that calls one tool by its full name.
func named(name, input string) func(context.Context, llm.Request) (llm.Reply, error) {
	return reply(llm.StopTools, llm.Part{Call: &llm.ToolCall{ID: "named", Name: name, Input: json.RawMessage(input)}})
}
