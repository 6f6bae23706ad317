package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/server"
	"clank/internal/test/check"
)

// patience bounds every wait of these tests. It is meant for very slow machines, far above the expected times.
const patience = 90 * time.Second

// asProgram makes the test binary behave as clank itself.
const asProgram = "CLANK_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(viewers.Run(m))
}

// otherHalf runs the tests that "make test" leaves out, and not those that it runs.
var otherHalf = flag.Bool("other", false, "the tests and parts that make test leaves out")

// inHalf skips a test that is not in the half that runs: rest means that it belongs to "make other-half", which lists
// the tests.
func inHalf(t *testing.T, rest bool) {
	t.Helper()
	if rest != *otherHalf {
		t.Skip("make test runs one half, make other-half the other")
	}
}

// builtProgram is the clank that the tests run instead of their own binary.
var builtProgram = flag.String("program", "", "test this `file`")

// runningProgram is clank in a separate process.
type runningProgram struct {
	cmd            *exec.Cmd
	home           string
	stdout, stderr *transcript
	stopReading    func() error // closes stderr's pipe
	done           chan struct{}
}

// placeCount is the number of homes created.
var placeCount atomic.Int32

// newTestHome returns the environment of a program with a new home and a new directory for temporary files.
func newTestHome(tb testing.TB) (home string, environ []string) {
	tb.Helper()
	root, err := os.MkdirTemp("", "clank") //nolint:usetesting // Chromium puts a socket there, whose path may not be long
	check.Must(tb, err)
	tb.Cleanup(func() {
		checkNothingLeft(tb, root) // what is being ended still writes
		checkPartsOfHome(tb, filepath.Join(root, "home"))
		if err := os.RemoveAll(root); err != nil {
			tb.Error(err)
		}
	})
	home, tmp := filepath.Join(root, "home"), filepath.Join(root, "tmp")
	for _, dir := range []string{tmp, filepath.Join(home, "browser")} {
		check.Must(tb, os.MkdirAll(dir, 0o700))
	}
	// Profiles keep their DevTools port while programs come and go; tests and runs side by side must not take each
	// other's.
	port := 19100 + 64*(os.Getpid()%192) + int(placeCount.Add(1))
	profiles := fmt.Sprintf(`{"profiles":{"clank":{"cdpPort":%d}}}`, port)
	check.Must(tb, os.WriteFile(filepath.Join(home, "browser", "profiles.json"), []byte(profiles), 0o600))
	environ = append(os.Environ(), asProgram+"=1", "CLANK_HOME="+home, "TMPDIR="+tmp, "DISCORD_TOKEN=", "OPENAI_API_KEY=",
		"DISPLAY=", "WAYLAND_DISPLAY=", server.AllowedHostsEnv+"=127.0.0.1", server.NoSandboxEnv+"=1")
	return home, environ
}

// startProgram runs clank with args. At the end of the test it is killed if it is still running, and must leave no
// processes.
func startProgram(t *testing.T, home string, environ []string, args ...string) *runningProgram {
	t.Helper()
	p := &runningProgram{home: home, stdout: newTranscript(), stderr: newTranscript(), done: make(chan struct{})}
	p.cmd = exec.Command(cmp.Or(*builtProgram, os.Args[0]), args...)
	p.cmd.Env = environ
	stderr, theirs, err := os.Pipe()
	check.Must(t, err)
	p.cmd.Stdout, p.cmd.Stderr, p.stopReading = p.stdout, theirs, stderr.Close
	check.Must(t, errors.Join(p.cmd.Start(), theirs.Close()))
	go func() {
		defer close(p.done)
		io.Copy(p.stderr, stderr)
		stderr.Close()
		p.cmd.Wait()
		p.stdout.closeOutput()
		p.stderr.closeOutput()
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("clank %s\nstdout: %s\nstderr: %s", clipLine(strings.Join(args, " "), 200), p.stdout.text(), p.stderr.text())
		}
	})
	return p
}

// exitCode waits for the process to exit and returns the exit code.
func (p *runningProgram) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("clank did not end\nstdout: %s\nstderr: %s", p.stdout.text(), p.stderr.text())
		return 0
	}
}

// interrupt sends the interrupt of Ctrl-C.
func (p *runningProgram) interrupt(t *testing.T) {
	t.Helper()
	check.Must(t, p.cmd.Process.Signal(os.Interrupt))
}

// awaitOutput waits until the transcript holds want.
func awaitOutput(t *testing.T, tr *transcript, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	line, err := tr.await(ctx, want)
	if err != nil {
		t.Fatalf("waiting for %q: %v; so far: %s", want, err, tr.text())
	}
	return line
}

// transcript collects output and lets tests wait for parts of it.
type transcript struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	ended   bool
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.buf.Write(p)
	close(tr.changed)
	tr.changed = make(chan struct{})
	return len(p), nil
}

func (tr *transcript) closeOutput() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.ended = true
	close(tr.changed)
	tr.changed = make(chan struct{})
}

func (tr *transcript) text() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.buf.String()
}

