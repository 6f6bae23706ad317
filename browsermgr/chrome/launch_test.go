package chrome_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/chrome"
)

func TestLaunchAnswersAndStopLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	p := launch(t, chrome.LaunchOptions{TempDir: temp})
	if !strings.Contains(p.Version, "/") || p.Port == 0 || p.PID == 0 || !p.Temporary {
		t.Errorf("process is not filled in: %+v", p)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err of a running browser: %v", err)
	}
	if os.Geteuid() == 0 && (p.Sandbox || !strings.Contains(p.SandboxNote, "root")) {
		t.Errorf("as root: sandbox %t, note %q", p.Sandbox, p.SandboxNote)
	}
	if len(group(t, p.PID)) == 0 {
		t.Error("the browser has no process group of its own")
	}
	if got := string(call(t, p, "Target.getTargets", map[string]any{"filter": []any{map[string]any{}}})); strings.Contains(got, "chrome://") {
		t.Errorf("pages of its own: %s", got)
	}
	stop(t, p)
	ended(t, p)
	if got := group(t, p.PID); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
	if got := entries(t, temp); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err after Stop: %v", err)
	}
	stop(t, p) // twice is no error
}

func TestCookiesSurviveStopAndRelaunch(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, chrome.LaunchOptions{UserDataDir: dir})
	call(t, p, "Storage.setCookies", map[string]any{"cookies": []map[string]any{{
		"name": "login", "value": "kept", "url": "https://shop.example/", "expires": time.Now().Add(time.Hour).Unix(),
	}}})
	stop(t, p)

	p = launch(t, chrome.LaunchOptions{UserDataDir: dir})
	got := string(call(t, p, "Storage.getCookies", nil))
	if !strings.Contains(got, `"value":"kept"`) {
		t.Errorf("cookies after relaunch: %s", got)
	}
}

func TestDirectoryOfStoppedBrowserHasNoLocksAndNoCrashMark(t *testing.T) {
	dir := t.TempDir()
	stop(t, launch(t, chrome.LaunchOptions{UserDataDir: dir, ProfileName: "clank", Color: "#FF4500"}))
	for _, name := range entries(t, dir) {
		if strings.HasPrefix(name, "Singleton") || name == "DevToolsActivePort" {
			t.Errorf("left: %s", name)
		}
	}
	prefs, err := os.ReadFile(filepath.Join(dir, "Default", "Preferences"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(prefs), `"name":"clank"`) || !strings.Contains(string(prefs), `"exit_type":"Normal"`) {
		t.Errorf("preferences: %.2000s", prefs)
	}
}

func TestKilledBrowserIsSeen(t *testing.T) {
	temp := t.TempDir()
	p := launch(t, chrome.LaunchOptions{TempDir: temp})
	killNow(t, p.PID)
	ended(t, p)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "killed by signal 9") {
		t.Errorf("Err: %v", err)
	}
	if got := group(t, p.PID); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
	if got := entries(t, temp); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

// Chromium removes the links to its socket before the socket.
func TestBrowserKilledWhileItEndsLeavesNoSocket(t *testing.T) {
	p := launch(t, chrome.LaunchOptions{TempDir: t.TempDir()})
	socket, err := os.Readlink(filepath.Join(p.UserDataDir, "SingletonSocket"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SingletonSocket", "SingletonCookie", "SingletonLock"} {
		if err := os.Remove(filepath.Join(p.UserDataDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	killNow(t, p.PID)
	ended(t, p)
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", filepath.Dir(socket), err)
	}
}

func TestSecondCtrlCDoesNotWait(t *testing.T) {
	p := launch(t, chrome.LaunchOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := time.Now()
	if err := p.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a cancelled Stop took %s", took)
	}
	if got := group(t, p.PID); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
}

func TestParentsDeathEndsEveryProcess(t *testing.T) {
	value := "parent-" + strconv.Itoa(os.Getpid())
	cmd, pid, dir := parent(t, t.TempDir(), value)
	eventually(t, "several processes of the browser run", func() bool { return len(group(t, pid)) > 3 })
	if len(marked(t, value)) < 3 { // this parent, the browser, its crash handlers; zygotes wipe their environment
		t.Fatalf("the mark finds %v", marked(t, value))
	}
	killNow(t, cmd.Process.Pid)
	eventually(t, "no process of the browser is left", func() bool {
		return len(marked(t, value)) == 0 && len(group(t, pid)) == 0
	})
	if err := chrome.Reap(t.Context(), dir); err != nil {
		t.Error(err)
	}
	for _, name := range entries(t, dir) {
		if strings.HasPrefix(name, "Singleton") {
			t.Errorf("left after Reap: %s", name)
		}
	}
}

func TestOccupiedPortSaysByWhom(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	temp := t.TempDir()
	_, err = chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: browser(t), Headless: true, TempDir: temp, Ports: []int{port},
	})
	want := fmt.Sprintf("%d is in use by %s (pid %d)", port, filepath.Base(os.Args[0]), os.Getpid())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want it to contain %q", err, want)
	}
	busy, ok := errors.AsType[*chrome.PortError](err)
	if !ok || len(busy.Busy) != 1 || busy.Busy[0].PID != os.Getpid() || busy.Busy[0].Port != port {
		t.Errorf("as a type: %+v", busy)
	}
	if got := entries(t, temp); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

func TestNextFreePortOfTheRangeIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	p := launch(t, chrome.LaunchOptions{Ports: []int{port, port + 1, port + 2, port + 3, port + 4}})
	if p.Port <= port || p.Port > port+20 {
		t.Errorf("got port %d, want one of %d to %d", p.Port, port+1, port+20)
	}
}

func TestSecondLaunchOnADirectoryNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, chrome.LaunchOptions{UserDataDir: dir})
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: browser(t), Headless: true, UserDataDir: dir})
	var locked *chrome.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() || locked.Holder.Browser != p.PID {
		t.Errorf("got %v, want the holder", err)
	}
	stop(t, p)
	launch(t, chrome.LaunchOptions{UserDataDir: dir}) // and free afterwards
}

