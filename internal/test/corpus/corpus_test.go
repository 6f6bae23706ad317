package corpus_test

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
	"clank/browsermgr/profile"
	"clank/internal/test/check"
	"clank/internal/test/corpus"
	"clank/internal/test/sqlitetest"
	"clank/sessions"
)

var (
	wholeCorpus = flag.Bool("whole", false, "every task by every backend, not only its share")
	otherHalf   = flag.Bool("other", false, "every task by its two backends, not only each eighteenth, and clicks in "+
		"all views")
)

// openTestBrowser opens a browser for all windows of a test.
func openTestBrowser(t *testing.T) *browsermgr.Manager {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	m := &browsermgr.Manager{Home: t.TempDir(), FirstPort: 18900, LastPort: 18949, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() {
		check.Must(t, m.Close(context.Background()))
	})
	return m
}

func TestTheCorpusIsDoneByEveryBackend(t *testing.T) {
	if testing.Short() {
		t.Skip("long; its parts are tested where they are")
	}
	m := openTestBrowser(t)
	backends := corpus.Backends()
	var passed, failed atomic.Int32
	t.Run("by", func(t *testing.T) {
		for _, b := range backends {
			t.Run(b.Name, func(t *testing.T) {
				t.Parallel()
				did, of := runBackendTasks(t, m, b)
				passed.Add(int32(did))
				failed.Add(int32(of - did))
			})
		}
	})
	t.Logf("corpus: backends=%d tasks=%d passed=%d failed=%d", len(backends), passed.Load()+failed.Load(), passed.Load(),
		failed.Load())
}

// runBackendTasks does a backend's tasks and returns how many came out right.
func runBackendTasks(t *testing.T, m *browsermgr.Manager, b corpus.Backend) (did, of int) {
	t.Helper()
	lacks := 0
	for i, task := range corpus.All() {
		if why := b.Unsupported(task); why != "" {
			lacks++
			t.Logf("%s is not for this backend: %s", task.Name, why)
			continue
		}
		if !*wholeCorpus && (!b.InPart(i, task) || i%18 > 0 && !*otherHalf) {
			continue
		}
		of++
		t.Run(task.Name, func(t *testing.T) {
			if err := runTask(t, m, b, task); err != nil {
				t.Error(err)
				return
			}
			did++
		})
	}
	t.Logf("tasks: backend=%q passed=%d of %d, %d are beyond it", b.Name, did, of, lacks)
	if *wholeCorpus && of < 30 {
		t.Errorf("%d tasks were tried, want at least 30", of)
	}
	return did, of
}

func TestEachTaskIsTriedByTwoBackendsAndEachBackendTriesSome(t *testing.T) {
	tries := map[string]int{}
	for i, task := range corpus.All() {
		n := 0
		for _, b := range corpus.Backends() {
			if b.Unsupported(task) == "" && b.InPart(i, task) {
				tries[b.Name]++
				n++
			}
		}
		if n < 2 {
			t.Errorf("%s is tried by %d backends, want 2", task.Name, n)
		}
	}
	for _, b := range corpus.Backends() {
		if tries[b.Name] < 8 {
			t.Errorf("%s tries %d tasks, want at least 8", b.Name, tries[b.Name])
		}
	}
}

// runTask does a task and says what is not as it must be.
func runTask(t *testing.T, m *browsermgr.Manager, b corpus.Backend, task corpus.Task) error {
	t.Helper()
	server := httptest.NewServer(task.Site)
	defer server.Close()
	return b.Run(t.Context(), m, sqlitetest.Open(t), task, server.URL+"/", func(w *browsermgr.Window) error {
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
}

func TestStepsThatAreNotDoneAreNoticed(t *testing.T) {
	for _, task := range corpus.All() {
		check.Fails(t, task.Check(t.Context(), untouchedPage{}), nil, "want")
	}
}

// untouchedPage is a page on which nothing happens.
type untouchedPage struct{}

func (untouchedPage) Act(context.Context, string, map[string]any) ([]string, error) { return nil, nil }

func (untouchedPage) Snapshot(context.Context, sessions.SnapshotOptions) (string, error) {
	return "", nil
}
