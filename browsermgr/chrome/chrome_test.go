package chrome_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
)

// parentDir makes the test program play a parent that is killed: it launches a browser on that directory, prints its
// pid, and waits.
const parentDir = "CHROME_TEST_PARENT_DIR"

// mark is set in the environment of browsers, so that each of their processes can be found.
const mark = "CHROME_TEST_MARK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		os.Exit(playParent(dir))
	}
	os.Exit(m.Run())
}

func playParent(dir string) int {
	exe, err := chrome.Find(context.Background(), os.Getenv("CLANK_CHROMIUM"))
	if err == nil {
		var p *chrome.Process
		o := chrome.LaunchOptions{Executable: exe.Path, UserDataDir: dir, Headless: true}
		if dir == "temporary" {
			o.UserDataDir = ""
		}
		if p, err = chrome.Launch(context.Background(), o); err == nil {
			fmt.Fprintln(os.Stdout, "ready", p.PID, p.UserDataDir)
			<-p.Done()
		}
	}
	fmt.Fprintln(os.Stdout, "failed", err)
	return 1
}

// browser finds the Chromium of this machine.
func browser(t *testing.T) string {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	return exe.Path
}

// launch launches a headless browser that the test's end stops.
func launch(t *testing.T, o chrome.LaunchOptions) *chrome.Process {
	t.Helper()
	if o.Executable == "" {
		o.Executable = browser(t)
	}
	o.Headless = true
	p, err := chrome.Launch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, p) })
	return p
}

func stop(t *testing.T, p *chrome.Process) {
	t.Helper()
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// program writes a shell script that stands in for a browser.
func program(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	place(t, dir, map[string]string{"fake-browser!": "#!/bin/sh\n" + script + "\n"})
	return filepath.Join(dir, "fake-browser")
}

// eventually waits for what another process brings about.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}

func ended(t *testing.T, p *chrome.Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("Done is not closed within a minute")
	}
}

// group lists the running processes of a process group.
func group(t *testing.T, pgid int) []string {
	t.Helper()
	return processes(t, func(stat []string, _ string) bool { return stat[2] == strconv.Itoa(pgid) })
}

// marked lists the running processes whose environment has the mark, crash handlers included.
func marked(t *testing.T, value string) []string {
	t.Helper()
	return processes(t, func(_ []string, dir string) bool {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		return err == nil && strings.Contains(string(env), mark+"="+value)
	})
}

func processes(t *testing.T, want func(stat []string, dir string) bool) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		stat := strings.Fields(string(data)[strings.LastIndexByte(string(data), ')')+1:])
		if stat[0] != "Z" && want(stat, dir) {
			found = append(found, filepath.Base(dir))
		}
	}
	return found
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// command is one of the DevTools protocol.
type command struct {
	method string
	params any
}

func (c command) ProtoReq() string             { return c.method }
func (c command) MarshalJSON() ([]byte, error) { return json.Marshal(c.params) }

// call sends one DevTools command to the browser and returns what it answers.
func call(t *testing.T, p *chrome.Process, method string, params any) json.RawMessage {
	t.Helper()
	conn, err := cdp.Dial(t.Context(), p.WebSocketURL, cdp.Options{CallTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	conn.Start(func(cdp.Event) {})
	defer conn.Close()
	answer, err := cdp.Ask[json.RawMessage](t.Context(), conn.Session("", cdp.ErrGone), command{method, params})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// parent starts a program that launches a browser on dir, and returns it and the browser's pid and directory.
func parent(t *testing.T, dir, markValue string) (cmd *exec.Cmd, pid int, userData string) {
	t.Helper()
	browser(t)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentDir+"="+dir, mark+"="+markValue)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "ready %d %s", &pid, &userData); err != nil {
		t.Fatalf("the parent said %q", line)
	}
	return cmd, pid, userData
}

func killNow(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
