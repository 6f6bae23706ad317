package profile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func TestModeFollowsFromProfileAndSettings(t *testing.T) {
	yes, no := true, false
	for name, tc := range map[string]struct {
		profile profile.Profile
		config  profile.Config
		mode    profile.Mode
		remote  bool
		at      string
		port    int
	}{
		"managed": {
			profile.Profile{CDPPort: 18801},
			profile.Config{},
			profile.ModeLaunched, false, "",
			18801,
		},
		"no port yet": {profile.Profile{}, profile.Config{}, profile.ModeLaunched, false, "", 0},
		"an address here": {
			profile.Profile{CDPURL: "http://127.0.0.1:9000"},
			profile.Config{},
			profile.ModeAttached,
			false, "http://127.0.0.1:9000", 9000,
		},
		"an address here, joined": {
			profile.Profile{CDPURL: "http://127.0.0.1:9000", AttachOnly: &yes},
			profile.Config{},
			profile.ModeAttached, false, "http://127.0.0.1:9000", 9000,
		},
		"an address elsewhere": {
			profile.Profile{CDPURL: "wss://u:p@h?token=x"},
			profile.Config{},
			profile.ModeAttached,
			true, "wss://REDACTED@h?token=REDACTED", 443,
		},
		"attach only by setting": {
			profile.Profile{CDPPort: 9000},
			profile.Config{AttachOnly: true},
			profile.ModeAttached,
			false, "http://127.0.0.1:9000", 9000,
		},
		"the profile knows better": {
			profile.Profile{CDPPort: 9000, AttachOnly: &no},
			profile.Config{AttachOnly: true},
			profile.ModeLaunched, false, "",
			9000,
		},
		"a person's": {
			profile.Profile{Driver: profile.DriverExistingSession},
			profile.Config{},
			profile.ModeJoined, false,
			"", 0,
		},
	} {
		pl, err := profile.Resolve(tc.profile, tc.config)
		at := pl.Address.String()
		if pl.Mode == profile.ModeLaunched {
			at = ""
		}
		port := 0
		if p := pl.KnownPort(); p != nil {
			port = *p
		}
		if err != nil || pl.Mode != tc.mode || pl.IsRemote() != tc.remote || at != tc.at || port != tc.port {
			t.Errorf("%s: mode %d, remote %t, at %q, port %d, %v", name, pl.Mode, pl.IsRemote(), at, port, err)
		}
	}
	if pl, err := profile.Resolve(profile.Profile{Color: profile.DefaultColor},
		profile.Config{Color: "#000001"}); err != nil || pl.Color != "#000001" {
		t.Errorf("colour %s, %v", pl.Color, err)
	}
	check.Fails(t, check.Err(profile.Resolve(profile.Profile{AttachOnly: &yes}, profile.Config{})), fault.ErrInvalid)
}

func TestOrderOfThoseWhoDecideOnTheWindow(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	yes, no := true, false
	pl := profile.Resolved{}
	ask := func(asked *bool, headless bool, source string) {
		t.Helper()
		if h, s := pl.ResolveHeadless(asked); h != headless || s != source {
			t.Errorf("got %t by %s, want %t by %s", h, s, headless, source)
		}
	}
	ask(nil, false, profile.HeadlessFromDefaults)
	pl.Config.Headless = &yes
	ask(nil, true, profile.HeadlessFromConfig)
	pl.Headless = &no
	ask(nil, false, profile.HeadlessFromProfile)
	t.Setenv("OPENCLAW_BROWSER_HEADLESS", "true")
	ask(nil, true, profile.HeadlessFromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "0")
	ask(nil, false, profile.HeadlessFromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "perhaps")
	ask(nil, true, profile.HeadlessFromEnv)
	ask(&no, false, profile.HeadlessFromRequest)
}

