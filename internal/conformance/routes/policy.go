package routes

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"clank/internal/conformance/check"
)

// blocked is a refusal by the policy about what pages may reach. It says so, and who can allow it.
func blocked(name, path string, body any) check.Exchange {
	return check.Exchange{Name: name, Path: path, Body: body, Status: 400, Reason: "navigation_blocked", Says: []string{"blocked by policy", "allow"}}
}

// Policy is what pages may reach: private addresses, in every spelling and by every way that leads there, are refused.
func Policy() []check.Case {
	type m = map[string]any
	var list []check.Exchange
	for _, host := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "127.0.0.2", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1", "240.0.0.1",
		"0x0a000001", "012.0.0.1", "167772161", "10.1", "10.0.0.1.", "[::]", "[fd00::1]", "[fe80::1]", "[ff02::1]", "[::ffff:10.0.0.1]", "[::10.0.0.1]",
		"[64:ff9b::a00:1]", "[2002:a00:1::]", "metadata.google.internal", "Printer.LOCAL", "app.localhost", "localhost.localdomain", "db.internal.",
	} {
		list = append(list, blocked("a page of "+host, "/navigate", m{"url": "http://" + host + "/"}))
	}
	list = append(
		list,
		blocked("a new tab", "/tabs/open", m{"url": "http://10.0.0.1/"}),
		blocked("a redirect", "/navigate", m{"url": "SITE/leap?to=http://10.0.0.1/"}),
		blocked("two redirects", "/navigate", m{"url": "SITE/leap?to=SITE/leap%3Fto=http://10.0.0.1/"}),
		check.Exchange{Name: "a permission", Page: "/plain", Path: "/permissions/grant", Body: m{"origin": "http://10.0.0.1", "permissions": []string{"geolocation"}}, Status: 400, Says: []string{"blocked by policy"}},
		check.Exchange{Name: "the endpoint of a browser", Path: "/profiles/create", Body: m{"name": "meta", "cdpUrl": "http://169.254.169.254/"}, Status: 400, Says: []string{"browser endpoint blocked by policy"}},
		check.Exchange{Name: "a name and a password", Path: "/tabs/open", Body: m{"url": "http://ada:top-secret@127.0.0.1/"}, Status: 400, Never: []string{"top-secret"}},
		check.Exchange{Name: "a secret in the query", Path: "/tabs/open", Body: m{"url": "SITE/plain?access_token=top-secret"}, Status: 400, Never: []string{"top-secret"}},
	)
	return append(
		check.Exchanges(list),
		check.Case{Name: "a page with a part that may not be reached", Run: partAstray},
		check.Case{Name: "a click that leads astray", Run: ledAstray},
		check.Case{Name: "a script that asks", Run: scriptAsks},
		check.Case{Name: "what was refused does not become the current tab", Run: staysCurrent},
		check.Case{Name: "every route of a page that may no longer be reached", Run: noLonger},
	)
}

// partAstray opens a page with a frame that is refused: that is told, and the page stays.
func partAstray(ctx context.Context, s *check.Suite) error {
	if err := blocked("", "/navigate", map[string]any{"url": "SITE/parted"}).Run(ctx, s); err != nil {
		return err
	}
	return check.Exchange{Path: "/snapshot", Says: []string{"still here"}}.Run(ctx, s)
}

func ledAstray(ctx context.Context, s *check.Suite) error {
	if err := s.Open(ctx, "/astray"); err != nil {
		return err
	}
	if err := blocked("", "/act", map[string]any{"kind": "click", "selector": "#link"}).Run(ctx, s); err != nil {
		return err
	}
	// The way out is another page, in the same tab.
	if err := s.Open(ctx, "/plain"); err != nil {
		return err
	}
	return check.Exchange{Path: "/snapshot", Says: []string{"nothing to do here"}}.Run(ctx, s)
}

// scriptAsks has a page ask for what listens on another address of this machine, by every means that scripts have.
func scriptAsks(ctx context.Context, s *check.Suite) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.2:0")
	if err != nil {
		return err
	}
	var came atomic.Int32
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	_ = other.Listener.Close()
	other.Listener = ln
	other.Start()
	defer other.Close()
	if err := s.Open(ctx, "/plain"); err != nil {
		return err
	}
	script := strings.ReplaceAll(`const u = 'ADDRESS/', ended = (o, ...names) => new Promise(done => names.forEach(n => o['on' + n] = () => done(1)));
		const image = new Image(), socket = new WebSocket(u.replace('http', 'ws')), events = new EventSource(u);
		image.src = u; navigator.sendBeacon(u, 'x');
		await Promise.all([fetch(u, {mode: 'no-cors'}).catch(() => 0), ended(image, 'load', 'error'), ended(socket, 'open', 'error'), ended(events, 'open', 'error')]);
		return 1`, "ADDRESS", other.URL)
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": script}); err != nil {
		return err
	}
	return check.Same("requests that came", came.Load(), 0)
}

func staysCurrent(ctx context.Context, s *check.Suite) error {
	t, err := s.NewTab(ctx, "/form", "")
	if err != nil {
		return err
	}
	if err := blocked("", "/tabs/open", map[string]any{"url": "http://10.0.0.1/"}).Run(ctx, s); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if err := check.Same("current tab", snap.TargetID, t.TargetID); err != nil {
		return err
	}
	return s.CloseTab(ctx, t.TargetID)
}

// noLonger opens a page, takes its host from those that may be reached, and asks each route that looks at a page.
func noLonger(ctx context.Context, s *check.Suite) error {
	return another(ctx, s, func(s *check.Suite) error {
		const allowed = "allowedHostnames"
		if err := s.Set(ctx, allowed, "127.0.0.1"); err != nil {
			return err
		}
		if err := s.Open(ctx, "/form"); err != nil {
			return err
		}
		if err := s.Set(ctx, allowed, ""); err != nil {
			return err
		}
		routes := aimed()
		for _, free := range []string{"DELETE /tabs/nosuch", "POST /navigate", "POST /tabs/action", "GET /dialogs", "POST /tabs/focus"} {
			delete(routes, free)
		}
		for route, body := range routes {
			if !strings.HasPrefix(route, "GET ") && !guarded[strings.TrimPrefix(route, "POST ")] {
				continue
			}
			if err := aim(ctx, s, route, body, nil, check.Exchange{Status: 400, Reason: "navigation_blocked"}); err != nil {
				return fmt.Errorf("%s: %w", route, err)
			}
		}
		for _, x := range []check.Exchange{
			{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "1"}, Status: 400, Reason: "navigation_blocked"},
			{Path: "/act", Body: map[string]any{"kind": "batch", "actions": []any{map[string]any{"kind": "press", "key": "a"}}}, Status: 400, Reason: "navigation_blocked"},
			{Path: "/act", Body: map[string]any{"kind": "resize", "width": 500, "height": 400}},
			{Path: "/act", Body: map[string]any{"kind": "close"}},
		} {
			if err := x.Run(ctx, s); err != nil {
				return fmt.Errorf("%v: %w", x.Body, err)
			}
		}
		return nil
	}, "CLANK_ALLOWED_HOSTS=")
}

// guarded are the routes that change something and look at the page's address first.
var guarded = map[string]bool{
	"/pdf": true, "/screenshot": true, "/response/body": true, "/wait/download": true, "/download": true, "/highlight": true, "/trace/start": true, "/trace/stop": true,
}
