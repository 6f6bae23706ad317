package share_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
	"clank/internal/test/rtctest"
	voiceshare "clank/voice/share"
	"clank/voice/webrtc"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

const token = "the-secret-of-this-link"

// links are good as long as their share has not ended.
type links struct {
	mu    sync.Mutex
	share map[string]voiceshare.ViewerShare
}

func (l *links) CheckLink(token string) (voiceshare.ViewerShare, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.share[token]
	if !ok {
		return s, errors.New("this link was not made here")
	}
	return s, nil
}

// rig is a viewer with one share.
type rig struct {
	*voiceshare.ViewerPage

	screen rtctest.FrameSource
	end    func() // ends the share
	url    string
	log    bytes.Buffer
	mu     sync.Mutex
}

func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

func start(t *testing.T, engine *webrtc.Engine, change ...func(*voiceshare.ViewerPage, *voiceshare.ViewerShare)) *rig {
	t.Helper()
	done := make(chan struct{})
	r := &rig{end: sync.OnceFunc(func() { close(done) })}
	r.ViewerPage = &voiceshare.ViewerPage{Base: "/watch", Engine: engine, Logger: slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	share := voiceshare.ViewerShare{ID: "s1", Title: "A shop <b>for lamps</b>", Watch: r.screen.Watch, Done: done}
	for _, c := range change {
		c(r.ViewerPage, &share)
	}
	r.Links = &links{share: map[string]voiceshare.ViewerShare{token: share}}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	r.screen.Show(rtctest.Red())
	server := httptest.NewServer(r.Handler())
	r.url = server.URL + "/watch"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), rtctest.Patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
		if n := r.screen.Viewers(); n != 0 {
			t.Errorf("%d still look at the share", n)
		}
		if strings.Contains(r.logged(), token) {
			t.Errorf("the secret of the link is in the log:\n%s", r.logged())
		}
	})
	return r
}

// post sends what the page would, and returns status and answer.
func (r *rig) post(t *testing.T, path string, in voiceshare.WatchRequest) (int, map[string]any) {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

// open opens the page with the given link.
func (r *rig) open(t *testing.T, token string) *page.Tab {
	t.Helper()
	tab := browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, voiceshare.ViewerLink(r.url, token))
	return tab
}

// waitFor waits until an expression is true in the page.
func waitFor(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	browsertest.Eventually(t, expression, func() bool { return browsertest.JS(t, tab, "Boolean("+expression+")") == "true" })
}
