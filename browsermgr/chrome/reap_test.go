package chrome_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/internal/test/check"
)

// orphan starts a fake browser that outlived its holder: a program in its own process group with that directory on its
// command line.
func orphan(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t, "sleep 600; true"), "--user-data-dir="+dir)
	check.OwnGroup(cmd)
	check.Must(t, cmd.Start())
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		check.KillGroup(cmd)
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
	place(t, dir, map[string]string{"clank.lock": fmt.Sprintf(`{"pid":1,"program":"clank","browser":%d,"browserStart":%q}`,
		pid, start)})
}

func singleton(t *testing.T, dir, owner string) {
	t.Helper()
	check.Must(t, os.Symlink(owner, filepath.Join(dir, "SingletonLock")))
}

func TestReapEndsTheOrphanOfADeadHolder(t *testing.T) {
	dir := t.TempDir()
	cmd := orphan(t, dir)
	leaveLock(t, dir, cmd.Process.Pid, startOf(t, cmd.Process.Pid))
	check.Must(t, chrome.Reap(t.Context(), dir))
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
			check.Must(t, chrome.Reap(t.Context(), dir))
			if len(group(t, pid)) == 0 {
				t.Error("a process that is not ours was ended")
			}
		})
	}
}

func TestStaleSingletonLocksAreRemoved(t *testing.T) {
	host, err := os.Hostname()
	check.Must(t, err)
	for _, owner := range []string{
		"another-host-4711", host + "-99999999", host + "-" + strconv.Itoa(os.Getpid()),
		"nonsense",
	} {
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
	check.Must(t, err)
	dir := t.TempDir()
	cmd := orphan(t, dir)
	singleton(t, dir, fmt.Sprintf("%s-%d", host, cmd.Process.Pid))
	_, err = chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: "/bin/true", Headless: true, NoSandbox: true,
		UserDataDir: dir,
	})
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
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	cmd, pid, dead := parent(t, "temporary", "temporary")
	p := launch(t, chrome.LaunchOptions{})
	killNow(t, cmd.Process.Pid)
	eventually(t, "the browser has ended", func() bool { return len(group(t, pid)) == 0 })
	eventually(t, "the dead directory is removed", func() bool {
		removed, err := chrome.ReapTemp(t.Context(), "")
		check.Must(t, err)
		return len(removed) == 1 && removed[0] == dead
	})
	check.Must(t, check.Err(os.Stat(p.UserDataDir))) // the living browser's directory
	stop(t, p)
	for _, name := range entries(t, temp) {
		if strings.HasPrefix(name, "clank-") {
			t.Errorf("left: %s", name)
		}
	}
}

// taken returns a port on which the test listens.
func taken(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// nothingLeft fails unless a browser's processes and its temporary files are gone.
func nothingLeft(t *testing.T, p *chrome.Process, temp string) {
	t.Helper()
	ended(t, p)
	if processes, files := group(t, p.PID), entries(t, temp); len(processes)+len(files) != 0 {
		t.Errorf("left: processes %v, files %v", processes, files)
	}
}

func TestLaunchTakesTheNextFreePortAndStopLeavesNothing(t *testing.T) {
	temp, port := t.TempDir(), taken(t)
	p := launch(t, chrome.LaunchOptions{TempDir: temp, Ports: []int{port, port + 1, port + 2, port + 3, port + 4}})
	if !strings.Contains(p.Version, "/") || p.PID == 0 || !p.Temporary || p.Port <= port || p.Port > port+4 {
		t.Errorf("process is not filled in: %+v", p)
	}
	check.Must(t, p.Err()) // Err of a running browser
	if p.Sandbox || p.SandboxNote == "" {
		t.Errorf("sandbox %t, note %q", p.Sandbox, p.SandboxNote)
	}
	if len(group(t, p.PID)) == 0 {
		t.Error("the browser has no process group of its own")
	}
	got := string(call(t, p, "Target.getTargets", map[string]any{"filter": []any{map[string]any{}}}))
	check.Lacks(t, got, "chrome://")
	stop(t, p)
	nothingLeft(t, p, temp)
	check.Must(t, p.Err()) // Err after Stop
	stop(t, p)             // twice is no error
}

func TestADirectoryIsOneBrowsersAndKeepsCookiesWithoutLocksOrCrashMark(t *testing.T) {
	o := chrome.LaunchOptions{UserDataDir: t.TempDir(), ProfileName: "clank", Color: "#FF4500"}
	p := launch(t, o)
	call(t, p, "Storage.setCookies", map[string]any{"cookies": []map[string]any{{
		"name": "login", "value": "kept", "url": "https://shop.example/", "expires": time.Now().Add(time.Hour).Unix(),
	}}})
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: browser(t), Headless: true, NoSandbox: true,
		UserDataDir: o.UserDataDir,
	})
	if locked, ok := errors.AsType[*chrome.LockedError](err); !ok || locked.Holder.PID != os.Getpid() ||
		locked.Holder.Browser != p.PID {
		t.Errorf("a second one: got %v, want the holder", err)
	}
	stop(t, p)
	for _, name := range entries(t, o.UserDataDir) {
		if strings.HasPrefix(name, "Singleton") || name == "DevToolsActivePort" {
			t.Errorf("left: %s", name)
		}
	}
	prefs := read(t, o.UserDataDir, "Default/Preferences")
	check.Contains(t, prefs, `"name":"clank"`, `"exit_type":"Normal"`)
	got := string(call(t, launch(t, o), "Storage.getCookies", nil))
	check.Contains(t, got, `"value":"kept"`)
}

