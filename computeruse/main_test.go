package computeruse_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/profile"
	"clank/computeruse"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/llm"
	"clank/sessions"
)

func TestMain(m *testing.M) {
	os.Exit(check.Main(m, real.close))
}

// real is the browser of all tests here that need a real one, and the site that it shows. Both start with the first of
// them.
var real realBrowser

type realBrowser struct {
	once    sync.Once
	manager *browsermgr.Manager
	files   *control.Features
	site    *httptest.Server
	err     error

	width, height float64 // of a picture of a page
}

func (b *realBrowser) start(t *testing.T) (*browsermgr.Manager, string) {
	t.Helper()
	b.once.Do(func() { b.err = b.launch(context.WithoutCancel(t.Context())) })
	check.Must(t, b.err)
	return b.manager, b.site.URL
}

func (b *realBrowser) launch(ctx context.Context) error {
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return err
	}
	b.files = &control.Features{Dir: home}
	b.manager = &browsermgr.Manager{Home: home, FirstPort: 18800, LastPort: 18849, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
	b.manager.NewObservers = b.files.Observe
	mux := http.NewServeMux()
	for path, page := range map[string]string{
		"/": desk, "/tasks": tasks, "/rows": rows,
		"/next": "<title>Next</title>next",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
	}
	for path, text := range map[string]string{"/report": "the report", "/list": "the list!"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=file.txt")
			fmt.Fprint(w, text)
		})
	}
	b.site = httptest.NewServer(mux)
	if err := b.manager.Open(ctx); err != nil {
		return err
	}
	return b.measure(ctx)
}

func (b *realBrowser) measure(ctx context.Context) error {
	window, _, err := b.manager.Window(ctx, browsermgr.WindowOptions{Key: "measure", Ephemeral: true})
	if err != nil {
		return err
	}
	shot, err := window.Screenshot(ctx, "")
	if err != nil {
		return err
	}
	b.width, b.height = shot.Width, shot.Height
	return window.Close(ctx)
}

func (b *realBrowser) close() error {
	if b.site != nil {
		b.site.Close()
	}
	if b.manager == nil {
		return nil
	}
	defer os.RemoveAll(b.manager.Home)
	return b.manager.Close(context.Background())
}

// desk is a form and a canvas at fixed places. The page writes down what is done with it.
const desk = `<!doctype html><meta charset=utf-8><title>Desk</title><link rel=icon href=data:,>
<style>body > * {position:fixed; left:20px; width:200px; height:30px; margin:0}</style>
<input id=who aria-label="Your name" style="top:20px">
<input id=pass type=password aria-label=Password style="top:70px">
<button style="top:120px" onclick="log.push('apply ' + who.value + ' ' + pass.value.length)">Apply</button>
<canvas id=board aria-label=Board width=200 height=200 style="left:300px;top:20px;height:200px;background:#eee"></canvas>
<script>
var log = [], path = null;
who.onfocus = () => log.push('focus');
board.onpointerdown = (e) => { path = [e]; };
board.onpointermove = (e) => { if (path) path.push(e); };
onpointerup = (e) => { if (path && e.clientX - path[0].clientX > 50) log.push('stroke'); path = null; };
</script>`

// windows are the windows of a real browser, each with cookies of its own.
type windows struct{ manager *browsermgr.Manager }

func (w windows) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	return w.manager.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL, Ephemeral: true})
}

func (windows) Rest(string) {}

func (w windows) Close(ctx context.Context, key string) error {
	if window, ok := w.manager.Lookup(key); ok {
		return window.Close(ctx)
	}
	return nil
}

func (windows) Park(context.Context, string, bool) (bool, error) { return true, nil }

