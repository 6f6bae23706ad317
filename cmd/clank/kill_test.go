package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

const firstTry = `open the demo shop, type "lamp" into Search, press Enter, read`

// checkNoTempFiles fails if the program's directory for temporary files is not empty.
func checkNoTempFiles(t *testing.T, environ []string) {
	t.Helper()
	for _, kv := range environ {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok && filepath.Base(dir) == "tmp" {
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) > 0 {
				t.Errorf("left in %s: %v %v", dir, entries, err)
			}
			return
		}
	}
	t.Error("the program had no directory of its own for temporary files")
}

// startServer starts clank serve and waits until it is ready.
func startServer(t *testing.T, home string, environ []string, args ...string) *runningProgram {
	t.Helper()
	args = append([]string{
		"serve", "--addr", "127.0.0.1:0", "--shop-addr", "127.0.0.1:0", "--control-addr",
		"127.0.0.1:0",
	}, args...)
	p := startProgram(t, home, environ, args...)
	awaitOutput(t, p.stdout, "clank is ready")
	return p
}

func TestInterruptEndsTheServerAndASessionGoesOnInTheNextOne(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	site := newTestSite(t)
	server := startServer(t, home, append(environ, "AWS_SECRET_ACCESS_KEY="+environmentSecret))
	if code, _, told := runInProcess(t, environ, "browse", firstTry); code != exitDone {
		t.Fatalf("browse through the server: exit code %d: %s", code, told)
	}
	code, out, told := runInProcess(t, environ, "browse", "--json", "open "+site.URL+"/")
	var first browseOutcome
	if err := json.Unmarshal([]byte(out), &first); err != nil || code != exitDone || first.SessionID == "" {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, told)
	}
	checkNoSecretLeaves(t, server.cmd.Process.Pid, browserOf(t, home).pid)
	server.interrupt(t)
	check.Equal(t, "exit code", server.exitCode(t), exitDone)
	checkNothingLeft(t, home)
	checkNoTempFiles(t, environ)

	startServer(t, home, environ)
	code, out, told = runInProcess(t, environ, "browse", "--session", first.SessionID, "read")
	if code != exitDone || !strings.Contains(out, "ferry at 10:40") || !strings.Contains(told, "opened again") {
		t.Errorf("exit code %d, answer %q, told %q; want what the page says, and that it was reopened", code, out, told)
	}
}