// Chromium removes the links to its socket before the socket.
func TestBrowserKilledWhileItEndsIsSeenAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	p := launch(t, chrome.LaunchOptions{TempDir: temp})
	socket, err := os.Readlink(filepath.Join(p.UserDataDir, "SingletonSocket"))
	check.Must(t, err)
	for _, name := range []string{"SingletonSocket", "SingletonCookie", "SingletonLock"} {
		check.Must(t, os.Remove(filepath.Join(p.UserDataDir, name)))
	}
	killNow(t, p.PID)
	nothingLeft(t, p, temp)
	check.Fails(t, p.Err(), nil, "killed by signal 9")
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", filepath.Dir(socket), err)
	}
}

func TestSecondCtrlCDoesNotWait(t *testing.T) {
	temp := t.TempDir()
	p := launch(t, chrome.LaunchOptions{TempDir: temp})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := time.Now()
	check.Must(t, p.Stop(ctx))
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a cancelled Stop took %s", took)
	}
	nothingLeft(t, p, temp)
}

func TestParentsDeathEndsEveryProcess(t *testing.T) {
	value := "parent-" + strconv.Itoa(os.Getpid())
	cmd, pid, dir := parent(t, t.TempDir(), value)
	eventually(t, "several processes of the browser run", func() bool { return len(group(t, pid)) > 3 })
	if len(marked(t, value)) < 3 { // this parent, the browser, its crash handlers; zygotes wipe their environment
		t.Fatalf("the mark finds %v", marked(t, value))
	}
	socket, err := os.Readlink(filepath.Join(dir, "SingletonSocket"))
	check.Must(t, err)
	killNow(t, cmd.Process.Pid)
	eventually(t, "no process of the browser is left", func() bool {
		return len(marked(t, value)) == 0 && len(group(t, pid)) == 0
	})
	check.Must(t, chrome.Reap(t.Context(), dir))
	for _, name := range entries(t, dir) {
		if strings.HasPrefix(name, "Singleton") {
			t.Errorf("left after Reap: %s", name)
		}
	}
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("left after Reap: %s, %v", socket, err)
	}
}

func TestOccupiedPortSaysByWhom(t *testing.T) {
	temp, port := t.TempDir(), taken(t)
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: browser(t), Headless: true, NoSandbox: true, TempDir: temp, Ports: []int{port},
	})
	want := fmt.Sprintf("%d is in use by %s (pid %d)", port, filepath.Base(os.Args[0]), os.Getpid())
	check.Fails(t, err, nil, want)
	busy, ok := errors.AsType[*chrome.PortError](err)
	if !ok || len(busy.Busy) != 1 || busy.Busy[0].PID != os.Getpid() || busy.Busy[0].Port != port {
		t.Errorf("as a type: %+v", busy)
	}
	if got := entries(t, temp); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

