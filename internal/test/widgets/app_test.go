package widgets_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

var appsFlag = flag.Bool("apps", false, "do tasks on real applications")

// application is one that others wrote. Its commands run with $ROOT, where scripts/ensure-apps puts packages, $DIR,
// which is empty at first, and $PORT.
type application struct {
	name   string
	needs  string // a path below $ROOT, without which it is skipped
	set    string // what is done before the first start
	start  string
	tasks  []appTask
	upload map[string]string // files for uploads
}

// appTask is done if check finds nothing wrong in what the application has kept.
type appTask struct {
	name, script string
	check        func(p *policy) error
}

// TestApps does every task by a scripted policy. "make apps" runs it.
func TestApps(t *testing.T) {
	if !*appsFlag {
		t.Skip("make apps runs it")
	}
	done, failed := 0, 0
	for _, app := range applications {
		t.Run(app.name, func(t *testing.T) {
			p := startApp(t, app)
			for _, task := range app.tasks {
				if err := p.solveApp(t.Context(), task); err != nil {
					failed++
					t.Errorf("apps: not done: %s, %s: %v", app.name, task.name, err)
					continue
				}
				done++
			}
		})
	}
	if done+failed == 0 {
		t.Error("apps: no application could be had")
	}
	t.Logf("apps: %d done, %d not", done, failed)
}

// solveApp does a task, whose check must fail before.
func (p *policy) solveApp(ctx context.Context, task appTask) error {
	if task.check != nil && task.check(p) == nil {
		return errors.New("done before the first step")
	}
	for line := range strings.Lines(task.script) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := p.do(ctx, line); err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, p.seen)
		}
	}
	if task.check == nil {
		return nil
	}
	return task.check(p)
}

// startApp starts an application on a port of its own. It ends with the test, which is skipped if there is none.
func startApp(t *testing.T, app application) *policy {
	t.Helper()
	cache := appCache(t)
	root := filepath.Join(cache, "root")
	if app.needs == "" {
		root = installNodeRED(t, cache)
	} else if _, err := os.Stat(filepath.Join(root, app.needs)); err != nil {
		t.Skipf("apps: skipped: %s could not be had: %v", app.name, err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.Must(t, err)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	check.Must(t, listener.Close())
	p := newPolicy(t, app.upload)
	p.origin, p.home = "http://127.0.0.1:"+port, t.TempDir()
	shell := func(ctx context.Context, script string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sh", "-ec", script)
		cmd.Dir = p.home
		cmd.Env = append(os.Environ(), "ROOT="+root, "DIR="+p.home, "PORT="+port, "HOME="+p.home)
		return cmd
	}
	if out, err := shell(t.Context(), app.set).CombinedOutput(); err != nil {
		t.Fatalf("set up %s: %v\n%s", app.name, err, out)
	}
	var out bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	cmd := shell(ctx, "exec "+app.start)
	cmd.Stdout, cmd.Stderr = &out, &out
	check.Must(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s", out.Bytes()[max(0, out.Len()-2000):])
		}
	})
	browsertest.Eventually(t, app.name+" answers", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return p
}

// get fetches a page of the application; nil if there is none.
func (p *policy) get(path string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.origin+path, http.NoBody)
	if err != nil {
		return nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil
	}
	return data
}

// wantFile checks that a file below the application's folder, which may be a pattern, contains texts.
func wantFile(pattern string, want ...string) func(*policy) error {
	return func(p *policy) error {
		found, err := filepath.Glob(filepath.Join(p.home, pattern))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("no file %s: %w", pattern, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			return err
		}
		return contains(string(data), want)
	}
}

// wantNoFile checks that no file below the application's folder matches.
func wantNoFile(pattern string) func(*policy) error {
	return func(p *policy) error {
		if found, err := filepath.Glob(filepath.Join(p.home, pattern)); err != nil || len(found) > 0 {
			return fmt.Errorf("there are %q: %w", found, err)
		}
		return nil
	}
}

// wantPage checks that an address of the application answers with texts.
func wantPage(path string, want ...string) func(*policy) error {
	return func(p *policy) error { return contains(string(p.get(path)), want) }
}

func wantSaved(want ...string) func(*policy) error {
	return func(p *policy) error { return contains(p.saved, want) }
}

// contains looks for texts; what follows a "!" must not be there.
func contains(got string, want []string) error {
	for _, w := range want {
		text, not := strings.CutPrefix(w, "!")
		if strings.Contains(got, text) == not {
			return fmt.Errorf("got %q, want %q", got, want)
		}
	}
	return nil
}