// startBusyServer starts a server, and a command whose task waits there for a page.
func startBusyServer(t *testing.T) (home string, environ []string, site *testSite, server, busy *runningProgram) {
	t.Helper()
	home, environ = newTestHome(t)
	site = newTestSite(t)
	server = startServer(t, home, environ)
	busy = startProgram(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	return home, environ, site, server, busy
}

func TestSecondInterruptDoesNotWait(t *testing.T) {
	t.Parallel()
	home, _, _, server, busy := startBusyServer(t)
	server.interrupt(t)
	awaitOutput(t, server.stderr, "interrupt again to end them") // two at once may be one
	server.interrupt(t)
	told := "\nclank serve: ended at once, without waiting for what ran\n"
	if got := server.exitCode(t); got != exitStopped || !strings.HasSuffix(server.stderr.text(), told) {
		t.Errorf("exit code = %d, want %d and %q at the end of %q", got, exitStopped, told, server.stderr.text())
	}
	if busy.exitCode(t); !strings.Contains(busy.stderr.text(), "stopped by the restart of clank") {
		t.Errorf("who waits for a task is told %q", busy.stderr.text())
	}
	checkNothingLeft(t, home)
}

func TestAKilledBrowserIsReportedAndTheNextTaskWorks(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	site := newTestSite(t)
	startServer(t, home, environ)
	for name, victims := range map[string]func(*testing.T, string) []process{
		"the whole browser": browsersOf,
		"its renderers":     renderersOf,
	} {
		t.Run(name, func(t *testing.T) {
			p := startProgram(t, home, environ, "browse", "open "+site.URL+"/stuck, click \"Wait\"")
			site.awaitHit(t, "/hang")
			for _, v := range victims(t, home) {
				killProcess(t, v)
			}
			check.Equal(t, "exit code", p.exitCode(t), exitFailed)
			if said := p.stdout.text() + p.stderr.text(); !strings.Contains(said, "ended") &&
				!strings.Contains(said, "crashed") {
				t.Errorf("the person was told %q, want that the browser ended or the page crashed", said)
			}
			if code, out, _ := runInProcess(t, environ, "browse", "open "+site.URL+"/, read"); code != exitDone ||
				!strings.Contains(out, "ferry") {
				t.Errorf("the next task: exit code %d, answer %q", code, out)
			}
		})
	}
}

// environmentSecret is in the environment of a server, and is none of its browser's business.
const environmentSecret = "s3cret-of-the-environment"

// checkNoSecretLeaves fails unless neither program may dump its memory, and the browser's environment has no secret.
func checkNoSecretLeaves(t *testing.T, server, browser int) {
	t.Helper()
	for _, pid := range []int{server, browser} {
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		check.Must(t, err)
		if !regexp.MustCompile(`Max core file size +0 +0 `).Match(limits) {
			t.Errorf("process %d may dump its memory:\n%s", pid, limits)
		}
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", browser))
	check.Must(t, err)
	if !bytes.Contains(environ, []byte("HOME=")) || bytes.Contains(environ, []byte(environmentSecret)) {
		t.Errorf("the browser's environment: %q", bytes.Split(environ, []byte{0}))
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

func TestAKilledServerLeavesNoBrowserAndAnInterruptedTask(t *testing.T) {
	t.Parallel()
	home, environ, site, server, busy := startBusyServer(t)
	killProcess(t, process{pid: server.cmd.Process.Pid})
	<-server.done
	checkNothingLeft(t, home)

	begin := time.Now()
	startServer(t, home, environ) // elsewhere: its port is another one
	t.Logf("ready again after %v", time.Since(begin))
	if code, _, _ := runInProcess(t, environ, "browse", "open "+site.URL+"/, read"); code != exitDone {
		t.Errorf("the next task: exit code = %d", code)
	}
	check.Equal(t, "the command that waited: exit code", busy.exitCode(t), exitFailed)
	if got := busy.stderr.text(); !strings.Contains(got, "is gone (start it again, and go on with session ") {
		t.Errorf("the command that waited said %q, want that the server went away, and how to go on", got)
	}
}

func TestTwoCommandsAtOnceBothWork(t *testing.T) {
	home, environ := newTestHome(t)
	t.Chdir(t.TempDir())
	site := newTestSite(t)
	first := startProgram(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	second := startProgram(t, home, environ, "browse", "open "+site.URL+"/, read")
	if got := second.exitCode(t); got != exitDone || !strings.Contains(second.stdout.text(), "ferry") {
		t.Errorf("the second: exit code %d, answer %q", got, second.stdout.text())
	}
	if got := second.stderr.text(); !strings.Contains(got, "keeps nothing") || strings.Contains(got, "--session") {
		t.Errorf("the second said %q, want that it keeps nothing", got)
	}
	first.interrupt(t)
	if got := first.exitCode(t); got != exitStopped {
		t.Errorf("the first: exit code %d, want %d", got, exitStopped)
	}
	checkNothingLeft(t, home)
	checkNoTempFiles(t, environ)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left where the commands were called: %v %v", left, err)
	}
}

func interruptStopsTheTask(t *testing.T, c *sharedServer) {
	t.Helper()
	home, environ, site := c.home, c.environ, c.site
	p := startProgram(t, home, environ, "browse", "open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	p.interrupt(t)
	check.Equal(t, "exit code", p.exitCode(t), exitStopped)
	if got := p.stderr.text(); !strings.Contains(got, "stopped") {
		t.Errorf("stderr = %q, want that it was stopped", got)
	}
	if code, _, _ := runInProcess(t, environ, "browse", "open "+site.URL+"/, read"); code != exitDone {
		t.Errorf("the next task: exit code = %d", code)
	}
}

func TestDiscordOutOfReachKeepsNobodyWaitingAndTwoServersCannotShareAHome(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "DISCORD_TOKEN=secret", "CLANK_DISCORD_API=http://127.0.0.1:1")
	server := startServer(t, home, environ)
	if got := server.stdout.text(); !strings.Contains(got, "discord  connecting") {
		t.Errorf("stdout = %q, want that Discord is still being connected", got)
	}
	_, stderr, code := runProgram(t, home, environ, "serve")
	if code != exitFailed || !strings.Contains(stderr, "held by process") || !strings.Contains(stderr, "CLANK_HOME") {
		t.Errorf("exit code %d, stderr %q, want who holds the home and the way out", code, stderr)
	}
	server.interrupt(t)
	check.Equal(t, "exit code", server.exitCode(t), exitDone)
}

// filmBeside returns the film that is there beside a known one, and how many frames and chapters others find in it: 0
// while there is none.
func filmBeside(t *testing.T, home, known string) (film string, frames, chapters int) {
	t.Helper()
	films, err := filepath.Glob(filepath.Join(home, "films", "film", "*.webm"))
	check.Must(t, err)
	films = slices.DeleteFunc(films, func(f string) bool { return f == known })
	if len(films) == 0 {
		return "", 0, 0
	}
	out, err := exec.Command("ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames",
		"-show_chapters", "-of", "json", films[0]).Output()
	if err != nil {
		return "", 0, 0 // nothing was written yet
	}
	var found struct {
		Streams []struct {
			Frames string `json:"nb_read_frames"`
		}
		Chapters []struct{}
	}
	check.Must(t, json.Unmarshal(out, &found))
	for _, s := range found.Streams {
		frames, _ = strconv.Atoi(s.Frames) // it is not there where there are none
	}
	return films[0], frames, len(found.Chapters)
}

func TestATaskIsFilmedAsTheSettingsSayAlsoUntilAKill(t *testing.T) {
	t.Parallel()
	check.Installed(t, "ffprobe")
	home, environ := newTestHome(t)
	site := newTestSite(t)
	code, _, told := runInProcess(t, environ, "config", "set", "interaction.sessions.record", "always")
	if code != exitDone {
		t.Fatalf("config set: %s", told)
	}
	server := startServer(t, home, environ)
	if code, _, told := runInProcess(t, environ, "browse", firstTry); code != exitDone {
		t.Fatalf("exit code %d: %s", code, told)
	}
	var first string
	browsertest.Eventually(t, "a film with a chapter for each of four acts", func() bool {
		film, frames, chapters := filmBeside(t, home, "")
		first = film
		return frames > 0 && chapters == 4
	})
	busy := startProgram(t, home, environ, "browse", "open "+site.URL+"/, open "+site.URL+"/hang")
	site.awaitHit(t, "/hang")
	browsertest.Eventually(t, "a part of the film", func() bool {
		_, frames, _ := filmBeside(t, home, first)
		return frames > 0
	})
	check.Must(t, server.cmd.Process.Kill())
	server.exitCode(t)
	busy.exitCode(t)
	if _, frames, _ := filmBeside(t, home, first); frames == 0 {
		t.Error("nothing is left of the film")
	}
}