func TestProgramsThatAreNoBrowser(t *testing.T) {
	for name, tt := range map[string]struct{ program, want string }{
		"says garbage and exits": {program(t, "echo 'cannot load libfoo.so' >&2; exit 3"), "cannot load libfoo.so"},
		"may open few files": {
			program(t, "echo 'GLib: Creating pipes for GWakeup: Too many open files' >&2; exit 5"),
			"exited with status 5; it may not open as many files as it needs",
		},
		"may not write its profile": {
			program(t, "echo 'Failed to create /p/SingletonLock: Read-only file system (30)' >&2; exit 21"),
			"exited with status 21; the disk of its profile cannot be written",
		},
		"has no room for its profile": {
			program(t, "echo 'mkdir /p: No space left on device' >&2; exit 1"), "the disk of its profile is full",
		},
		"has no sandbox": {program(t, "echo 'No usable sandbox! Look' >&2; exit 1"), "No usable sandbox! Look"},
		"has no folder for temporary files": {
			program(t, "echo '[1:1:ERROR:process_singleton_posix.cc:1046] Failed to create socket directory.' >&2; exit 21"),
			"exited with status 21; it cannot make temporary files in " + os.TempDir(),
		},
		"tells its exit status": {program(t, "exit 3"), "exited with status 3; it said nothing"},
		"never answers":         {program(t, "while :; do :; done"), "not ready within "},
		"hangs":                 {program(t, "echo starting >&2; exec sleep 600"), "was idle for 600ms; it said:\nstarting"},
		"shuts its pipe":        {program(t, "exec 3<&- 4>&-; exec sleep 600"), "its DevTools pipe broke"},
		"answers nonsense": {
			program(t, `printf 'no JSON\0' >&4; exec sleep 600`),
			"decode answer to Browser.getVersion",
		},
		"opens no DevTools": {
			program(t, "echo 'DevTools listening on ws://127.0.0.1:1/devtools/browser/x' >&2; exec sleep 600"),
			"its DevTools port 1 is open",
		},
		"is missing": {"/nowhere/chromium", "no such file"},
		"is forbidden": {
			program(t, "echo 'DevTools remote debugging is disallowed by the system admin.' >&2; exec sleep 600"),
			"administrator forbids",
		},
		"is a person's": {
			program(t, "echo 'DevTools remote debugging requires a non-default data directory.' >&2; exec sleep 600"),
			"driver existing-session",
		},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			timeout := time.Minute
			switch {
			case strings.Contains(tt.want, "not ready"), strings.Contains(tt.want, "pipe broke"),
				strings.Contains(tt.want, "decode"):
				timeout = 300 * time.Millisecond
			case strings.Contains(tt.want, "was idle"):
				timeout = 3 * time.Second
			}
			_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
				Executable: tt.program, Headless: true, NoSandbox: true, Pipe: !strings.Contains(tt.want, "port"), TempDir: temp,
				Timeout: timeout, ReadyTimeout: time.Millisecond,
				Env: append(os.Environ(), mark+"="+temp),
			})
			if err == nil || strings.Count(err.Error(), tt.want) != 1 {
				t.Errorf("got %v, want it to contain %q once", err, tt.want)
			}
			if processes, files := marked(t, temp), entries(t, temp); len(processes)+len(files) != 0 {
				t.Errorf("left: processes %v, files %v", processes, files)
			}
		})
	}
}

// The program works now and then, and answers when it has been noticed that the time is over.
func TestABrowserThatGetsLittleCPUTimeHasMoreTimeToStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("CPU times are only read on Linux")
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	check.Must(t, err)
	defer log.Close()
	slow := program(t, `until grep -q 'starts slowly' `+log.Name()+`; do
	i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done
	sleep 0.02
done
printf '{"id":1,"result":{"product":"Slow/1"}}\0' >&4; exec sleep 600`)
	p, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: slow, Headless: true, NoSandbox: true, Pipe: true, TempDir: t.TempDir(),
		Timeout: 3 * time.Second, ReadyTimeout: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	check.Must(t, err)
	if p.Version != "Slow/1" {
		t.Errorf("the version is %q", p.Version)
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	check.Must(t, p.Stop(now))
}

func TestCancelWhileLaunchingLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	fifo := filepath.Join(t.TempDir(), "started")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by @ada")
	go func() {
		eventually(t, "the program has started", func() bool { _, err := os.Stat(fifo); return err == nil })
		cancel(stopped)
	}()
	_, err := chrome.Launch(ctx, chrome.LaunchOptions{
		Executable: program(t, "sleep 600 & touch "+fifo+"; wait"), Headless: true, NoSandbox: true, TempDir: temp,
		Env: append(os.Environ(), mark+"="+temp),
	})
	check.Fails(t, err, stopped)
	if processes, files := marked(t, temp), entries(t, temp); len(processes)+len(files) != 0 {
		t.Errorf("left: processes %v, files %v", processes, files)
	}
}

