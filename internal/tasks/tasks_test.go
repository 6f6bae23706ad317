package tasks_test

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/internal/browsertest"
	"clank/internal/tasks"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
)

// open opens a browser for all tasks of a test.
func open(t *testing.T) *browsermgr.Manager {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	m := &browsermgr.Manager{Home: t.TempDir(), Executable: func() string { return exe.Path }, Headless: true, FirstPort: 18950, LastPort: 18999, LaunchTimeout: time.Minute}
	if err := m.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// each runs do for every task of the corpus, with its site and a window, and checks what came of it.
func each(t *testing.T, do func(t *testing.T, m *browsermgr.Manager, task tasks.Task, url string) *browsermgr.Window) {
	t.Helper()
	m := open(t)
	for _, task := range tasks.Corpus() {
		t.Run(task.Name, func(t *testing.T) {
			server := httptest.NewServer(task.Site)
			defer server.Close()
			w := do(t, m, task, server.URL+"/")
			if w == nil {
				return
			}
			defer func() { _ = w.Close(context.Background()) }()
			if t.Failed() {
				return
			}
			var err error
			defer func() {
				if err != nil {
					t.Error(err)
				}
			}()
			browsertest.Eventually(t, "all is as it must be", func() bool { err = task.Check(t.Context(), w); return err == nil })
		})
	}
}

func window(t *testing.T, m *browsermgr.Manager, key string) *browsermgr.Window {
	t.Helper()
	w, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: key, Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// direct does the steps of a task one by one.
func direct(by func(context.Context, tasks.Page, tasks.Step) error) func(*testing.T, *browsermgr.Manager, tasks.Task, string) *browsermgr.Window {
	return func(t *testing.T, m *browsermgr.Manager, task tasks.Task, url string) *browsermgr.Window {
		t.Helper()
		w := window(t, m, task.Name)
		if _, err := w.Act(t.Context(), "navigate", map[string]any{"url": url}); err != nil {
			t.Fatal(err)
		}
		for i, step := range task.Steps {
			if err := by(t.Context(), w, step); err != nil {
				t.Fatalf("step %d, %+v: %v", i+1, step, err)
			}
		}
		return w
	}
}

func TestTheCorpusIsDoneOnElements(t *testing.T) { each(t, direct(tasks.ByRef)) }

func TestTheCorpusIsDoneAtPoints(t *testing.T) { each(t, direct(tasks.ByPoint)) }

// windows is a browser as the local loop wants it.
type windows struct{ *browsermgr.Manager }

func (b windows) Open(ctx context.Context, o sessions.Opening) (browseagent.Page, bool, error) {
	w, restored, err := b.Window(ctx, browsermgr.WindowOptions{Key: o.Key, Ephemeral: true})
	return w, restored, err
}

func (b windows) Close(context.Context, string) error { return nil }

func TestTheCorpusIsDoneInPlainSentences(t *testing.T) {
	model := plain.New(plain.Options{})
	worded := 0
	each(t, func(t *testing.T, m *browsermgr.Manager, task tasks.Task, url string) *browsermgr.Window {
		t.Helper()
		prompt, ok := task.Sentences(url)
		if !ok {
			return nil
		}
		worded++
		agent := &browseagent.Agent{Browser: windows{m}, Model: func(context.Context, string) (llm.Model, error) { return model, nil }}
		for step, err := range agent.Run(t.Context(), sessions.Session{ID: task.Name}, sessions.Task{ID: task.Name, Prompt: prompt}) {
			if err != nil {
				t.Fatal(err)
			}
			if step.Failed {
				t.Errorf("%s: %s", step.Label, step.Text)
			}
		}
		return window(t, m, task.Name)
	})
	if worded < 30 {
		t.Errorf("%d tasks can be said in plain sentences, want at least 30", worded)
	}
}

func TestStepsThatAreNotDoneAreNoticed(t *testing.T) {
	for _, task := range tasks.Corpus() {
		if err := task.Check(t.Context(), untouched{}); err == nil {
			t.Errorf("%s: all is as it must be before anything was done", task.Name)
		}
	}
}

// untouched is a page on which nothing happens.
type untouched struct{}

func (untouched) Act(context.Context, string, map[string]any) ([]string, error) { return nil, nil }

func (untouched) Snapshot(context.Context, bool, int) (string, error) { return "", nil }
