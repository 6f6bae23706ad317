package minds_test

import (
	"context"
	"flag"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/internal/minds"
	"clank/internal/tasks"
)

var whole = flag.Bool("whole", false, "every task by every backend, not only its share")

// open opens a browser for all windows of a test.
func open(t *testing.T) *browsermgr.Manager {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	m := &browsermgr.Manager{Home: t.TempDir(), Executable: func() string { return exe.Path }, Headless: true, FirstPort: 18900, LastPort: 18949, LaunchTimeout: time.Minute}
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

func TestTheCorpusIsDoneByEveryBackend(t *testing.T) {
	m := open(t)
	var passed, failed atomic.Int32
	for b, backend := range minds.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			var did, able atomic.Int32
			for i, task := range tasks.Corpus() {
				if why := backend.Lacks(task); why != "" {
					t.Logf("%s: not by %s, for %s", task.Name, backend.Name, why)
					continue
				}
				if !*whole && !share(b, i) {
					continue
				}
				able.Add(1)
				t.Run(task.Name, func(t *testing.T) {
					if do(t, m, backend, task) {
						did.Add(1)
					}
				})
			}
			t.Logf("tasks: backend=%q passed=%d of %d", backend.Name, did.Load(), able.Load())
			passed.Add(did.Load())
			failed.Add(able.Load() - did.Load())
		})
	}
	t.Logf("corpus: backends=%d tasks=%d passed=%d failed=%d", len(minds.Backends()), passed.Load()+failed.Load(), passed.Load(), failed.Load())
}

// share says whether a task is among those that backend b does where not all do all.
func share(_, _ int) bool { return true }

func do(t *testing.T, m *browsermgr.Manager, b minds.Backend, task tasks.Task) bool {
	t.Helper()
	server := httptest.NewServer(task.Site)
	defer server.Close()
	err := b.Run(t.Context(), m, task, server.URL+"/", func(w *browsermgr.Window) error {
		ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
		defer done()
		for {
			err := task.Check(ctx, w)
			if err == nil || ctx.Err() != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	return err == nil
}
