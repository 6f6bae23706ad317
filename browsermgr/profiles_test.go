package browsermgr_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
)

func findProfile(t *testing.T, m *browsermgr.Manager, name string) *browsermgr.Profile {
	t.Helper()
	p, err := m.FindProfile(name)
	check.Must(t, err)
	return p
}

func create(t *testing.T, m *browsermgr.Manager, opts browsermgr.CreateProfileOptions) browsermgr.CreatedProfile {
	t.Helper()
	c, err := m.CreateProfile(t.Context(), opts)
	check.Must(t, err)
	return c
}

func use(t *testing.T, p *browsermgr.Profile) *browsermgr.Lease {
	t.Helper()
	u, err := p.Acquire(t.Context(), true)
	check.Must(t, err)
	t.Cleanup(u.Release)
	return u
}

func status(t *testing.T, p *browsermgr.Profile) profile.Status {
	t.Helper()
	s, err := p.Status(t.Context())
	check.Must(t, err)
	return s
}

// ready returns the status of a running browser. A status check has a short limit, which a busy machine may exceed, so
// it is repeated.
func ready(t *testing.T, p *browsermgr.Profile) profile.Status {
	t.Helper()
	var s profile.Status
	eventually(t, "the browser answers", func() bool {
		s = status(t, p)
		return s.CDPReady && s.PageReady
	})
	return s
}

func stop(t *testing.T, p *browsermgr.Profile) bool {
	t.Helper()
	stopped, err := p.Stop(t.Context())
	check.Must(t, err)
	return stopped
}

func findCheck(t *testing.T, r profile.DoctorReport, id string) chrome.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %s", id)
	return chrome.Check{}
}

func TestProfileFromItsCreationToTheTrash(t *testing.T) {
	trash := t.TempDir()
	t.Setenv("XDG_DATA_HOME", trash)
	m := manager(t, letOthersIn)
	made := create(t, m, browsermgr.CreateProfileOptions{Name: "work", Driver: "openclaw"})
	if made.CDPPort == nil || *made.CDPPort <= m.FirstPort || *made.CDPPort > m.LastPort || made.UserDataDir != nil ||
		made.Transport != "cdp" || made.IsRemote {
		t.Errorf("made %+v", made)
	}
	p := findProfile(t, m, "work")
	idle := status(t, p)
	if idle.Running || idle.PID != nil || *idle.CDPPort != *made.CDPPort || idle.DetectedExecutablePath == nil ||
		idle.Driver != "openclaw" {
		t.Errorf("idle: %+v", idle)
	}
	if stop(t, p) {
		t.Error("a browser that did not run was stopped")
	}
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	s := ready(t, p)
	if !s.Running || !s.CDPReady || !s.CDPHTTP || !s.PageReady || s.PID == nil || *s.CDPPort != *made.CDPPort ||
		!s.Headless || s.HeadlessSource != "config" {
		t.Errorf("running: %+v", s)
	}
	eventually(t, "the graphics are known", func() bool {
		s := status(t, p)
		return s.Graphics != nil && s.Graphics.Acceleration != ""
	})
	list, err := m.Profiles(t.Context())
	if err != nil || len(list) != 3 || list[0].Name != "clank" || !list[0].IsDefault || list[2].Name != "work" ||
		!list[2].Running || list[2].TabCount != 1 {
		t.Errorf("list: %+v, %v", list, err)
	}
	moved, err := p.Reset(t.Context())
	if err != nil || !moved.Moved || !strings.HasPrefix(moved.To, trash) || moved.From != *s.UserDataDir {
		t.Errorf("reset: %+v, %v", moved, err)
	}
	if status(t, p).Running {
		t.Error("it runs after a reset")
	}
	if deleted, err := m.DeleteProfile(t.Context(), "work"); err != nil || !deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	check.Fails(t, check.Err(m.FindProfile("work")), profile.ErrNotFound)
	if deleted, err := m.DeleteProfile(t.Context(), "work"); !errors.Is(err, profile.ErrNotFound) || deleted {
		t.Errorf("again: %t, %v", deleted, err)
	}
	check.Fails(t, p.Start(t.Context(), browsermgr.StartOptions{}), profile.ErrNotFound)
	check.Fails(t, check.Err(p.Acquire(t.Context(), true)), profile.ErrNotFound)
}

