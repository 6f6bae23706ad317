package control_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/control"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"

	"github.com/coder/websocket"
)

func TestABrowserThatDoesNotStartIsNotAskedForAllTheTime(t *testing.T) {
	home := t.TempDir()
	broken := filepath.Join(home, "chromium")
	browsertest.Must(t, os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o700))
	m := &browsermgr.Manager{Home: home, FirstPort: 18810, LastPort: 18812, Config: func() profile.Config {
		return profile.Config{Executable: broken, Headless: new(true)}
	}}
	browsertest.Must(t, m.Open(t.Context()))
	defer m.Close(context.Background())
	c := serve(t, func(s *control.Server) { s.Manager = m })
	for range 3 {
		if a := c.do("POST", "/start", nil); a.status != http.StatusConflict || a.str("reason") == "launch_paused" {
			t.Fatalf("start: got %d %s", a.status, a.text)
		}
	}
	res, err := http.DefaultClient.Do(c.request(t.Context(), "POST", "/start", nil))
	browsertest.Must(t, err)
	defer res.Body.Close()
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if res.StatusCode != http.StatusConflict || err != nil || seconds < 1 || seconds > 30 {
		t.Errorf("got %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	if a := c.do("POST", "/start", nil); a.str("reason") != "launch_paused" || !strings.Contains(a.str("error"), "not tried again for") {
		t.Errorf("got %s", a.text)
	}
}

func TestTabsTellWhereTheirDevToolsAre(t *testing.T) {
	c := serve(t, nil)
	opened := c.ok("POST", "/tabs/open", map[string]any{"url": site + "/two"})
	conn, _, err := websocket.Dial(t.Context(), opened.str("wsUrl"), nil)
	if err != nil {
		t.Fatalf("%q: %v", opened.str("wsUrl"), err)
	}
	_ = conn.CloseNow()
	if got := c.listed()[0]["wsUrl"]; got != opened.str("wsUrl") || got == "" {
		t.Errorf("listed with %v", got)
	}
}

func TestADeviceKeepsItsPixelsWhenTheViewportChanges(t *testing.T) {
	c := serve(t, nil)
	c.open("/mobile")
	c.ok("POST", "/set/device", map[string]any{"name": "iPhone 14"})
	seen := map[string]any{"kind": "evaluate", "fn": "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0].join()"}
	for _, body := range []map[string]any{
		{"kind": "resize", "width": 500, "height": 700},
		{"kind": "batch", "actions": []any{map[string]any{"kind": "resize", "width": 500, "height": 700}}},
	} {
		c.ok("POST", "/act", body)
		if a := c.ok("POST", "/act", seen); a.body["result"] != "500,700,3,true" {
			t.Errorf("%s: the page sees %s", body["kind"], a.text)
		}
	}
}

func TestTheShownDocumentIsSaved(t *testing.T) {
	c := serve(t, nil)
	c.open("/two")
	a := c.ok("POST", "/download", map[string]any{"currentDocument": true, "expectedUrl": site + "/two#x", "path": "shown.html"})
	saved, _ := a.body["download"].(map[string]any)
	path, _ := saved["path"].(string)
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "Second page") {
		t.Errorf("saved %s: %v", a.text, err)
	}
	for body, want := range map[string]int{
		`{"currentDocument":true}`: 400,
		`{"currentDocument":true,"expectedUrl":"` + site + `/two","ref":"e1"}`:       400,
		`{"currentDocument":true,"expectedUrl":"` + site + `/"}`:                     409,
		`{"currentDocument":true,"expectedUrl":"` + site + `/two","path":"../../x"}`: 400,
		`{"currentDocument":"false","path":"x"}`:                                     400,
	} {
		if a := c.do("POST", "/download", body); a.status != want {
			t.Errorf("%s: got %d %s, want %d", body, a.status, a.text, want)
		}
	}
}