func TestAccelerationIsJudgedByRendererAndCompositor(t *testing.T) {
	for _, tc := range []struct{ renderer, compositing, want string }{
		{"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))", "enabled", "software"},
		{"llvmpipe (LLVM 19)", "", "software"},
		{"ANGLE (Intel, Mesa Intel(R) UHD Graphics)", "enabled", "hardware"},
		{"", "enabled_readback", "hardware"},
		{"", "disabled_software", "software"},
		{"", "", "unknown"},
	} {
		check.Equal(t, fmt.Sprintf("%q, %q", tc.renderer, tc.compositing),
			profile.DetectAcceleration(tc.renderer, tc.compositing), tc.want)
	}
}

// follower is an observer that records its calls, and fails at each.
type follower struct {
	page.Observer

	cleared, closed int
}

func (f *follower) ResetAll(context.Context) error { f.cleared++; return errors.New("stuck") }
func (f *follower) Close() error                   { f.closed++; return errors.New("jammed") }

// passer is an observer that can neither be closed nor undone.
type passer struct{ page.Observer }

func TestEachObserverIsTakenBackAndClosedThoughOthersFail(t *testing.T) {
	a, b := &follower{}, &follower{}
	all := []page.Observer{a, &passer{}, b}
	if err := profile.UndoOverrides(t.Context(), all); err == nil || strings.Count(err.Error(), "stuck") != 2 {
		t.Errorf("taken back: %v", err)
	}
	if err := profile.CloseObservers(all); err == nil || strings.Count(err.Error(), "jammed") != 2 {
		t.Errorf("closed: %v", err)
	}
	if a.cleared != 1 || b.cleared != 1 || a.closed != 1 || b.closed != 1 {
		t.Errorf("asked %+v and %+v", a, b)
	}
}

func namesByTarget(r *profile.TabNames) map[string]string {
	out := map[string]string{}
	for _, t := range r.Tabs() {
		out[t.Target] = t.Name()
	}
	return out
}

func syncTabs(r *profile.TabNames, targets ...string) {
	pages := make([]profile.OpenTab, len(targets))
	for i, t := range targets {
		target, url, _ := strings.Cut(t, " ")
		pages[i] = profile.OpenTab{Target: strings.TrimPrefix(target, "*"), URL: url, Popup: strings.HasPrefix(t, "*")}
	}
	r.Sync(pages)
}

func TestTabsKeepTheirNamesAndNumbersAreNotUsedAgain(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A", "B")
	syncTabs(&r, "B", "A", "C")
	check.Diff(t, "names by target", namesByTarget(&r), map[string]string{"A": "t1", "B": "t2", "C": "t3"})
	r.Forget("C")
	syncTabs(&r, "A", "B", "D")
	r.Reset()
	r.Sync([]profile.OpenTab{
		{Target: "E", ID: "t1"}, {Target: "F", ID: "t9"}, {Target: "G", ID: "nonsense"}, {Target: "H", ID: "t7"},
	})
	check.Diff(t, "names by target", namesByTarget(&r), map[string]string{"E": "t5", "F": "t9", "G": "t10", "H": "t11"})
}

func TestANewTabTakesOverOnlyWhenThereIsNoDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []string
		want          map[string]string
	}{
		"one for one": {
			[]string{"A x", "B y"},
			[]string{"N z", "B y"},
			map[string]string{"N": "t1", "B": "t2"},
		},
		"two for two, same address": {
			[]string{"A x", "B y"},
			[]string{"M y", "N x"},
			map[string]string{"M": "t2", "N": "t1"},
		},
		"two for two, other address": {
			[]string{"A x", "B y"},
			[]string{"M z", "N x"},
			map[string]string{"M": "t3", "N": "t1"},
		},
		"two of one address": {[]string{"A x", "B x"}, []string{"M x"}, map[string]string{"M": "t3"}},
		"one for two":        {[]string{"A x"}, []string{"M x", "N x"}, map[string]string{"M": "t2", "N": "t3"}},
		"a popup is new":     {[]string{"A x"}, []string{"*N x"}, map[string]string{"N": "t2"}},
		"a popup beside it":  {[]string{"A x"}, []string{"*N y", "M x"}, map[string]string{"N": "t2", "M": "t1"}},
	} {
		var r profile.TabNames
		syncTabs(&r, c.before...)
		syncTabs(&r, c.after...)
		check.Diff(t, name, namesByTarget(&r), c.want)
	}
}

