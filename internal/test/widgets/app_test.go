package widgets_test

import (
	"bytes"
	"context"
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
)

var appsFlag = flag.Bool("apps", false, "do tasks on real applications")

// application is one that others wrote. Its commands run with $ROOT, where scripts/ensure-apps puts packages, $DIR, which is
// empty at first, and $PORT.
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
	check        func(u *appUser) error
}

// TestApps does every task by a scripted policy. "make apps" runs it.
func TestApps(t *testing.T) {
	if !*appsFlag {
		t.Skip("make apps runs it")
	}
	done, failed := 0, 0
	for _, app := range applications {
		t.Run(app.name, func(t *testing.T) {
			u := startApp(t, app)
			for _, task := range app.tasks {
				err := u.run(t.Context(), task.script)
				if err == nil && task.check != nil {
					err = task.check(u)
				}
				if err != nil {
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

// startApp starts an application on a port of its own. It ends with the test, which is skipped if there is none.
func startApp(t *testing.T, app application) *appUser {
	t.Helper()
	cache := appCache(t)
	root := filepath.Join(cache, "root")
	if app.needs == "" {
		root = installNodeRED(t, cache)
	} else if _, err := os.Stat(filepath.Join(root, app.needs)); err != nil {
		t.Skipf("apps: skipped: %s could not be had: %v", app.name, err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	browsertest.Must(t, err)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	browsertest.Must(t, listener.Close())
	u := newAppUser(t)
	u.origin, u.home = "http://127.0.0.1:"+port, t.TempDir()
	for name, content := range app.upload {
		browsertest.Must(t, os.WriteFile(filepath.Join(u.dir, name), []byte(content), 0o600))
	}
	shell := func(ctx context.Context, script string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sh", "-ec", script)
		cmd.Dir = u.home
		cmd.Env = append(os.Environ(), "ROOT="+root, "DIR="+u.home, "PORT="+port, "HOME="+u.home)
		return cmd
	}
	if out, err := shell(t.Context(), app.set).CombinedOutput(); err != nil {
		t.Fatalf("set up %s: %v\n%s", app.name, err, out)
	}
	var out bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	cmd := shell(ctx, "exec "+app.start)
	cmd.Stdout, cmd.Stderr = &out, &out
	browsertest.Must(t, cmd.Start())
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
	return u
}

// get fetches a page of the application; nil if there is none.
func (u *appUser) get(path string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.origin+path, http.NoBody)
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
func wantFile(pattern string, want ...string) func(*appUser) error {
	return func(u *appUser) error {
		found, err := filepath.Glob(filepath.Join(u.home, pattern))
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
func wantNoFile(pattern string) func(*appUser) error {
	return func(u *appUser) error {
		if found, err := filepath.Glob(filepath.Join(u.home, pattern)); err != nil || len(found) > 0 {
			return fmt.Errorf("there are %q: %w", found, err)
		}
		return nil
	}
}

// wantPage checks that an address of the application answers with texts.
func wantPage(path string, want ...string) func(*appUser) error {
	return func(u *appUser) error { return contains(string(u.get(path)), want) }
}

func wantSaved(want ...string) func(*appUser) error {
	return func(u *appUser) error { return contains(u.saved, want) }
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
