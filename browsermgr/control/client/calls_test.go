package client_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"clank/browsermgr/control/client"

	"github.com/google/go-cmp/cmp"
)

func TestTypedCalls(t *testing.T) {
	headless := true
	nth := 1
	ctx := t.Context()
	for name, tc := range map[string]struct {
		call   func(c *client.Client) (any, error)
		asks   string
		body   string
		answer string
		want   any
	}{
		"status": {
			func(c *client.Client) (any, error) { return c.Status(ctx) }, "GET /", "",
			`{"enabled":true,"profile":"clank","running":true,"headlessSource":"env","color":"#FF4500"}`,
			client.Status{Enabled: true, Profile: "clank", Running: true, HeadlessSource: "env", Color: "#FF4500"},
		},
		"doctor": {
			func(c *client.Client) (any, error) { return c.Doctor(ctx, true) }, "GET /doctor?deep=true", "",
			`{"ok":true,"profile":"clank"}`,
			client.Report{OK: true, Profile: "clank"},
		},
		"profiles": {
			func(c *client.Client) (any, error) { return c.Profiles(ctx) }, "GET /profiles", "",
			`{"profiles":[{"name":"clank","tabCount":2}]}`,
			[]client.ProfileInfo{{Name: "clank", TabCount: 2}},
		},
		"start": {
			func(c *client.Client) (any, error) { return nil, c.Start(ctx, &headless) }, "POST /start?headless=true", "",
			`{"ok":true}`, nil,
		},
		"stop": {
			func(c *client.Client) (any, error) { return c.Stop(ctx) }, "POST /stop", "",
			`{"ok":true,"stopped":true}`, true,
		},
		"tabs": {
			func(c *client.Client) (any, error) { return c.Tabs(ctx) }, "GET /tabs", "",
			`{"running":true,"tabs":[{"tabId":"t1","targetId":"A","title":"x","url":"u","type":"page"}]}`,
			client.TabList{Running: true, Tabs: []client.Tab{{TabID: "t1", TargetID: "A", Title: "x", URL: "u", Type: "page"}}},
		},
		"open": {
			func(c *client.Client) (any, error) { return c.Open(ctx, "https://example.com", "docs") }, "POST /tabs/open",
			`{"label":"docs","url":"https://example.com"}`, `{"tabId":"t2"}`,
			client.Tab{TabID: "t2"},
		},
		"focus": {
			func(c *client.Client) (any, error) { return nil, c.Focus(ctx, "t1") }, "POST /tabs/focus", `{"targetId":"t1"}`, `{"ok":true}`, nil,
		},
		"close": {
			func(c *client.Client) (any, error) { return nil, c.CloseTab(ctx, "a/../b") }, "DELETE /tabs/a%2F..%2Fb", "", `{"ok":true}`, nil,
		},
		"navigate": {
			func(c *client.Client) (any, error) { return c.Navigate(ctx, "t1", "https://x.test", 9000) }, "POST /navigate",
			`{"targetId":"t1","timeoutMs":9000,"url":"https://x.test"}`, `{"targetId":"A","url":"https://x.test/","download":{"path":"/p"}}`,
			client.Result{TargetID: "A", URL: "https://x.test/", Download: &client.Download{Path: "/p"}},
		},
		"snapshot": {
			func(c *client.Client) (any, error) { return c.Snapshot(ctx, url.Values{"interactive": {"true"}}) }, "GET /snapshot?interactive=true", "",
			`{"format":"ai","snapshot":"- link","refs":{"e1":{"role":"link","nth":1}},"stats":{"lines":1}}`,
			client.Snapshot{Format: "ai", Text: "- link", Refs: map[string]client.Ref{"e1": {Role: "link", Nth: &nth}}, Stats: &client.Stats{Lines: 1}},
		},
		"act": {
			func(c *client.Client) (any, error) { return c.Act(ctx, map[string]any{"kind": "close"}) }, "POST /act", `{"kind":"close"}`,
			`{"results":[{"ok":false,"error":"no"}],"aborted":{"reason":"closed","afterAction":1,"skipped":2}}`,
			client.Result{Results: []client.BatchEntry{{Error: "no"}}, Aborted: &client.Aborted{Reason: "closed", AfterAction: 1, Skipped: 2}},
		},
		"screenshot": {
			func(c *client.Client) (any, error) {
				return c.Screenshot(ctx, client.ScreenshotOptions{FullPage: true})
			}, "POST /screenshot", `{"fullPage":true}`,
			`{"path":"/p.png"}`,
			client.SavedFile{Path: "/p.png"},
		},
		"pdf": {
			func(c *client.Client) (any, error) { return c.PDF(ctx, "") }, "POST /pdf", `{}`, `{"path":"/p.pdf"}`, client.SavedFile{Path: "/p.pdf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan [2]string, 1)
			address := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked <- [2]string{r.Method + " " + r.RequestURI, string(body)}
				_, _ = io.WriteString(w, tc.answer)
			})
			got, err := tc.call(newClient(t, client.Config{URL: address}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answer: %s", diff)
			}
			if diff := cmp.Diff([2]string{tc.asks, tc.body}, <-asked); diff != "" {
				t.Errorf("request: %s", diff)
			}
		})
	}
}

func TestATypedCallTellsTheError(t *testing.T) {
	c := newClient(t, client.Config{URL: serve(t, 404, `{"error":"tab not found"}`)})
	if err := c.Focus(t.Context(), "t9"); err == nil || err.Error() != "tab not found" {
		t.Errorf("got %v, want tab not found", err)
	}
}