func TestReplacementTakesLabelAndSelectionAlong(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A x", "B y")
	check.Must(t, check.Err(r.Label("B", "mail")))
	r.MarkUsed("B")
	syncTabs(&r, "A x", "N z")
	if got, ok := r.Default(); !ok || got.Target != "N" || got.Label != "mail" || got.ID != "t2" {
		t.Errorf("got %+v, %t; want N as t2 (mail)", got, ok)
	}
}

func TestTheDefaultIsTheLastUsedOrTheFirst(t *testing.T) {
	var r profile.TabNames
	if _, ok := r.Default(); ok {
		t.Error("a default without tabs")
	}
	syncTabs(&r, "S chrome://settings", "A x", "B y")
	for _, step := range []struct{ choose, want string }{{"", "A"}, {"B", "B"}, {"nobody", "B"}, {"S", "A"}} {
		r.MarkUsed(step.choose)
		if got, _ := r.Default(); got.Target != step.want {
			t.Errorf("after choosing %q: got %q, want %q", step.choose, got.Target, step.want)
		}
	}
	r.MarkUsed("B")
	r.Forget("B")
	if got, _ := r.Default(); got.Target != "A" {
		t.Errorf("after B was closed: got %q, want A", got.Target)
	}
}

func TestALabelMovesToTheTabItIsGivenTo(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A", "B")
	for _, target := range []string{"A", "B"} {
		check.Must(t, check.Err(r.Label(target, "shop")))
	}
	check.Diff(t, "names by target", namesByTarget(&r), map[string]string{"A": "t1", "B": "shop"})
	for _, bad := range []string{"", "a b", "ä", strings.Repeat("x", 65), "a/b"} {
		check.Fails(t, check.Err(r.Label("A", bad)), fault.ErrInvalid)
	}
	check.Fails(t, check.Err(r.Label("Z", "ok")), profile.ErrTabNotFound)
}

func TestResolve(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "ABC111", "ABD222", "12345678", "HIDDEN chrome://version")
	for target, label := range map[string]string{"ABC111": "mail", "ABD222": "t1"} {
		check.Must(t, check.Err(r.Label(target, label)))
	}
	for name, want := range map[string]any{
		"ABC111": "ABC111", "mail": "ABC111", "abc": "ABC111", " abd2 ": "ABD222", "t2": "ABD222", "t3": "12345678",
		"1234567": "12345678",
		"t1":      profile.ErrAmbiguousTab, "ab": profile.ErrAmbiguousTab, "": profile.ErrTabNotFound,
		"t9": profile.ErrTabNotFound, "Mail": profile.ErrTabNotFound,
		"1": profile.ErrTabNotFound, "12345": profile.ErrTabNotFound, "HIDDEN": profile.ErrTabNotFound,
		"ABC1111": profile.ErrTabNotFound,
	} {
		got, err := r.Resolve(name)
		if wrong, ok := want.(error); ok && !errors.Is(err, wrong) {
			t.Errorf("Resolve(%q): got %v, %v; want %v", name, got, err, wrong)
		}
		if target, ok := want.(string); ok && (err != nil || got.Target != target) {
			t.Errorf("Resolve(%q): got %v, %v; want %s", name, got, err, target)
		}
	}
	_, err := r.Resolve("2")
	if err == nil || !strings.HasPrefix(err.Error(), "tab not found") ||
		!strings.Contains(err.Error(), "numbers are not tab targets") {
		t.Errorf("a number: got %v", err)
	}
}

var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// works fails unless tabs can be opened over a connection.
func works(t *testing.T, conn *page.Browser) {
	t.Helper()
	check.Equal(t, "a tab computes", browsertest.JS(t, browsertest.Tab(t, conn, page.TabOptions{}), "6*7"), "42")
}

func TestLaunchedBrowserEndsWhenItIsClosed(t *testing.T) {
	ctx := browsertest.Within(t, 2*browsertest.Patience)
	b := launchPiped(t)
	check.Must(t, check.Err(b.Conn.NewTab(ctx, page.TabOptions{})))
	check.Must(t, b.Close(ctx))
	select {
	case <-b.Process.Done():
	case <-ctx.Done():
		t.Error("it runs on")
	}
	check.Must(t, b.Process.Err())
}

