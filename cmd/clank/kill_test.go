package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/browsecli"
	"clank/internal/command"
)

const firstTry = `open the demo shop, type "lamp" into Search, press Enter, read`

// noTempFiles fails if the program's directory for temporary files is not empty.
func noTempFiles(t *testing.T, environ []string) {
	t.Helper()
	for _, kv := range environ {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok && filepath.Base(dir) == "tmp" {
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) > 0 {
				t.Errorf("left in %s: %v %v", dir, entries, err)
			}
		}
	}
}

// serving starts clank serve and waits until it is ready.
func serving(t *testing.T, home string, environ []string, args ...string) *program {
	t.Helper()
	args = append([]string{"serve", "--addr", "127.0.0.1:0", "--shop-addr", "127.0.0.1:0", "--control-addr", "127.0.0.1:0"}, args...)
	p := start(t, home, environ, args...)
	await(t, p.stdout, "clank is ready")
	return p
}

func TestInterruptEndsTheServerAndASessionGoesOnInTheNextOne(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	site := newSite(t)
	server := serving(t, home, environ)
	if got := start(t, home, environ, "browse", firstTry).code(t); got != command.ExitDone {
		t.Fatalf("browse through the server: exit code = %d", got)
	}
	first := start(t, home, environ, "browse", "--json", "open "+site.URL+"/")
	if got := first.code(t); got != command.ExitDone {
		t.Fatalf("exit code = %d", got)
	}
	id := sessionOf(t, first)
	browserOf(t, home)
	server.interrupt(t)
	if got := server.code(t); got != command.ExitDone {
		t.Errorf("exit code = %d, want %d", got, command.ExitDone)
	}
	nothingLeft(t, home)
	noTempFiles(t, environ)

	serving(t, home, environ)
	second := start(t, home, environ, "browse", "--session", id, "read")
	if got := second.code(t); got != command.ExitDone {
		t.Fatalf("exit code = %d", got)
	}
	if got := second.stdout.text(); !strings.Contains(got, "ferry at 10:40") {
		t.Errorf("answer = %q, want what the page says", got)
	}
	if got := second.stderr.text(); !strings.Contains(got, "opened again") {
		t.Errorf("stderr = %q, want a word that the page was reopened", got)
	}
}

func TestSecondInterruptDoesNotWait(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	site := newSite(t)
	server := serving(t, home, environ)
	busy := start(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	server.interrupt(t)
	server.interrupt(t)
	server.code(t)
	busy.code(t)
	nothingLeft(t, home)
}

func TestKilledBrowserIsSaidAndTheNextTaskWorks(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	site := newSite(t)
	serving(t, home, environ)
	for name, victims := range map[string]func(*testing.T, string) []process{
		"the whole browser": browsersOf,
		"its renderers":     renderersOf,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, home, environ, "browse", "open "+site.URL+"/stuck, click \"Wait\"")
			site.awaitHit(t, "/hang")
			for _, v := range victims(t, home) {
				kill(t, v)
			}
			if got := p.code(t); got != command.ExitFailed {
				t.Errorf("exit code = %d, want %d", got, command.ExitFailed)
			}
			if said := p.stdout.text() + p.stderr.text(); !strings.Contains(said, "ended") && !strings.Contains(said, "crashed") {
				t.Errorf("the person was told %q, want that the browser ended or the page crashed", said)
			}
			next := start(t, home, environ, "browse", "open "+site.URL+"/, read")
			if got := next.code(t); got != command.ExitDone || !strings.Contains(next.stdout.text(), "ferry") {
				t.Errorf("the next task: exit code %d, answer %q", got, next.stdout.text())
			}
		})
	}
}

// browsersOf returns the browser alone.
func browsersOf(t *testing.T, home string) []process {
	t.Helper()
	return []process{browserOf(t, home)}
}

// renderersOf returns the renderers of the browser of a home. Which of them
// holds the page, and which is kept in reserve, cannot be seen from outside.
func renderersOf(t *testing.T, home string) []process {
	t.Helper()
	var rs []process
	for _, p := range processesOf(t, home) {
		if strings.Contains(p.args, "--type=renderer") {
			rs = append(rs, p)
		}
	}
	if len(rs) == 0 {
		t.Fatal("there is no renderer")
	}
	return rs
}