func TestProgramsThatAreNoBrowser(t *testing.T) {
	for name, tt := range map[string]struct{ program, want string }{
		"says garbage and exits": {program(t, "echo 'cannot load libfoo.so' >&2; exit 3"), "cannot load libfoo.so"},
		"tells its exit status":  {program(t, "exit 3"), "exited with status 3; it said nothing"},
		"never opens its port":   {program(t, "echo starting >&2; exec sleep 600"), "not ready within 300ms; it said:\nstarting"},
		"opens no DevTools": {
			program(t, "echo 'DevTools listening on ws://127.0.0.1:1/devtools/browser/x' >&2; exec sleep 600"),
			"its DevTools port 1 is open",
		},
		"is missing": {"/nowhere/chromium", "no such file"},
		"is forbidden": {
			program(t, "echo 'DevTools remote debugging is disallowed by the system admin.' >&2; exec sleep 600"), "administrator forbids",
		},
		"is a person's": {
			program(t, "echo 'DevTools remote debugging requires a non-default data directory.' >&2; exec sleep 600"), "driver existing-session",
		},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			timeout := time.Minute
			if strings.HasPrefix(tt.want, "not ready") {
				timeout = 300 * time.Millisecond
			}
			_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
				Executable: tt.program, Headless: true, TempDir: temp, Timeout: timeout,
				Env: append(os.Environ(), mark+"="+temp),
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to contain %q", err, tt.want)
			}
			if got := entries(t, temp); len(got) != 0 {
				t.Errorf("files left: %v", got)
			}
			if got := marked(t, temp); len(got) != 0 {
				t.Errorf("processes left: %v", got)
			}
		})
	}
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
		Executable: program(t, "sleep 600 & touch "+fifo+"; wait"), Headless: true, TempDir: temp,
		Env: append(os.Environ(), mark+"="+temp),
	})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v, want the cause", err)
	}
	if got := entries(t, temp); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
	if got := marked(t, temp); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
}

func TestWindowWithoutADisplayIsRefused(t *testing.T) {
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: "/bin/true", Env: []string{"HOME=/nowhere"}})
	if !errors.Is(err, chrome.ErrNoDisplay) {
		t.Errorf("got %v, want ErrNoDisplay", err)
	}
}

func TestSandboxIsGivenUpOnlyWhenChromiumSaysSo(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("Chromium refuses its sandbox to root before anything else")
	}
	seen := filepath.Join(t.TempDir(), "seen")
	fake := program(t, `case "$*" in
	*--no-sandbox*) echo without >>`+seen+`; exit 4;;
	*) echo with >>`+seen+`; echo 'FATAL: No usable sandbox! see the wiki' >&2; exit 1;;
esac`)
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{Executable: fake, Headless: true})
	if err == nil || !strings.Contains(err.Error(), "status 4") {
		t.Errorf("got %v, want the failure of the second attempt", err)
	}
	got, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "with\nwithout\n" {
		t.Errorf("attempts: %q", got)
	}
}

func TestProxyVariablesDoNotReachTheBrowser(t *testing.T) {
	_, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: program(t, "env >&2; exit 1"), Headless: true,
		Env: []string{"HTTPS_PROXY=http://proxy.example", "http_proxy=http://proxy.example", "KEPT=1"},
	})
	if err == nil || strings.Contains(err.Error(), "proxy.example") || !strings.Contains(err.Error(), "KEPT=1") ||
		!strings.Contains(err.Error(), "HOME=") {
		t.Errorf("environment: %v", err)
	}
}