func TestFailedMoveToTheTrashKeepsTheProfile(t *testing.T) {
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{Name: "work"})
	check.Must(t, os.MkdirAll(filepath.Join(m.Home, "browser", "work", "user-data"), 0o700))
	blocked := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("XDG_DATA_HOME", blocked)
	deleted, err := m.DeleteProfile(t.Context(), "work")
	check.Fails(t, err, nil, "to the trash: ", blocked)
	check.Equal(t, "deleted", deleted, false)
	findProfile(t, m, "work")
	create(t, m, browsermgr.CreateProfileOptions{Name: "never-started"})
	if deleted, err := m.DeleteProfile(t.Context(), "never-started"); err != nil || deleted {
		t.Errorf("a profile without a folder: deleted %t, %v", deleted, err)
	}
}

func TestInvalidRequestsHaveDistinctErrors(t *testing.T) {
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{Name: "remote", CDPURL: "http://box.invalid:9000?token=s3cr3t"})
	refuse := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err := m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "remote"})
	refuse("twice", err, profile.ErrExists)
	_, err = m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{
		Name: "u", Driver: "existing-session",
		UserDataDir: "/nowhere/at/all",
	})
	refuse("a directory that is not there", err, browsermgr.ErrInvalid)
	_, err = m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "x", Driver: "extension"})
	refuse("the extension", err, browsermgr.ErrInvalid)
	_, err = findProfile(t, m, "remote").Reset(t.Context())
	refuse("reset of a remote one", err, browsermgr.ErrInvalid)
	refuse("headless of a remote one",
		findProfile(t, m, "remote").Start(t.Context(), browsermgr.StartOptions{Headless: new(true)}), browsermgr.ErrInvalid)
	_, err = m.DeleteProfile(t.Context(), "clank")
	refuse("delete the default", err, browsermgr.ErrInvalid)
	_, err = findProfile(t, m, "").Acquire(t.Context(), false)
	refuse("use without a start", err, browsermgr.ErrNotRunning)
	if s := status(t, findProfile(t, m, "remote")); s.CDPURL == nil || strings.Contains(*s.CDPURL, "s3cr3t") ||
		strings.Contains(s.ProbeError, "s3cr3t") || s.ProbeError == "" {
		t.Errorf("status of a remote one out of reach: %+v", s)
	}
	if findProfile(t, m, "openclaw").Name() != "clank" {
		t.Error("the other name of the default profile leads elsewhere")
	}
}

func TestBrowserWithoutAPortSaysSo(t *testing.T) {
	m := sharedManager(t)
	window(t, m, browsermgr.WindowOptions{Key: "a"})
	if s := ready(t, findProfile(t, m, "")); !s.CDPReady || !s.CDPHTTP || s.Version == "" || s.CDPPort != nil ||
		s.CDPURL != nil || m.Status()[0].Port != 0 {
		t.Errorf("status %+v", s)
	}
	u := use(t, findProfile(t, m, ""))
	if at := u.WebSocketURL("x"); at != "" {
		t.Errorf("its DevTools are at %s", at)
	}
}