func TestKilledServerLeavesNoBrowserAndItsTaskIsInterrupted(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	site := newSite(t)
	server := serving(t, home, environ)
	busy := start(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	kill(t, process{pid: server.cmd.Process.Pid})
	<-server.done
	nothingLeft(t, home)

	begin := time.Now()
	serving(t, home, environ) // elsewhere: its port is another one
	t.Logf("ready again after %v", time.Since(begin))
	next := start(t, home, environ, "browse", "open "+site.URL+"/, read")
	if got := next.code(t); got != command.ExitDone {
		t.Errorf("the next task: exit code = %d", got)
	}
	if got := busy.code(t); got != command.ExitFailed {
		t.Errorf("the command that waited: exit code = %d, want %d", got, command.ExitFailed)
	}
	if got := busy.stderr.text(); !strings.Contains(got, "is gone (start it again, and go on with session ") {
		t.Errorf("the command that waited said %q, want that the server went away, and how to go on", got)
	}
}

func TestTwoCommandsAtOnceBothWork(t *testing.T) {
	home, environ := newPlace(t)
	t.Chdir(t.TempDir())
	site := newSite(t)
	first := start(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	second := start(t, home, environ, "browse", "open "+site.URL+"/, read")
	if got := second.code(t); got != command.ExitDone || !strings.Contains(second.stdout.text(), "ferry") {
		t.Errorf("the second: exit code %d, answer %q", got, second.stdout.text())
	}
	if got := second.stderr.text(); !strings.Contains(got, "keeps nothing") || strings.Contains(got, "--session") {
		t.Errorf("the second said %q, want that it keeps nothing", got)
	}
	first.interrupt(t)
	if got := first.code(t); got != command.ExitStopped {
		t.Errorf("the first: exit code %d, want %d", got, command.ExitStopped)
	}
	nothingLeft(t, home)
	noTempFiles(t, environ)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left where the commands were called: %v %v", left, err)
	}
}

func interruptStopsTheTask(t *testing.T, c *company) {
	t.Helper()
	home, environ, site := c.home, c.environ, c.site
	p := start(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	p.interrupt(t)
	if got := p.code(t); got != command.ExitStopped {
		t.Errorf("exit code = %d, want %d", got, command.ExitStopped)
	}
	if got := p.stderr.text(); !strings.Contains(got, "stopped") {
		t.Errorf("stderr = %q, want that it was stopped", got)
	}
	if got := start(t, home, environ, "browse", "open "+site.URL+"/, read").code(t); got != command.ExitDone {
		t.Errorf("the next task: exit code = %d", got)
	}
}

func TestDiscordOutOfReachKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	environ = append(environ, "DISCORD_TOKEN=secret", "CLANK_DISCORD_API=http://127.0.0.1:1")
	server := serving(t, home, environ)
	if got := server.stdout.text(); !strings.Contains(got, "discord  connecting") {
		t.Errorf("stdout = %q, want that Discord is still being connected", got)
	}
	server.interrupt(t)
	if got := server.code(t); got != command.ExitDone {
		t.Errorf("exit code = %d, want %d", got, command.ExitDone)
	}
}

func TestTwoServersCannotShareAHome(t *testing.T) {
	t.Parallel()
	home, environ := newPlace(t)
	serving(t, home, environ)
	second := start(t, home, environ, "serve")
	if got := second.code(t); got != command.ExitFailed {
		t.Errorf("exit code = %d, want %d", got, command.ExitFailed)
	}
	if got := second.stderr.text(); !strings.Contains(got, "held by process") || !strings.Contains(got, "CLANK_HOME") {
		t.Errorf("stderr = %q, want who holds the home and the way out", got)
	}
}

// sessionOf reads the session's id from what "browse --json" printed.
func sessionOf(t *testing.T, p *program) string {
	t.Helper()
	var got browsecli.Outcome
	if err := json.Unmarshal([]byte(p.stdout.text()), &got); err != nil || got.SessionID == "" {
		t.Fatalf("no session in %q: %v", p.stdout.text(), err)
	}
	return got.SessionID
}