func TestWindowWithoutADisplayIsRefused(t *testing.T) {
	check.Fails(t, check.Err(chrome.Launch(t.Context(),
		chrome.LaunchOptions{Executable: "/bin/true", Env: []string{"HOME=/nowhere"}})), chrome.ErrNoDisplay)
}

// Run by root, Chromium refuses its sandbox before anything else.
func TestNoBrowserStartsWithoutItsSandboxUnlessToldTo(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	fake := program(t, `case "$*" in
	*--no-sandbox*) echo without >>`+seen+`; exit 4;;
	*) echo with >>`+seen+`; echo 'FATAL: No usable sandbox! see the wiki' >&2; exit 1;;
esac`)
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: fake, Headless: true})
	check.Fails(t, err, chrome.ErrNoSandbox, "CLANK_NO_SANDBOX=1")
	want := "with\nwithout\n"
	if os.Geteuid() == 0 {
		want = "without\n"
	}
	_, err = chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: fake, Headless: true, NoSandbox: true})
	check.Fails(t, err, nil, "status 4")
	check.Equal(t, "attempts", read(t, filepath.Dir(seen), "seen"), want)
}

func TestProxyVariablesDoNotReachTheBrowser(t *testing.T) {
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: program(t, "env >&2; exit 1"), Headless: true, NoSandbox: true,
		Env: []string{"HTTPS_PROXY=http://proxy.example", "http_proxy=http://proxy.example", "KEPT=1"},
	})
	if err == nil || strings.Contains(err.Error(), "proxy.example") || !strings.Contains(err.Error(), "KEPT=1") ||
		!strings.Contains(err.Error(), "HOME=") {
		t.Errorf("environment: %v", err)
	}
}

func TestSecretsOfTheEnvironmentDoNotReachTheBrowser(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "s3cret")
	t.Setenv("LC_TIME", "kept")
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: program(t, "env >&2; exit 1"), Headless: true,
		NoSandbox: true,
	})
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "LC_TIME=kept") {
		t.Errorf("environment: %v", err)
	}
}

func TestRunningSessionIsReadFromItsDirectory(t *testing.T) {
	dir := chrome.DataDir{Path: t.TempDir(), Kind: chrome.Chrome}
	file := filepath.Join(dir.Path, "DevToolsActivePort")
	check.Fails(t, check.Err(chrome.FindSession(dir)), chrome.ErrNoSession) // without the file
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	write := func(text string) {
		t.Helper()
		check.Must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, text := range []string{
		"", "x\n/devtools/browser/1", strconv.Itoa(port), fmt.Sprintf("%d\n/other", port),
		"99999\n/devtools/browser/1",
	} {
		write(text)
		check.Fails(t, check.Err(chrome.FindSession(dir)), chrome.ErrNoSession)
	}
	write(fmt.Sprintf("%d\n/devtools/browser/ab-c\n", port))
	got, err := chrome.FindSession(dir)
	if err != nil || got.WebSocketURL != fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/ab-c", port) ||
		got.Kind != chrome.Chrome {
		t.Errorf("got %+v, %v", got, err)
	}
	check.Must(t, l.Close())
	check.Fails(t, check.Err(chrome.FindSession(dir)), chrome.ErrNoSession, "nothing listens")
}

func TestUsualDirectoriesOfEachSystem(t *testing.T) {
	for goos, want := range map[string]string{
		"linux":   "/home/ada/.config/google-chrome",
		"darwin":  "/home/ada/Library/Application Support/Google/Chrome",
		"windows": "/home/ada/AppData/Local/Google/Chrome/User Data",
	} {
		dirs := chrome.DataDirsOf(goos, "/home/ada", "relative")
		if len(dirs) < 4 || dirs[0].Path != want || dirs[0].Kind != chrome.Chrome {
			t.Errorf("%s: %+v", goos, dirs)
		}
	}
	if dirs := chrome.DataDirsOf("linux", "/home/ada", "/config"); dirs[1].Path != "/config/chromium" {
		t.Errorf("with XDG_CONFIG_HOME: %+v", dirs)
	}
}