func TestAPortThatAnotherProgramHasTakenIsNamedAndAnotherServes(t *testing.T) {
	m := manager(t, letOthersIn)
	made := create(t, m, browsermgr.CreateProfileOptions{Name: "work"})
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *made.CDPPort))
	check.Must(t, err)
	p := findProfile(t, m, "work")
	r, err := p.Doctor(t.Context(), false)
	if c := findCheck(t, r, "devtools-port"); err != nil || c.Status != chrome.CheckWarn ||
		!strings.Contains(c.Summary, fmt.Sprintf("(pid %d)", os.Getpid())) {
		t.Errorf("the doctor says %+v, %v", c, err)
	}
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	s := ready(t, p)
	list, err := m.Profiles(t.Context())
	check.Must(t, err)
	if info := list[2]; *s.CDPPort == *made.CDPPort || *info.CDPPort != *s.CDPPort || *info.CDPURL != *s.CDPURL ||
		info.ReconcileReason != nil {
		t.Errorf("it listens on %d, its own is %d, the list has %+v", *s.CDPPort, *made.CDPPort, info)
	}
	stop(t, p)
	check.Must(t, l.Close())
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	if s := status(t, p); *s.CDPPort != *made.CDPPort {
		t.Errorf("it stays on %d", *s.CDPPort)
	}
}

func TestTwoManagersOnOneHome(t *testing.T) {
	first := manager(t, nil)
	p := findProfile(t, first, "")
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	second := manager(t, func(m *browsermgr.Manager) { m.Home = first.Home })
	err := findProfile(t, second, "").Start(t.Context(), browsermgr.StartOptions{})
	locked, ok := errors.AsType[*chrome.LockedError](err)
	if !ok || locked.Holder.PID != os.Getpid() || !errors.Is(err, browsermgr.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if s := ready(t, p); !s.Running {
		t.Error("the first one's browser was disturbed")
	}
	var made sync.WaitGroup
	for i := range 10 {
		made.Go(func() {
			m := []*browsermgr.Manager{first, second}[i%2]
			if _, err := m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: fmt.Sprintf("p%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	made.Wait()
	list, err := second.Profiles(t.Context())
	if err != nil || len(list) != 12 {
		t.Errorf("%d profiles, %v", len(list), err)
	}
	ports := map[int]bool{}
	for _, info := range list {
		if info.CDPPort != nil && ports[*info.CDPPort] {
			t.Errorf("port %d twice", *info.CDPPort)
		} else if info.CDPPort != nil {
			ports[*info.CDPPort] = true
		}
	}
	stop(t, p)
	if err := findProfile(t, second, "").Start(t.Context(), browsermgr.StartOptions{}); err != nil {
		t.Errorf("after the first has stopped: %v", err)
	}
	if err := second.Close(context.Background()); err != nil { // before the first one's end looks for processes
		t.Error(err)
	}
}

func TestCookiesAndTabNumbersSurviveAStopAndACrash(t *testing.T) {
	base := site(t)
	m := manager(t, letOthersIn)
	p := findProfile(t, m, "")
	cookie := func(url, fn string) string {
		t.Helper()
		u := use(t, p)
		tab, err := u.NewTab(t.Context(), page.TabOptions{URL: url})
		check.Must(t, err)
		res, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: fn})
		check.Must(t, err)
		return fmt.Sprintf("%s %s", tab.ID(), res.Value)
	}
	cookie(base, `document.cookie = "login=ada; max-age=3600"`)
	first := status(t, p)
	if !stop(t, p) {
		t.Error("nothing was stopped")
	}
	got := cookie(base, "document.cookie")
	if !strings.Contains(got, "login=ada") || strings.HasPrefix(got, "t1 ") || strings.HasPrefix(got, "t2 ") {
		t.Errorf("after a stop: %s", got)
	}
	if again := status(t, p); *again.CDPPort != *first.CDPPort {
		t.Errorf("port %d became %d", *first.CDPPort, *again.CDPPort)
	}
	kill(t, m)
	eventually(t, "the crash is noticed", func() bool { return !m.Status()[0].Running })
	if again := cookie(base, "1"); again[:2] <= got[:2] {
		t.Errorf("a tab after the crash is %s, one before was %s", again, got)
	}
}

func TestStoppedProcessIsReportedAndRestarted(t *testing.T) {
	m := sharedManager(t)
	p := findProfile(t, m, "")
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	pid := *status(t, p).PID
	check.Must(t, check.Suspend(pid))
	begun := time.Now()
	s := status(t, p)
	if took := time.Since(begun); took > 20*time.Second || s.Running || s.CDPReady ||
		!strings.Contains(s.ProbeError, "does not answer") {
		t.Errorf("after %s: %+v", took, s)
	}
	if r, err := p.Doctor(t.Context(), false); err != nil || findCheck(t, r, "cdp-websocket").Status != chrome.CheckFail {
		t.Errorf("the doctor: %+v, %v", r, err)
	}
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	if s := ready(t, p); *s.PID == pid {
		t.Errorf("after a start: %+v", s)
	}
	if r, err := p.Doctor(t.Context(), true); err != nil || findCheck(t, r, "live-snapshot").Status == chrome.CheckFail {
		t.Errorf("a deep look: %+v, %v", r, err)
	}
}

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.Executable = "/bin/false" })
	})
	p := findProfile(t, m, "")
	for range 3 {
		if err := p.Start(t.Context(), browsermgr.StartOptions{}); !errors.Is(err, browsermgr.ErrUnavailable) ||
			!strings.Contains(err.Error(), "exited with status 1") {
			t.Fatalf("got %v", err)
		}
	}
	begun := time.Now()
	err := p.Start(t.Context(), browsermgr.StartOptions{})
	open, ok := errors.AsType[*browsermgr.BreakerError](err)
	if !ok || open.Failures != 3 || !strings.Contains(err.Error(), "exited with status 1") ||
		time.Since(begun) > 5*time.Second {
		t.Errorf("got %v", err)
	}
}