func TestLaunchWithoutAProgramSaysSo(t *testing.T) {
	none := chrome.Executable{Path: filepath.Join(t.TempDir(), "none")}
	b, err := profile.Launch(t.Context(), none, chrome.LaunchOptions{Headless: true, NoSandbox: true}, page.Options{})
	check.Fails(t, err, fs.ErrNotExist, none.Path)
	if b.Conn != nil || b.Process != nil {
		t.Errorf("got %+v", b)
	}
}

func TestBrowsersThatWeDidNotStartRunOnWhenTheConnectionIsClosed(t *testing.T) {
	process := browser.Process(t)
	ctx := browsertest.Within(t, browsertest.Patience)
	session, err := profile.FindSession(in(process.UserDataDir))
	check.Must(t, err)
	attached, err := profile.Attach(ctx, profile.Connector{}, profile.LocalEndpoint(process.Port), page.Options{})
	check.Must(t, err)
	joined, err := profile.JoinSession(ctx, session, page.Options{})
	check.Must(t, err)
	for kind, b := range map[chrome.BrowserKind]profile.RunningBrowser{"": attached, chrome.Custom: joined} {
		works(t, b.Conn)
		if b.Process != nil || b.Port != process.Port || b.Executable.Kind != kind {
			t.Errorf("got %+v", b)
		}
		check.Must(t, b.Close(ctx))
	}
	works(t, browser.Connect(t, page.Options{}))
}

func TestAttachAsksWhetherTheAddressIsAllowed(t *testing.T) {
	no := errors.New("on nobody's list")
	c := profile.Connector{Policy: judge{address: func(*url.URL) error { return no }}}
	check.Fails(t, check.Err(profile.Attach(t.Context(), c, parse(t, "wss://metadata.invalid"), page.Options{})), no)
}

// in returns the settings for a person's own browser on a user data directory.
func in(dir string) profile.Resolved {
	return profile.Resolved{Profile: profile.Profile{UserDataDir: dir}, Mode: profile.ModeJoined}
}

func TestPersonWithoutOpenDevToolsIsToldHow(t *testing.T) {
	check.Fails(t, check.Err(profile.FindSession(in(t.TempDir()))), chrome.ErrNoSession,
		"chrome://inspect/#remote-debugging")
}

// asker returns a browser that asks its person before it accepts a connection.
func asker(t *testing.T, answer http.HandlerFunc) chrome.Session {
	t.Helper()
	addr := browsertest.Serve(t, answer).Listener.Addr().(*net.TCPAddr)
	return chrome.Session{
		DataDir:      chrome.DataDir{Path: "/home/ada/chrome"},
		WebSocketURL: fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/x", addr.Port), Port: addr.Port,
	}
}

func TestRefusalIsToldFromABrowserThatIsAnotherNow(t *testing.T) {
	for status, want := range map[int]struct {
		refused bool
		text    string
	}{
		http.StatusForbidden: {true, "Allow remote debugging?"},
		http.StatusNotFound:  {false, "/home/ada/chrome was restarted"},
	} {
		session := asker(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := profile.JoinSession(t.Context(), session, page.Options{})
		if errors.Is(err, profile.ErrConnectionDenied) != want.refused || err == nil ||
			!strings.Contains(err.Error(), want.text) {
			t.Errorf("status %d: got %v", status, err)
		}
	}
}

func TestWaitForConsentEndsWithItsCaller(t *testing.T) {
	waiting := make(chan struct{})
	session := asker(t, func(_ http.ResponseWriter, r *http.Request) {
		close(waiting)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by @ada")
	go func() { <-waiting; cancel(stopped) }()
	if _, err := profile.JoinSession(ctx, session, page.Options{}); !errors.Is(err, stopped) ||
		!errors.Is(err, profile.ErrConnectionDenied) {
		t.Errorf("got %v", err)
	}
}
