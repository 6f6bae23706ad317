package chrome_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
)

// orphan plays a browser that outlived its holder: a program of its own group with that directory on its command line.
func orphan(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t, "sleep 600; true"), "--user-data-dir="+dir)
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-reaped
	})
	eventually(t, "the orphan runs", func() bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
		return err == nil && strings.Contains(string(line), dir)
	})
	return cmd
}

func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat := read(t, "/proc", fmt.Sprintf("%d/stat", pid))
	return strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])[19]
}

func leaveLock(t *testing.T, dir string, pid int, start string) {
	t.Helper()
	place(t, dir, map[string]string{"clank.lock": fmt.Sprintf(`{"pid":1,"program":"clank","browser":%d,"browserStart":%q}`, pid, start)})
}

func singleton(t *testing.T, dir, owner string) {
	t.Helper()
	if err := os.Symlink(owner, filepath.Join(dir, "SingletonLock")); err != nil {
		t.Fatal(err)
	}
}

func TestReapEndsTheOrphanOfADeadHolder(t *testing.T) {
	dir := t.TempDir()
	cmd := orphan(t, dir)
	leaveLock(t, dir, cmd.Process.Pid, startOf(t, cmd.Process.Pid))
	if err := chrome.Reap(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := group(t, cmd.Process.Pid); len(got) != 0 {
		t.Errorf("still running: %v", got)
	}
}

func TestReapSignalsNobodyElse(t *testing.T) {
	for name, record := range map[string]func(t *testing.T, dir string) *exec.Cmd{
		"another start time": func(t *testing.T, dir string) *exec.Cmd {
			t.Helper()
			cmd := orphan(t, dir)
			leaveLock(t, dir, cmd.Process.Pid, "1")
			return cmd
		},
		"another directory": func(t *testing.T, dir string) *exec.Cmd {
			t.Helper()
			cmd := orphan(t, dir+"-other")
			leaveLock(t, dir, cmd.Process.Pid, startOf(t, cmd.Process.Pid))
			return cmd
		},
		"no record": orphan,
		"a garbled record": func(t *testing.T, dir string) *exec.Cmd {
			t.Helper()
			place(t, dir, map[string]string{"clank.lock": `{"browser":`})
			return orphan(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pid := record(t, dir).Process.Pid
			if err := chrome.Reap(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if len(group(t, pid)) == 0 {
				t.Error("a process that is not ours was ended")
			}
		})
	}
}

func TestStaleSingletonLocksAreRemoved(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"another-host-4711", host + "-99999999", host + "-" + strconv.Itoa(os.Getpid()), "nonsense"} {
		dir := t.TempDir()
		singleton(t, dir, owner)
		if err := chrome.Reap(t.Context(), dir); err != nil {
			t.Errorf("%s: %v", owner, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "SingletonLock")); !os.IsNotExist(err) {
			t.Errorf("the lock of %s is left: %v", owner, err)
		}
	}
}

func TestBrowserOfAPersonIsLeftAlone(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := orphan(t, dir)
	singleton(t, dir, fmt.Sprintf("%s-%d", host, cmd.Process.Pid))
	_, err = chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: "/bin/true", Headless: true, UserDataDir: dir})
	var locked *chrome.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != cmd.Process.Pid {
		t.Errorf("got %v, want who has it", err)
	}
	if len(group(t, cmd.Process.Pid)) == 0 {
		t.Error("the person's browser was ended")
	}
}

func TestTemporaryDirectoriesOfTheDeadAreRemovedAndOthersKept(t *testing.T) {
	// Chromium puts a socket there, whose path may have 107 characters: t.TempDir would be too long.
	temp, err := os.MkdirTemp("", "reap") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	cmd, pid, dead := parent(t, "temporary", "temporary")
	p := launch(t, chrome.LaunchOptions{})
	killNow(t, cmd.Process.Pid)
	eventually(t, "the browser has ended", func() bool { return len(group(t, pid)) == 0 })
	eventually(t, "the dead directory is removed", func() bool {
		removed, err := chrome.ReapTemp(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return len(removed) == 1 && removed[0] == dead
	})
	if _, err := os.Stat(p.UserDataDir); err != nil {
		t.Errorf("the living browser's directory: %v", err)
	}
	stop(t, p)
	for _, name := range entries(t, temp) {
		if strings.HasPrefix(name, "clank-") {
			t.Errorf("left: %s", name)
		}
	}
}