func TestPrecedenceOfHeadlessSettings(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.Headless = nil })
	})
	p := findProfile(t, m, "")
	if s := status(t, p); !s.Headless || s.HeadlessSource != "linux-display-fallback" {
		t.Errorf("without a word: %t, %s", s.Headless, s.HeadlessSource)
	}
	t.Setenv("OPENCLAW_BROWSER_HEADLESS", "0")
	err := p.Start(t.Context(), browsermgr.StartOptions{})
	none, ok := errors.AsType[*browsermgr.NoDisplayError](err)
	if !ok || none.HeadlessSource != "env" || none.Profile != "clank" || !errors.Is(err, browsermgr.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{Headless: new(true)}))
	if s := status(t, p); !s.Headless || s.HeadlessSource != "request" {
		t.Errorf("on request: %t, %s", s.Headless, s.HeadlessSource)
	}
	pid := *status(t, p).PID
	check.Fails(t, p.Start(t.Context(), browsermgr.StartOptions{Headless: new(false)}), browsermgr.ErrUnavailable)
	if s := status(t, p); s.PID == nil || *s.PID != pid {
		t.Errorf("after a start that cannot be: running %t, want process %d as before", s.Running, pid)
	}
}

func TestSettingsAreReadAtEachStart(t *testing.T) {
	off := true
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	m := manager(t, func(m *browsermgr.Manager) {
		m.Config = func() profile.Config {
			return profile.Config{
				Disabled: off, Headless: new(true), NoSandbox: true, Executable: exe.Path,
				Args: []string{"--lang=de"},
			}
		}
	})
	p := findProfile(t, m, "")
	check.Fails(t, p.Start(t.Context(), browsermgr.StartOptions{}), browsermgr.ErrDisabled)
	if r, err := p.Doctor(t.Context(), false); err != nil || r.OK ||
		findCheck(t, r, "plugin-enabled").Status != chrome.CheckFail {
		t.Errorf("the doctor: %v, %v", r.Checks, err)
	}
	off = false
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", *status(t, p).PID))
	if err != nil || !strings.Contains(string(line), "--lang=de") {
		t.Errorf("command line %q, %v", line, err)
	}
	eventually(t, "it alone is running", func() bool { return slices.Equal(running(t, m), []string{"clank"}) })
}

func running(t *testing.T, m *browsermgr.Manager) []string {
	t.Helper()
	list, err := m.Profiles(t.Context())
	check.Must(t, err)
	var names []string
	for _, info := range list {
		if info.Running {
			names = append(names, info.Name)
		}
	}
	return names
}