// done returns what the page of a session has written down.
func (w windows) done(t *testing.T, session string) string {
	t.Helper()
	window, ok := w.manager.Lookup(session)
	if !ok {
		return ""
	}
	notes, err := window.Act(context.WithoutCancel(t.Context()), "evaluate",
		map[string]any{"fn": "(globalThis.log ?? []).join(', ')"})
	if err != nil {
		t.Errorf("read what was done: %v", err)
	}
	return strings.Trim(strings.TrimPrefix(strings.Join(notes, ""), "result: "), `"`)
}

// bench is an agent with everything around it in memory.
type bench struct {
	agent   *computeruse.Agent
	browser *computerusetest.Browser
	model   *computerusetest.Model
	session sessions.Session
	task    sessions.Task
}

func newBench(t *testing.T, turns ...computeruse.Turn) *bench {
	t.Helper()
	b := &bench{browser: &computerusetest.Browser{}, model: &computerusetest.Model{}}
	b.model.Script = script(turns...)
	b.agent = &computeruse.Agent{
		Browser: b.browser,
		Model:   func(context.Context, string) (computeruse.Model, error) { return b.model, nil },
	}
	b.session = sessions.Session{ID: "s1", Runtime: computeruse.RuntimeOpenAI}
	b.task = sessions.Task{ID: "t1", SessionID: "s1", Prompt: "look around"}
	t.Cleanup(func() {
		for _, f := range b.model.Faults() {
			t.Errorf("the model: %s", f)
		}
	})
	return b
}

// script plays turns one after the other.
func script(turns ...computeruse.Turn) func(context.Context, int, computeruse.Input) (computeruse.Turn, error) {
	return func(_ context.Context, n int, _ computeruse.Input) (computeruse.Turn, error) {
		if n >= len(turns) {
			return computeruse.Turn{}, errors.New("the script has ended")
		}
		return turns[n], nil
	}
}

// do returns a turn of one call.
func do(actions ...computeruse.Action) computeruse.Turn {
	return computeruse.Turn{
		Calls: []computeruse.Call{{ID: "c1", Actions: actions}}, Stop: llm.StopTools,
		Usage: llm.Usage{Calls: 1, InputTokens: 10},
	}
}

func use(name, input string) computeruse.Turn {
	return computeruse.Turn{Tools: []llm.ToolCall{{ID: "f1", Name: name, Input: []byte(input)}}, Stop: llm.StopTools}
}

func say(text string) computeruse.Turn { return computeruse.Turn{Text: text, Stop: llm.StopEnd} }

func click(x, y int) computeruse.Action {
	return computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: x, Y: y}}
}

// run works the task; each may be nil.
func (b *bench) run(ctx context.Context, each func(sessions.Step) bool) (steps []sessions.Step, err error) {
	for step, err := range b.agent.Run(ctx, b.session, b.task) {
		if err != nil {
			return steps, err
		}
		steps = append(steps, step)
		if step.Memory != nil {
			b.session.Memory = step.Memory
		}
		if step.URL != "" {
			b.session.URL, b.session.Title = step.URL, step.Title
		}
		if each != nil && !each(step) {
			return steps, nil
		}
	}
	return steps, nil
}

// answer works the task, which must end with an answer.
func (b *bench) answer(t *testing.T) (sessions.Step, []sessions.Step) {
	t.Helper()
	steps, err := b.run(t.Context(), nil)
	if err != nil {
		t.Fatalf("the task failed: %v", err)
	}
	last := steps[len(steps)-1]
	if last.Kind != sessions.StepAnswer {
		t.Fatalf("the last step is %+v, want an answer", last)
	}
	return last, steps
}

func (b *bench) acts() string {
	if s := b.browser.Screen(); s != nil {
		return strings.Join(s.Acts(), "; ")
	}
	return ""
}

// told returns what the model was told before question n.
func (b *bench) told(t *testing.T, n int) computeruse.Input {
	t.Helper()
	asked := b.model.Asked()
	if n >= len(asked) {
		t.Fatalf("the model was asked %d times, want more than %d", len(asked), n)
	}
	return asked[n]
}
