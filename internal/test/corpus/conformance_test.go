package corpus_test

import (
	"clank/internal/test/browsertest"
	"context"
	"image"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browseagent"
	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/internal/test/corpus"
	"clank/internal/test/llmtest"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
)

// Within is how fast a stop must be on a busy machine.
const conformanceTimeout = 3 * time.Second

// notesSinceLast returns what people have said since the model's last answer.
func notesSinceLast(r llmtest.Request) string {
	var words strings.Builder
	for _, m := range r.Messages {
		if m.Role == llm.RoleAssistant {
			words.Reset()
		}
		for _, p := range m.Parts {
			if m.Role == llm.RoleUser && p.Result == nil {
				words.WriteString(p.Text + "\n")
			}
		}
	}
	return words.String()
}

// obeyTask answers a task "quick" with two acts, one "slow" with one that never ends, "leave it" by handing it over, and what
// came of them in words.
func obeyTask(quick, slow func(r llmtest.Request) llmtest.Reply, handOver string) llmtest.Turn {
	return func(r llmtest.Request) llmtest.Reply {
		switch words := notesSinceLast(r); {
		case strings.Contains(words, "leave it"):
			return llmtest.Reply{Calls: []llmtest.Call{{Name: handOver, Arguments: `{"runtime":"another","brief":"it is half done"}`}}}
		case strings.Contains(words, "slow"):
			return slow(r)
		case strings.Contains(words, "quick"):
			return quick(r)
		}
		return llmtest.Reply{Text: "done"}
	}
}

// checkAtEnd fails the test if something was wrong with what the model's server was asked.
func checkAtEnd(t *testing.T, end func() []string) {
	t.Helper()
	t.Cleanup(func() {
		for _, p := range end() {
			t.Errorf("model server: %s", p)
		}
	})
}

func blockUntilDone(ctx context.Context, _ map[string]any) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTheScreenOfEachVendorKeepsTheContractOfABackend(t *testing.T) {
	for _, vendor := range corpus.Vendors() {
		t.Run(vendor.Name, func(t *testing.T) {
			sessionstest.TestBackend(t, func(t *testing.T) sessionstest.BackendCase {
				t.Helper()
				size := image.Pt(320, 180)
				mind, end, err := vendor.Open(obeyTask(
					func(llmtest.Request) llmtest.Reply {
						return vendor.Click([]corpus.PicturePoint{{0.1, 0.2}, {0.3, 0.4}}, size)
					},
					func(llmtest.Request) llmtest.Reply { return vendor.Move(corpus.PicturePoint{X: 0.5, Y: 0.5}, size) },
					computeruse.ToolHandOver,
				))
				browsertest.Must(t, err)
				checkAtEnd(t, end)
				browser := &computerusetest.Browser{New: func() *computerusetest.Screen {
					return &computerusetest.Screen{On: map[string]func(context.Context, map[string]any) ([]string, error){"pointerMove": blockUntilDone}}
				}}
				agent := &computeruse.Agent{Browser: browser, Model: func(context.Context, string) (computeruse.Model, error) { return mind, nil }}
				agent.Settings = func() computeruse.Settings { return computeruse.Settings{HandOver: []string{"another"}} }
				return sessionstest.BackendCase{
					Backend: agent, Runtime: vendor.Runtime, Acts: browser.Acts, Prompt: "quick", Slow: "slow", HandOver: "leave it", Within: conformanceTimeout,
				}
			})
		})
	}
}

func TestTheLoopKeepsTheContractOfABackendInEachDialect(t *testing.T) {
	calls := func(calls ...llmtest.Call) func(llmtest.Request) llmtest.Reply {
		return func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Calls: calls} }
	}
	for _, dialect := range corpus.Dialects() {
		t.Run(dialect.Name, func(t *testing.T) {
			sessionstest.TestBackend(t, func(t *testing.T) sessionstest.BackendCase {
				t.Helper()
				model, end, err := dialect.Open(obeyTask(
					calls(llmtest.Call{Name: "browser_press", Arguments: `{"key":"Enter"}`}, llmtest.Call{Name: "browser_back", Arguments: `{}`}),
					calls(llmtest.Call{Name: "browser_wait", Arguments: `{"timeMs":30000}`}),
					"hand_over",
				))
				browsertest.Must(t, err)
				checkAtEnd(t, end)
				p := &stillBrowser{}
				agent := &browseagent.Agent{Browser: p, Model: func(context.Context, string) (llm.Model, error) { return model, nil }}
				agent.Settings = func() browseagent.Settings { return browseagent.Settings{HandOver: []string{"another"}} }
				return sessionstest.BackendCase{
					Backend: agent, Runtime: browseagent.Runtime, Acts: p.count, Prompt: "quick", Slow: "slow", HandOver: "leave it", Within: conformanceTimeout,
				}
			})
		})
	}
}

// stillBrowser is a browser that shows one page to all sessions, on which nothing happens.
type stillBrowser struct {
	mu   sync.Mutex
	acts int
}

func (p *stillBrowser) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acts
}

func (p *stillBrowser) Open(context.Context, sessions.PageRequest) (sessions.Page, bool, error) {
	return p, false, nil
}

func (p *stillBrowser) Close(context.Context, string) error { return nil }

func (p *stillBrowser) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	p.mu.Lock()
	p.acts++
	p.mu.Unlock()
	if kind == "wait" {
		return blockUntilDone(ctx, args)
	}
	return nil, nil
}

// Assess implements [sessions.Page]: nothing sets anything off.
func (*stillBrowser) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

// ActIfUnchanged implements [sessions.Page].
func (p *stillBrowser) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, _ string) ([]string, bool, error) {
	notes, err := p.Act(ctx, kind, args)
	return notes, true, err
}

func (p *stillBrowser) Snapshot(context.Context, bool, int) (string, error) {
	return `- heading "Paper" [ref=e1]`, nil
}

func (p *stillBrowser) Text(context.Context, string) (string, error) { return "Paper", nil }

func (p *stillBrowser) Screenshot(context.Context) (sessions.Screenshot, error) {
	return sessions.Screenshot{}, nil
}

func (p *stillBrowser) State(context.Context) (url, title string, tabs []string, err error) {
	return "http://paper.test/", "Paper", nil, nil
}
