package profile_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
)

var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// works fails unless tabs can be opened over a connection.
func works(t *testing.T, conn *page.Browser) {
	t.Helper()
	if got := browsertest.JS(t, browsertest.Tab(t, conn, page.TabOptions{}), "6*7"); got != "42" {
		t.Errorf("a tab computes %s", got)
	}
}

func TestLaunchedBrowserEndsWhenItIsClosed(t *testing.T) {
	ctx := browsertest.Within(t, 2*browsertest.Patience)
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := profile.Launch(ctx, exe, chrome.LaunchOptions{Headless: true, Timeout: browsertest.Patience}, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Executable != exe || b.Port != b.Process.Port {
		t.Errorf("got %+v", b)
	}
	if _, err := b.Conn.NewTab(ctx, page.TabOptions{}); err != nil {
		t.Error(err)
	}
	if !chrome.IsListening(ctx, b.Port) {
		t.Error("nothing listens on its port")
	}
	if err := b.Close(ctx); err != nil {
		t.Error(err)
	}
	select {
	case <-b.Process.Done():
	case <-ctx.Done():
		t.Error("it runs on")
	}
	if chrome.IsListening(ctx, b.Port) {
		t.Error("something listens on its port")
	}
}

func TestLaunchWithoutAProgramSaysSo(t *testing.T) {
	none := chrome.Executable{Path: filepath.Join(t.TempDir(), "none")}
	b, err := profile.Launch(t.Context(), none, chrome.LaunchOptions{Headless: true}, page.Options{})
	if err == nil || b.Conn != nil || b.Process != nil {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestBrowsersThatWeDidNotStartRunOnWhenTheConnectionIsClosed(t *testing.T) {
	process := browser.Process(t)
	ctx := browsertest.Within(t, browsertest.Patience)
	session, err := profile.FindSession(in(process.UserDataDir))
	if err != nil {
		t.Fatal(err)
	}
	attached, err := profile.Attach(ctx, profile.Connector{}, profile.LocalEndpoint(process.Port), page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := profile.JoinSession(ctx, session, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, b := range map[chrome.BrowserKind]profile.RunningBrowser{"": attached, chrome.Custom: joined} {
		works(t, b.Conn)
		if b.Process != nil || b.Port != process.Port || b.Executable.Kind != kind {
			t.Errorf("got %+v", b)
		}
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	works(t, browser.Connect(t, page.Options{}))
}

func TestAttachAsksWhetherTheAddressIsAllowed(t *testing.T) {
	no := errors.New("on nobody's list")
	c := profile.Connector{Allow: func(context.Context, *url.URL) error { return no }}
	if _, err := profile.Attach(t.Context(), c, parse(t, "wss://metadata.invalid"), page.Options{}); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

// in returns a plan for the browser of a person that runs on a directory.
func in(dir string) profile.Resolved {
	return profile.Resolved{Profile: profile.Profile{UserDataDir: dir}, Mode: profile.ModeJoined}
}

func TestPersonWithoutOpenDevToolsIsToldHow(t *testing.T) {
	_, err := profile.FindSession(in(t.TempDir()))
	if !errors.Is(err, chrome.ErrNoSession) || !strings.Contains(err.Error(), "chrome://inspect/#remote-debugging") {
		t.Errorf("got %v", err)
	}
}

// asker returns a browser that asks its person before it lets anybody in.
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
		if errors.Is(err, profile.ErrConnectionDenied) != want.refused || err == nil || !strings.Contains(err.Error(), want.text) {
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
	if _, err := profile.JoinSession(ctx, session, page.Options{}); !errors.Is(err, stopped) || !errors.Is(err, profile.ErrConnectionDenied) {
		t.Errorf("got %v", err)
	}
}