// await returns the first line that contains want.
func (tr *transcript) await(ctx context.Context, want string) (string, error) {
	for {
		tr.mu.Lock()
		text, ended, changed := tr.buf.String(), tr.ended, tr.changed
		tr.mu.Unlock()
		for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
			if strings.Contains(sc.Text(), want) {
				return sc.Text(), nil
			}
		}
		if ended {
			return "", io.ErrUnexpectedEOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// process is a process of this machine.
type process struct {
	pid  int
	args string
}

// processesOf returns the processes whose arguments contain dir: the browsers of a home and their descendants. It
// finds none without /proc.
func processesOf(tb testing.TB, dir string) []process {
	tb.Helper()
	entries, _ := os.ReadDir("/proc")
	var ps []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if s := strings.ReplaceAll(string(args), "\x00", " "); strings.Contains(s, dir) {
			ps = append(ps, process{pid, s})
		}
	}
	return ps
}

// browserOf returns the main process of the browser of a home.
func browserOf(t *testing.T, home string) process {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("this machine has no /proc to look for processes in")
	}
	for _, p := range processesOf(t, home) {
		if !strings.Contains(p.args, "--type=") && strings.Contains(p.args, "--user-data-dir=") {
			return p
		}
	}
	t.Fatalf("there is no browser with %s among %v", home, processesOf(t, home))
	return process{}
}

// checkNothingLeft fails if a process of the home is left. Children that lose their parent take a moment to exit.
func checkNothingLeft(tb testing.TB, home string) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var left []process
	for time.Now().Before(deadline) {
		if left = processesOf(tb, home); len(left) == 0 {
			return
		}
		<-tick.C
	}
	tb.Errorf("left behind: %v", left)
}

// checkPartsOfHome tests that docs/settings.md names all that is in a home. Whether it is backed up and forgotten is
// tested in package server.
func checkPartsOfHome(tb testing.TB, home string) {
	tb.Helper()
	manual, err := os.ReadFile("../../docs/settings.md")
	check.Must(tb, err)
	entries, _ := os.ReadDir(home) // some tests remove it
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".lock")
		if strings.HasPrefix(name, "clank.db-") || strings.HasPrefix(name, "clank.db.process-") {
			name = "clank.db"
		}
		if text := string(manual); !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"/`") &&
			!strings.Contains(text, "`"+name+".lock`") {
			tb.Errorf("%s is in the home: name it in docs/settings.md, and say in homeParts of package server what becomes "+
				"of it", e.Name())
		}
	}
}

func killProcess(t *testing.T, p process) {
	t.Helper()
	if err := check.Kill(p.pid); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("kill %d: %v", p.pid, err)
	}
}

// abandonedHit is recorded when a client of /hang disconnects.
const abandonedHit = "/hang, given up"

// testSite is a local web site with pages that are good, bad and stubborn.
type testSite struct {
	*httptest.Server
	hits chan string // path of each request
}

func newTestSite(tb testing.TB) *testSite {
	tb.Helper()
	s := &testSite{hits: make(chan string, 1000)}
	hang := make(chan struct{})
	mux := http.NewServeMux()
	page := func(path, html string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<!doctype html><title>"+strings.Trim(path, "/{}$")+"</title>"+html)
		})
	}
	page("/{$}", `<h1>Welcome</h1><button onclick="fetch('/clicked')">Go on</button><p>ferry at 10:40</p>`)
	page("/moving", `<style>@keyframes m{to{transform:translateX(400px)}}button{animation:m .3s linear infinite alternate}</style><button>Catch me</button>`)
	page("/loop", `<button onclick="fetch('/looping');for(;;);">Loop</button>`)
	page("/alert", `<button onclick="fetch('/alerting').then(()=>alert('Are you there?'))">Ask</button>`)
	page("/stuck", `<button onclick="const r=new XMLHttpRequest();r.open('GET','/hang',false);r.send()">Wait</button>`)
	page("/buy", `<form method="post" action="/bought"><button>Buy now</button></form>`)
	page("/login", `<form action="/entered"><input name="user"><input type="password"><button>Go</button></form>`)
	page("/code", `<input autocomplete="one-time-code" maxlength="6">`)
	page("/town", `<label>Town <input id="town"></label><button onclick="fetch('/town/'+town.value)">Send</button>`)
	page("/leads", `<a href="/choice">Two ways</a>`)
	page("/choice", `<h1>Two ways</h1><button onclick="fetch('/one');ways.textContent='the first'">First</button>
		<button onclick="fetch('/two');ways.textContent='the second: ferry at 11:20'">Second</button><p id="ways">none yet</p>`)
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is on fire", http.StatusInternalServerError)
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
			select {
			case s.hits <- abandonedHit:
			default:
			}
		}
	})
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.hits <- r.URL.Path:
		default:
		}
		mux.ServeHTTP(w, r)
	}))
	tb.Cleanup(func() {
		close(hang)
		s.Close()
	})
	return s
}

// awaitHit waits until path was requested.
func (s *testSite) awaitHit(tb testing.TB, path string) {
	tb.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-s.hits:
			if got == path {
				return
			}
		case <-late:
			tb.Fatalf("the site was never asked for %s", path)
		}
	}
}
