package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
)

// wantBlocked is a refusal by the policy about what pages may reach. It says so, and who can allow it.
func wantBlocked(name, path string, body any) requestCase {
	return requestCase{Name: name, Path: path, Body: body, Status: 400, Reason: "navigation_blocked", Contains: []string{"blocked by policy", "allow"}}
}

// policyCases is what pages may reach: private addresses, in every spelling and by every way that leads there, are refused.
func policyCases() []testCase {
	type m = map[string]any
	var list []requestCase
	for _, host := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "127.0.0.2", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1", "240.0.0.1",
		"0x0a000001", "012.0.0.1", "167772161", "10.1", "10.0.0.1.", "[::]", "[fd00::1]", "[fe80::1]", "[ff02::1]", "[::ffff:10.0.0.1]", "[::10.0.0.1]",
		"[64:ff9b::a00:1]", "[2002:a00:1::]", "metadata.google.internal", "Printer.LOCAL", "app.localhost", "localhost.localdomain", "db.internal.",
	} {
		list = append(list, wantBlocked("a page of "+host, "/navigate", m{"url": "http://" + host + "/"}))
	}
	list = append(
		list,
		wantBlocked("a new tab", "/tabs/open", m{"url": "http://10.0.0.1/"}),
		wantBlocked("a redirect", "/navigate", m{"url": "SITE/leap?to=http://10.0.0.1/"}),
		wantBlocked("two redirects", "/navigate", m{"url": "SITE/leap?to=SITE/leap%3Fto=http://10.0.0.1/"}),
		requestCase{Name: "a permission", Page: "/plain", Path: "/permissions/grant", Body: m{"origin": "http://10.0.0.1", "permissions": []string{"geolocation"}}, Status: 400, Contains: []string{"blocked by policy"}},
		requestCase{Name: "the endpoint of a browser", Path: "/profiles/create", Body: m{"name": "meta", "cdpUrl": "http://169.254.169.254/"}, Status: 400, Contains: []string{"browser endpoint blocked by policy"}},
		requestCase{Name: "a name and a password", Path: "/tabs/open", Body: m{"url": "http://ada:top-secret@127.0.0.1/"}, Status: 400, Excludes: []string{"top-secret"}},
		requestCase{Name: "a secret in the query", Path: "/tabs/open", Body: m{"url": "SITE/plain?access_token=top-secret"}, Status: 400, Excludes: []string{"top-secret"}},
	)
	return append(
		requestCases(list),
		testCase{Name: "a page with a part that may not be reached", Run: partAstray},
		testCase{Name: "a click that leads astray", Run: ledAstray},
		testCase{Name: "a script that asks", Run: scriptAsks},
		testCase{Name: "what was refused does not become the current tab", Run: staysCurrent},
		testCase{Name: "every route of a page that may no longer be reached", Run: noLonger},
	)
}

// partAstray opens a page with a frame that is refused: that is told, and the page stays.
func partAstray(ctx context.Context, s *controlSuite) error {
	for _, route := range []string{"/navigate", "/tabs/open"} {
		told := requestCase{Path: route, Body: map[string]any{"url": "SITE/parted"}, Contains: []string{`"refused"`, "blocked by policy", "allow"}}
		if err := told.Run(ctx, s); err != nil {
			return err
		}
		if err := (requestCase{Path: "/snapshot", Contains: []string{"still here"}}).Run(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func ledAstray(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/astray"); err != nil {
		return err
	}
	if err := wantBlocked("", "/act", map[string]any{"kind": "click", "selector": "#link"}).Run(ctx, s); err != nil {
		return err
	}
	// The way out is another page, in the same tab.
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	return requestCase{Path: "/snapshot", Contains: []string{"nothing to do here"}}.Run(ctx, s)
}

// scriptAsks has a page ask for what listens on another address of this machine, by every means that scripts have.
func scriptAsks(ctx context.Context, s *controlSuite) error {
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
	if err := s.openPage(ctx, "/plain"); err != nil {
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
	return wantEqualJSON("requests that came", came.Load(), 0)
}

func staysCurrent(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/form", "")
	if err != nil {
		return err
	}
	if err := wantBlocked("", "/tabs/open", map[string]any{"url": "http://10.0.0.1/"}).Run(ctx, s); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if err := wantEqualJSON("current tab", snap.TargetID, t.TargetID); err != nil {
		return err
	}
	return s.CloseTab(ctx, t.TargetID)
}

// noLonger opens a page, takes its host from those that may be reached, and asks each route that looks at a page.
func noLonger(ctx context.Context, s *controlSuite) error {
	return withOwnServer(ctx, s, func(s *controlSuite) error {
		const allowed = "allowedHostnames"
		if err := s.changeSetting(ctx, allowed, "127.0.0.1"); err != nil {
			return err
		}
		if err := s.openPage(ctx, "/form"); err != nil {
			return err
		}
		if err := s.changeSetting(ctx, allowed, ""); err != nil {
			return err
		}
		routes := aimedRoutes()
		for _, free := range []string{"DELETE /tabs/nosuch", "POST /navigate", "POST /tabs/action", "GET /dialogs", "POST /tabs/focus"} {
			delete(routes, free)
		}
		for route, body := range routes {
			if !strings.HasPrefix(route, "GET ") && !guardedRequests[strings.TrimPrefix(route, "POST ")] {
				continue
			}
			if err := aimAtTab(ctx, s, route, body, nil, requestCase{Status: 400, Reason: "navigation_blocked"}); err != nil {
				return fmt.Errorf("%s: %w", route, err)
			}
		}
		for _, x := range []requestCase{
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

// guardedRequests are the routes that change something and look at the page's address first.
var guardedRequests = map[string]bool{
	"/pdf": true, "/screenshot": true, "/response/body": true, "/wait/download": true, "/download": true, "/highlight": true, "/trace/start": true, "/trace/stop": true,
}
