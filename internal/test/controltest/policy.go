package controltest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
)

// wantBlocked returns a request that the network policy must refuse, with an error that says so and how to allow it.
func wantBlocked(name, path string, body any) requestCase {
	return requestCase{
		Name: name, Path: path, Body: body, Status: 400, Reason: "navigation_blocked",
		Contains: []string{"blocked by policy", "allow"},
	}
}

// policyCases returns the cases about the network policy: private addresses are blocked in every spelling and on
// every path.
func policyCases() []testCase {
	var list []requestCase
	for _, host := range []string{
		"10.0.0.1", "169.254.169.254", "0x0a000001", "[::ffff:10.0.0.1]", "metadata.google.internal", "app.localhost",
	} {
		list = append(list, wantBlocked("a page of "+host, "/navigate", m{"url": "http://" + host + "/"}))
	}
	list = append(
		list,
		wantBlocked("a new tab", "/tabs/open", m{"url": "http://10.0.0.1/"}),
		wantBlocked("a redirect", "/navigate", m{"url": "SITE/leap?to=http://10.0.0.1/"}),
		wantBlocked("two redirects", "/navigate", m{"url": "SITE/leap?to=SITE/leap%3Fto=http://10.0.0.1/"}),
		requestCase{
			Name: "a permission", Page: "/plain", Path: "/permissions/grant",
			Body: m{"origin": "http://10.0.0.1", "permissions": []string{"geolocation"}}, Status: 400,
			Contains: []string{"blocked by policy"},
		},
		requestCase{
			Name: "the endpoint of a browser", Path: "/profiles/create",
			Body: m{"name": "meta", "cdpUrl": "http://169.254.169.254/"}, Status: 400,
			Contains: []string{"browser endpoint blocked by policy"},
		},
		requestCase{
			Name: "a name and a password", Path: "/tabs/open", Body: m{"url": "http://ada:top-secret@127.0.0.1/"},
			Status: 400, Excludes: []string{"top-secret"},
		},
		requestCase{
			Name: "a secret in the query", Path: "/tabs/open", Body: m{"url": "SITE/plain?access_token=top-secret"},
			Status: 400, Excludes: []string{"top-secret"},
		},
	)
	return append(
		requestCases(list),
		testCase{Name: "a page with a part that may not be reached", Run: partAstray},
		testCase{Name: "a click that leads astray", Run: ledAstray},
		testCase{Name: "a script that asks", Run: scriptAsks},
		testCase{Name: "every route of a page that may no longer be reached", Run: noLonger, Program: true},
	)
}

// partAstray opens a page with a blocked frame: the response reports it, and the page stays open.
func partAstray(s *suite) {
	for _, route := range []string{"/navigate", "/tabs/open"} {
		s.send(requestCase{
			Path: route, Body: m{"url": "SITE/parted"},
			Contains: []string{`"refused"`, "blocked by policy", "allow"},
		})
		s.send(requestCase{Path: "/snapshot", Contains: []string{"still here"}})
	}
}

func ledAstray(s *suite) {
	s.openPage("/astray")
	wantBlocked("", "/act", m{"kind": "click", "selector": "#link"}).Run(s)
	// Another page can still be opened in the same tab.
	s.openPage("/plain")
	s.send(requestCase{Path: "/snapshot", Contains: []string{"nothing to do here"}})
}

// scriptAsks lets a page connect to another local listener by every API that scripts have.
func scriptAsks(s *suite) {
	ln, err := (&net.ListenConfig{}).Listen(s.ctx(), "tcp", "127.0.0.2:0")
	s.check(err)
	var came atomic.Int32
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	_ = other.Listener.Close()
	other.Listener = ln
	other.Start()
	defer other.Close()
	s.openPage("/plain")
	script := strings.ReplaceAll(
		`const u = 'ADDRESS/', ended = (o, ...names) => new Promise(done => names.forEach(n => o['on' + n] = () => done(1)));
		const image = new Image(), socket = new WebSocket(u.replace('http', 'ws')), events = new EventSource(u);
		image.src = u; navigator.sendBeacon(u, 'x');
		await Promise.all([fetch(u, {mode: 'no-cors'}).catch(() => 0), ended(image, 'load', 'error'), ended(socket, 'open', 'error'), ended(events, 'open', 'error')]);
		return 1`, "ADDRESS", other.URL)
	s.run(script)
	s.wantEqual("requests that came", came.Load(), 0)
}

// noLonger opens a page, removes its host from the allowed ones, and calls each route that reads a page.
func noLonger(s *suite) {
	withOwnServer(s, func(s *suite) {
		const allowed = "allowedHostnames"
		s.changeSetting(allowed, "127.0.0.1")
		s.openPage("/form")
		s.changeSetting(allowed, "")
		for route := range aimedRoutes() {
			if guardedRoutes[route] || strings.HasPrefix(route, "GET ") && route != "GET /dialogs" {
				x := aimedRequest(route, nil)
				x.Status, x.Reason = 400, "navigation_blocked"
				x.Run(s)
			}
		}
		s.send([]requestCase{
			{Path: "/act", Body: m{"kind": "evaluate", "fn": "1"}, Status: 400, Reason: "navigation_blocked"},
			{
				Path: "/act", Body: m{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a"}}}, Status: 400,
				Reason: "navigation_blocked",
			},
			{Path: "/act", Body: m{"kind": "resize", "width": 500, "height": 400}},
			{Path: "/act", Body: m{"kind": "close"}},
		}...)
	}, "CLANK_ALLOWED_HOSTS=")
}

// guardedRoutes are the routes that change something and check the page's address first.
var guardedRoutes = map[string]bool{
	"POST /pdf": true, "POST /screenshot": true, "POST /response/body": true, "POST /wait/download": true,
	"POST /download": true, "POST /highlight": true,
	"POST /trace/start": true, "POST /trace/stop": true,
}
