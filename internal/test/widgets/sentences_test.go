package widgets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
)

// windows are the windows of a browser, each with cookies of its own.
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

// openWindows opens a browser that can upload photo.txt.
func openWindows(t *testing.T) windows {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	files := &control.Features{Dir: t.TempDir()}
	check.Must(t, os.MkdirAll(filepath.Join(files.Dir, "uploads"), 0o700))
	check.Must(t, os.WriteFile(filepath.Join(files.Dir, "uploads/photo.txt"), []byte("a photo"), 0o600))
	m := &browsermgr.Manager{Home: t.TempDir(), FirstPort: 18700, LastPort: 18709, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
	m.NewObservers = files.Observe
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() { check.Must(t, m.Close(context.Background())) })
	return windows{m}
}

// TestSentences has the built-in model do on every page what a person would write for its task.
func TestSentences(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("component libraries are installed from the network: make widgets SENTENCES=1 does that")
	}
	dir, err := filepath.Abs(cache)
	check.Must(t, err)
	site, w := browsertest.Serve(t, show(dir)).URL, openWindows(t)
	agent := &browseagent.Agent{
		Browser: w, Model: func(context.Context, string) (llm.Model, error) { return plain.New(plain.Options{}), nil },
	}
	var done, not int
	for _, l := range libraries(t, dir) {
		t.Run(l.name, func(t *testing.T) {
			check.Must(t, l.bundle(t.Context(), dir))
			for _, task := range l.tasks {
				t.Run(task.name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if err := w.follow(ctx, agent, site+"/"+l.name+"/"+task.name, task); err != nil {
						not++
						t.Logf("not done: %s/%s: %s: %v", l.name, task.name, task.say, err)
						return
					}
					done++
				})
			}
		})
	}
	t.Logf("plain: %d done, %d not", done, not)
}

// follow has the agent open a page and do what its task says, and waits for the end.
func (w windows) follow(ctx context.Context, agent *browseagent.Agent, url string, task task) (err error) {
	s := sessions.Session{ID: strings.ReplaceAll(url, "/", "-")}
	defer func() { err = errors.Join(err, agent.Close(context.WithoutCancel(ctx), s.ID)) }()
	var acts []string
	ask := func(words string) error {
		for step, err := range agent.Run(ctx, s, sessions.Task{Prompt: words, MaxSteps: 40}) {
			switch {
			case err != nil:
				return err
			case step.Kind == sessions.StepAct && step.Phase == sessions.PhaseDone && step.Tool != "browser_snapshot":
				acts = append(acts, step.Label)
			case step.Kind == sessions.StepAnswer && step.Failed:
				return fmt.Errorf("%s\n  did: %s", step.Text, strings.Join(acts, "; "))
			}
		}
		return nil
	}
	if err := ask("open " + url); err != nil {
		return err
	}
	window, _ := w.manager.Lookup(s.ID)
	var last string
	holds := func() (bool, error) {
		notes, err := window.Act(ctx, "evaluate", map[string]any{"fn": "[!!(" + task.is + "), window.result]"})
		last = strings.TrimPrefix(strings.Join(notes, " "), "result: ")
		return strings.HasPrefix(last, "[true"), err
	}
	if ok, _ := holds(); ok { // a check that throws has nothing to look at yet
		return errTrueAlready
	}
	err = ask(task.say)
	if err == nil {
		if err = until(ctx, task.is, holds); err != nil {
			err = fmt.Errorf("%w, got %s\n  did: %s", err, last, strings.Join(acts, "; "))
		}
	}
	if err != nil && os.Getenv("CLANK_SHOW") != "" {
		text, lookErr := window.Snapshot(ctx, sessions.SnapshotOptions{})
		err = errors.Join(err, errors.New(text), lookErr)
	}
	return err
}
