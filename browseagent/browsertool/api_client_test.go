package browsertool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func serve(t *testing.T, h http.HandlerFunc) *browsertool.APIClient {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &browsertool.APIClient{URL: srv.URL, Token: "secret"}
}

func TestACallCarriesQueryBodyAndToken(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode([]string{
			r.Method, r.URL.String(), r.Header.Get("Authorization"),
			r.Header.Get("Content-Type"), string(b),
		})
	})
	status, answer, err := c.Call(t.Context(), "POST", "/act", url.Values{"profile": {"a b"}}, map[string]int{"x": 1})
	want := `["POST","/act?profile=a+b","Bearer secret","application/json","{\"x\":1}"]`
	if err != nil || status != 200 || string(answer) != want {
		t.Errorf("got %d %s %v, want %s", status, answer, err, want)
	}
}

func TestFailuresNameTheirLayer(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	say := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, tt := range map[string]struct {
		c      *browsertool.APIClient
		want   error
		status int
		answer string
	}{
		"nobody listens":    {c: &browsertool.APIClient{URL: gone.URL}, want: browsertool.ErrAPIUnreachable},
		"no address":        {c: &browsertool.APIClient{}, want: browsertool.ErrAPIUnreachable},
		"broken connection": {c: serve(t, cut), want: browsertool.ErrAPIUnreachable},
		"not JSON":          {c: serve(t, say(200, "<html>")), want: browsertool.ErrAPIBadAnswer, status: 200},
		"empty":             {c: serve(t, say(200, "")), want: browsertool.ErrAPIBadAnswer, status: 200},
		"an error as text":  {c: serve(t, say(401, "Unauthorized")), status: 401, answer: `{"error":"Unauthorized"}`},
		"an error, no text": {c: serve(t, say(503, "")), status: 503, answer: `{"error":"Service Unavailable"}`},
		"an error as it is": {
			c: serve(t, say(404, `{"error":"tab not found"}`)), status: 404,
			answer: `{"error":"tab not found"}`,
		},
		"redirect is no place": {c: serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, gone.URL, http.StatusTemporaryRedirect)
		}), status: 307, answer: `{"error":"Temporary Redirect"}`},
	} {
		status, answer, err := tt.c.Call(t.Context(), "POST", "/act", nil, nil)
		if !errors.Is(err, tt.want) || status != tt.status || string(answer) != tt.answer {
			t.Errorf("%s: got %d %s %v, want %d %s %v", name, status, answer, err, tt.status, tt.answer, tt.want)
		}
	}
}

func TestALateAnswerIsToldFromACancelledCall(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := c.Call(ctx, "GET", "/", nil, nil); !errors.Is(err, browsertool.ErrAPITimedOut) {
		t.Errorf("got %v, want %v", err, browsertool.ErrAPITimedOut)
	}
	why := errors.New("stopped by @ada")
	ctx2, cancel2 := context.WithCancelCause(t.Context())
	cancel2(why)
	if _, _, err := c.Call(ctx2, "GET", "/", nil, nil); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestErrorsDoNotShowCredentialsOfTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	_ = l.Close()
	c := &browsertool.APIClient{URL: "http://user:hunter2@" + l.Addr().String() + "/?token=hunter2"}
	_, _, err = c.Call(t.Context(), "GET", "/", nil, nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestASessionClosesTheTabsItOpenedAndNoOther(t *testing.T) {
	a := newAPI(t)
	n := 0
	a.handle("POST /tabs/open", func(w http.ResponseWriter, _ *http.Request) {
		n++
		id := string(rune('A' + n - 1))
		_ = json.NewEncoder(w).Encode(map[string]string{"targetId": "RAW" + id, "tabId": "t" + id, "url": "http://x"})
	})
	for _, line := range []string{"DELETE /tabs/RAWA", "DELETE /tabs/tB", "DELETE /tabs/RAWC2", "DELETE /tabs/theirs"} {
		a.on(line, 200, `{"ok":true}`)
	}
	a.on("DELETE /tabs/RAWD", 404, `{"error":"tab not found: RAWD"}`)
	a.on("DELETE /tabs/RAWF", 500, `{"error":"crashed"}`)
	a.on("POST /act", 200, `{"ok":true,"targetId":"RAWE"}`)
	a.on("POST /navigate", 200, `{"ok":true,"targetId":"RAWC2"}`)
	a.on("GET /snapshot", 200, `{"ok":true,"snapshot":""}`)
	s := a.session()
	run(t, s, `{"action":"open","url":"http://x","profile":"work"}`)                             // A: closed at the end
	run(t, s, `{"action":"open","url":"http://x"}`)                                              // B: closed by its alias
	run(t, s, `{"action":"open","url":"http://x"}`)                                              // C: gets another id
	run(t, s, `{"action":"open","url":"http://x"}`)                                              // D: gone by itself
	run(t, s, `{"action":"open","url":"http://x"}`)                                              // E: closed by an act
	run(t, s, `{"action":"open","url":"http://x"}`)                                              // F: cannot be closed
	run(t, s, `{"action":"close","targetId":"tB"}`)                                              // ours
	run(t, s, `{"action":"close","targetId":"theirs"}`)                                          // not ours
	run(t, s, `{"action":"navigate","url":"http://y","targetId":"tC"}`)                          // moves C
	run(t, s, `{"action":"close"}`)                                                              // E
	if r := run(t, s, `{"action":"navigate","url":"http://y","targetId":"theirs"}`); r.IsError { // still not ours
		t.Error(r.Text)
	}
	a.taken()
	err := s.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), "RAWF: crashed") || strings.Contains(err.Error(), "RAWD") {
		t.Errorf("got %v", err)
	}
	want := "GET /tabs?profile=work\nGET /tabs\n" + // tabs opened by pages of the session
		"DELETE /tabs/RAWA?profile=work&targetIdMode=raw\nDELETE /tabs/RAWC2?targetIdMode=raw\n" +
		"DELETE /tabs/RAWD?targetIdMode=raw\nDELETE /tabs/RAWF?targetIdMode=raw"
	check.Equal(t, "taken", a.taken(), want)
	if err := s.Close(t.Context()); err != nil || a.taken() != "" {
		t.Errorf("a second end does something: %v", err)
	}
	if r := run(t, s, `{"action":"tabs"}`); !r.IsError || !strings.Contains(r.Text, "has ended") || a.taken() != "" {
		t.Errorf("got %q", r.Text)
	}
}

func TestATabThatOpensWhileTheSessionEndsIsClosed(t *testing.T) {
	a := newAPI(t)
	s := a.session()
	a.handle("POST /tabs/open", func(w http.ResponseWriter, r *http.Request) {
		_ = s.Close(r.Context())
		_, _ = io.WriteString(w, `{"targetId":"LATE"}`)
	})
	a.on("DELETE /tabs/LATE", 200, `{"ok":true}`)
	run(t, s, `{"action":"open","url":"http://x"}`)
	if got := a.taken(); !strings.HasSuffix(got, "DELETE /tabs/LATE?targetIdMode=raw") {
		t.Errorf("got %s", got)
	}
}

func TestAnActOnATabThatIsGoneIsTriedAgainOnlyWhereNothingCanGoWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, driver, tabs, fault string
		status                    int
		again                     bool
	}{
		"hover, attached, one tab":   {"hover", "existing-session", `[{}]`, "tab not found", 404, true},
		"wait, attached, one tab":    {"wait", "existing-session", `[{}]`, "Tab not found: X", 404, true},
		"scroll, attached, one tab":  {"scrollIntoView", "existing-session", `[{}]`, "tab not found", 404, true},
		"a click changes something":  {"click", "existing-session", `[{}]`, "tab not found", 404, false},
		"two tabs":                   {"hover", "existing-session", `[{},{}]`, "tab not found", 404, false},
		"no tab":                     {"hover", "existing-session", `[]`, "tab not found", 404, false},
		"our own browser":            {"hover", "openclaw", `[{}]`, "tab not found", 404, false},
		"another thing is not found": {"hover", "existing-session", `[{}]`, "profile not found", 404, false},
		"another failure":            {"hover", "existing-session", `[{}]`, "tab not found", 500, false},
	} {
		a := newAPI(t)
		a.handle("POST /act", func(w http.ResponseWriter, r *http.Request) {
			if b, _ := io.ReadAll(r.Body); strings.Contains(string(b), "targetId") {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, `{"error":"`+tt.fault+`"}`)
				return
			}
			_, _ = io.WriteString(w, `{"ok":true,"targetId":"NEW"}`)
		})
		a.on("GET /", 200, `{"driver":"`+tt.driver+`"}`)
		a.on("GET /tabs", 200, `{"running":true,"tabs":`+tt.tabs+`}`)
		r := run(t, a.session(), `{"action":"act","request":{"kind":"`+tt.kind+`","ref":"e1","targetId":"X"}}`)
		if r.IsError == tt.again {
			t.Errorf("%s: got %t %q", name, r.IsError, r.Text)
		}
		if !tt.again && content(t, r.Text) != tt.fault {
			t.Errorf("%s: got %q, want the service's own words", name, r.Text)
		}
		if n := strings.Count(a.taken(), "POST /act"); (n == 2) != tt.again {
			t.Errorf("%s: tried %d times", name, n)
		}
	}
}

func TestTargetsAreChosenByRule(t *testing.T) {
	host, box := &browsertool.Target{ID: "host"}, &browsertool.Target{ID: "box"}
	one := []browsertool.Target{{ID: "n1", Name: "Desk"}}
	two := append(one, browsertool.Target{ID: "n2", Name: "Lab"}, browsertool.Target{ID: "n3", Name: "lab"})
	for _, tt := range []struct {
		name        string
		targets     browsertool.Targets
		nodes       []browsertool.Target
		place, node string
		want        string // an id, or a part of the error
	}{
		{"host by default", browsertool.Targets{Host: host, AllowHostControl: true}, nil, "", "", "host"},
		{"sandbox before host", browsertool.Targets{Host: host, Sandbox: box, AllowHostControl: true}, one, "", "", "box"},
		{"host when asked", browsertool.Targets{Host: host, Sandbox: box, AllowHostControl: true}, one, "host", "", "host"},
		{"host refused", browsertool.Targets{Host: host, Sandbox: box}, nil, "host", "", "allowHostControl"},
		{"host refused by default, too", browsertool.Targets{Host: host}, nil, "", "", "allowHostControl"},
		{"no host", browsertool.Targets{AllowHostControl: true}, nil, "", "", "no browser service"},
		{"no sandbox", browsertool.Targets{Host: host, AllowHostControl: true}, nil, "sandbox", "", "no sandbox"},
		{"one node by itself", browsertool.Targets{Host: host, AllowHostControl: true}, one, "", "", "n1"},
		{"several nodes are not guessed", browsertool.Targets{Host: host, AllowHostControl: true}, two, "", "", "host"},
		{
			"several nodes, asked",
			browsertool.Targets{Host: host, AllowHostControl: true},
			two, "node", "",
			"name one with node: n1 (Desk), n2 (Lab)",
		},
		{"the configured node", browsertool.Targets{Host: host, Node: "n2"}, two, "", "", "n2"},
		{
			"the configured node is away",
			browsertool.Targets{Host: host, AllowHostControl: true, Node: "n2"},
			nil, "", "",
			"no node with a browser",
		},
		{"by id", browsertool.Targets{Sandbox: box}, two, "", "n2", "n2"},
		{"by name", browsertool.Targets{}, two, "node", "desk", "n1"},
		{"ambiguous name", browsertool.Targets{}, two, "node", "Lab", "several nodes are called"},
		{"unknown node", browsertool.Targets{}, two, "node", "x", `no node "x"`},
		{"no nodes", browsertool.Targets{}, nil, "node", "", "no node with a browser"},
		{"manual waits to be asked", browsertool.Targets{
			Host: host, AllowHostControl: true,
			NodeMode: browsertool.NodeManual,
		}, one, "", "", "host"},
		{"manual, asked", browsertool.Targets{NodeMode: browsertool.NodeManual}, one, "node", "", "n1"},
		{"off", browsertool.Targets{Host: host, AllowHostControl: true, NodeMode: browsertool.NodeOff}, one, "", "", "host"},
		{"off, asked", browsertool.Targets{NodeMode: browsertool.NodeOff}, one, "", "n1", "switched off"},
		{
			"node with another place",
			browsertool.Targets{Host: host, AllowHostControl: true},
			one, "host", "n1",
			`target="node" only`,
		},
	} {
		tt.targets.Nodes = func(context.Context) ([]browsertool.Target, error) { return tt.nodes, nil }
		got, err := tt.targets.Pick(t.Context(), tt.place, tt.node)
		switch {
		case err != nil && !strings.Contains(err.Error(), tt.want), err == nil && got.ID != tt.want:
			t.Errorf("%s: got %+v %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestCallsBecomeRequests(t *testing.T) {
	a := newAPI(t)
	for _, line := range []string{
		"GET /doctor", "GET /", "POST /start", "POST /stop", "GET /profiles", "GET /tabs", "POST /tabs/open",
		"POST /tabs/focus", "DELETE /tabs/t1",
		"GET /snapshot", "POST /navigate", "GET /console", "GET /requests", "GET /errors", "GET /text", "GET /cookies",
		"POST /trace/start", "POST /trace/stop", "POST /set/device", "POST /set/media",
		"POST /set/timezone", "POST /set/locale", "POST /pdf", "POST /download", "POST /wait/download",
		"POST /hooks/file-chooser",
		"POST /hooks/dialog", "POST /act",
	} {
		a.on(line, 200, `{"ok":true,"targetId":"T"}`)
	}
	for _, tt := range []struct{ in, want string }{
		{`{"action":"doctor","deep":true}`, `GET /doctor?deep=true`},
		{`{"action":"status","profile":"work"}`, `GET /?profile=work`},
		{`{"action":"start","profile":"work"}`, "POST /start?profile=work {}\nGET /?profile=work"},
		{`{"action":"stop"}`, "POST /stop {}\nGET /"},
		{`{"action":"profiles"}`, `GET /profiles`},
		{`{"action":"tabs","targetId":"","ref":null,"paths":[]}`, `GET /tabs`},
		{
			`{"action":"open","url":"https://x.test/","label":"docs"}`,
			`POST /tabs/open {"label":"docs","url":"https://x.test/"}`,
		},
		{`{"action":"open","targetUrl":"https://x.test/"}`, `POST /tabs/open {"url":"https://x.test/"}`},
		{`{"action":"focus","targetId":"t1"}`, `POST /tabs/focus {"targetId":"t1"}`},
		{`{"action":"close","targetId":"t1"}`, `DELETE /tabs/t1`},
		{`{"action":"close"}`, `POST /act {"kind":"close"}`},
		{`{"action":"snapshot"}`, `GET /snapshot?maxChars=40000`},
		{`{"action":"snapshot","mode":"efficient"}`, `GET /snapshot?mode=efficient`},
		{`{"action":"snapshot","snapshotFormat":"ai","maxChars":0}`, `GET /snapshot?format=ai&maxChars=0`},
		{`{"action":"snapshot","snapshotFormat":"aria","limit":7}`, `GET /snapshot?format=aria&limit=7`},
		{`{"action":"snapshot","after":"e7"}`, `GET /snapshot?after=e7&maxChars=40000`},
		{
			`{"action":"snapshot","query":"sign in","targetId":"t1","interactive":true,"urls":"true"}`,
			`GET /snapshot?interactive=true&maxChars=0&targetId=t1&urls=true`,
		},
		{
			`{"action":"navigate","targetUrl":"https://x.test/","targetId":"t1","timeoutMs":900}`,
			"POST /navigate {\"targetId\":\"t1\",\"timeoutMs\":900,\"url\":\"https://x.test/\"}\nGET " +
				"/snapshot?mode=efficient&targetId=T",
		},
		{`{"action":"console","level":"error"}`, `GET /console?level=error`},
		{`{"action":"requests","filter":"api","clear":true}`, `GET /requests?clear=true&filter=api`},
		{`{"action":"errors"}`, `GET /errors`},
		{`{"action":"text","selector":"main","maxChars":100}`, `GET /text?maxChars=100&selector=main`},
		{`{"action":"emulate","device":"iPhone 15","colorScheme":"dark","timezoneId":"Europe/Berlin","locale":"de-DE","targetId":"t1"}`, "POST /set/device {\"name\":\"iPhone 15\",\"targetId\":\"t1\"}\nPOST /set/media {\"colorScheme\":\"dark\",\"targetId\":\"t1\"}\nPOST /set/timezone {\"targetId\":\"t1\",\"timezoneId\":\"Europe/Berlin\"}\nPOST /set/locale {\"locale\":\"de-DE\",\"targetId\":\"t1\"}"},
		{`{"action":"cookies","targetId":"t1"}`, `GET /cookies?targetId=t1`},
		{`{"action":"tracestart"}`, `POST /trace/start {}`},
		{`{"action":"tracestop","path":"a.zip"}`, `POST /trace/stop {"path":"a.zip"}`},
		{`{"action":"pdf"}`, `POST /pdf {}`},
		{`{"action":"download","ref":"e1","path":"a.zip"}`, `POST /download {"path":"a.zip","ref":"e1"}`},
		{`{"action":"waitfordownload","timeoutMs":1000}`, `POST /wait/download {"timeoutMs":1000}`},
		{`{"action":"upload","paths":["a"],"inputRef":"e3"}`, `POST /hooks/file-chooser {"inputRef":"e3","paths":["a"]}`},
		{`{"action":"dialog","accept":false,"promptText":""}`, `POST /hooks/dialog {"accept":false,"promptText":""}`},
		// Fields within request, next to it, and both.
		{`{"action":"act","request":{"kind":"click","ref":"e1"}}`, `POST /act {"kind":"click","ref":"e1"}`},
		{
			`{"action":"act","kind":"click","ref":"e1","doubleClick":true,"url":""}`,
			`POST /act {"doubleClick":true,"kind":"click","ref":"e1"}`,
		},
		{
			`{"action":"act","ref":"e1","targetId":"t1","request":{"kind":"type","text":"  a <b> "}}`,
			`POST /act {"kind":"type","ref":"e1","targetId":"t1","text":"  a \u003cb\u003e "}`,
		},
		{`{"action":"act","ref":"e9","request":{"kind":"click","ref":"e1"}}`, `POST /act {"kind":"click","ref":"e1"}`},
		{`{"action":"act","kind":"type","ref":"e1","text":""}`, `POST /act {"kind":"type","ref":"e1","text":""}`},
		{`{"action":"act","request":"{\"kind\":\"press\",\"key\":\"Enter\"}"}`, `POST /act {"key":"Enter","kind":"press"}`},
		{
			`{"action":"act","request":{"kind":"dragCoords","x":0,"y":1.5,"endX":2,"endY":3},"profile":"work"}`,
			`POST /act?profile=work {"endX":2,"endY":3,"kind":"dragCoords","x":0,"y":1.5}`,
		},
		{
			`{"action":"act","profile":"work","request":{"kind":"close","profile":"other","action":"tabs"}}`,
			`POST /act?profile=work {"kind":"close"}`,
		},
		{`{"kind":"hover","ref":12}`, `POST /act {"kind":"hover","ref":12}`},
		{`{"action":"click","ref":"e1"}`, `POST /act {"kind":"click","ref":"e1"}`},
		{`{"action":"snapshot","request":{"selector":"main"}}`, `GET /snapshot?maxChars=40000&selector=main`},
	} {
		s := a.session()
		s.Tool.Records = true
		r := run(t, s, tt.in)
		if got := a.taken(); got != tt.want || r.IsError {
			t.Errorf("%s\n got  %s\n want %s\n text %s", tt.in, got, tt.want, r.Text)
		}
	}
}

func TestAnArchiveHasTheLatestExchangesThatFit(t *testing.T) {
	a := newAPI(t)
	entry := func(url string) string { return `{"request":{"url":"` + url + `"}}` }
	all := strings.Join([]string{entry("/api/1"), entry("/api/2"), entry("/x"), entry("/api/3")}, ",")
	a.on("GET /har", 200, `{"har":{"log":{"entries":[`+all+`]}}}`)
	s := a.session()
	s.Tool.Records = true
	for in, want := range map[string]string{
		`{"action":"har"}`: `[` + all + `]}}}`,
		`{"action":"har","filter":"api","maxChars":"70"}`: `[` + entry("/api/2") + `,` + entry("/api/3") +
			`]}},"truncated":"older exchanges`,
		`{"action":"har","filter":"none"}`: `"entries":[]`,
	} {
		if r := run(t, s, in); r.IsError || !strings.Contains(r.Text, want) ||
			!strings.Contains(r.Text, "EXTERNAL_UNTRUSTED_CONTENT") {
			t.Errorf("%s: got %t %s, want %s", in, r.IsError, r.Text, want)
		}
	}
}

func TestCallsThatMakeNoSenseAreRefusedHere(t *testing.T) {
	a := newAPI(t)
	s := a.session()
	s.Tool.Settings = scriptsRun{enabled: false}
	for _, tt := range []struct{ in, want string }{
		{`[]`, "not a JSON object"},
		{`{"action":`, "not a JSON object"},
		{`{"action":"tabs"} {}`, "more data after the object"},
		{``, "is not known; there are"},
		{`{"action":"fly"}`, `action "fly" is not known; there are`},
		{`{"action":"cookies"}`, `action "cookies" is not known; there are`},
		{`{"action":"har"}`, `action "har" is not known; there are`},
		{`{"action":"open"}`, "needs targetUrl"},
		{`{"action":"navigate"}`, "needs targetUrl"},
		{`{"action":"focus"}`, "needs targetId"},
		{`{"action":"close","targetId":".."}`, "does not name a tab"},
		{`{"action":"upload"}`, "needs paths"},
		{`{"action":"emulate"}`, "needs device"},
		{`{"action":"act"}`, "act needs a kind"},
		{`{"action":"act","request":7}`, "request is not an object"},
		{`{"action":"tabs","target":"moon"}`, "target must be"},
		{`{"action":"act","kind":"evaluate","fn":"1"}`, "browser.evaluateEnabled=false"},
		{`{"action":"act","kind":"wait","fn":"1"}`, "browser.evaluateEnabled=false"},
		{
			`{"action":"act","request":{"kind":"batch","actions":[{"kind":"batch","actions":[{"kind":"evaluate"}]}]}}`,
			"browser.evaluateEnabled=false",
		},
	} {
		r := run(t, s, tt.in)
		if !r.IsError || !strings.Contains(r.Text, tt.want) {
			t.Errorf("%s: got %t %q, want %q", tt.in, r.IsError, r.Text, tt.want)
		}
	}
	check.Equal(t, "sent", a.taken(), "")
}

func TestATabIDCannotLeaveItsPlaceInThePath(t *testing.T) {
	a := newAPI(t)
	run(t, a.session(), `{"action":"close","targetId":"../profiles/work?x#y"}`)
	check.Equal(t, "taken", a.taken(), "DELETE /tabs/"+url.PathEscape("../profiles/work?x#y"))
}

// FuzzRun checks that no model input breaks the tool or makes it request an unknown route.
func FuzzRun(f *testing.F) {
	for _, s := range []string{
		`{"action":"act","request":{"kind":"click"}}`, `{"action":"snapshot","query":"a b"}`,
		`{"action":{"a":1},"request":"{"}`, `{"action":"close","targetId":"/../.."}`,
		`{"action":"act","kind":"batch","actions":[1,{"kind":"wait","timeMs":"x"}],"timeoutMs":1e300}`,
	} {
		f.Add(s)
	}
	known := " / /doctor /start /stop /profiles /tabs /tabs/open /tabs/focus /snapshot /screenshot /navigate /console " +
		"/requests /errors /text /pdf /download /cookies /har /trace/start /trace/stop /set/device /set/media " +
		"/set/timezone /set/locale /wait/download /hooks/file-chooser /hooks/dialog /act "
	f.Fuzz(func(t *testing.T, in string) {
		c := &recorder{}
		r := run(t, c.session(), in)
		if r.Text == "" {
			t.Error("the model is told nothing")
		}
		if !r.IsError && len(c.paths) == 0 {
			t.Errorf("%q succeeded without asking for anything", in)
		}
		for _, path := range c.paths {
			rest, isTab := strings.CutPrefix(path, "/tabs/")
			if !strings.Contains(known, " "+path+" ") && (!isTab || strings.Contains(rest, "/") || rest == "..") {
				t.Errorf("%q asked for %s", in, path)
			}
		}
	})
}

// recorder is a ControlAPI without a network that accepts everything.
type recorder struct{ paths []string }

func (r *recorder) Call(_ context.Context, _, path string, _ url.Values, _ any) (int, json.RawMessage, error) {
	r.paths = append(r.paths, path)
	return 200, json.RawMessage(`{"ok":true,"targetId":"T","snapshot":"- button","tabs":[]}`), nil
}

func (r *recorder) session() *browsertool.Session {
	targets := browsertool.Targets{Host: &browsertool.Target{API: r}, AllowHostControl: true}
	return &browsertool.Session{Tool: &browsertool.Tool{Targets: targets, Records: true}}
}

func TestTheToolTakesEveryActionOfTheTable(t *testing.T) {
	d := (&browsertool.Tool{}).Definition()
	var schema struct {
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	check.Must(t, json.Unmarshal(d.Schema, &schema))
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		if !slices.Contains(schema.Properties["kind"].Enum, kind) || !strings.Contains(d.Description, kind+spec.Sketch) {
			t.Errorf("%s is not offered", kind)
		}
		for _, p := range spec.ParamsIn(actiontable.API) {
			want := strings.Replace(p.Type.String(), "objects", "array", 1)
			if got := schema.Properties[p.Name]; got.Type != want || !slices.Equal(got.Enum, p.Enum) {
				t.Errorf("%s %s: got %+v, want %s of %q", kind, p.Name, got, want, p.Enum)
			}
			a := newAPI(t)
			a.on("POST /act", 200, `{"ok":true}`)
			run(t, a.session(), `{"action":"act","kind":"`+kind+`","`+p.Name+`":7}`)
			if got := a.taken(); !strings.Contains(got, `"`+p.Name+`":7`) {
				t.Errorf("%s beside action is not sent: %s", p.Name, got)
			}
		}
	}
}

func TestTheSchemaIsOneFlatObjectThatCostsLittle(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{Settings: scriptsRun{enabled: evaluates}}).Definition()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.Schema)))
		if err != nil {
			t.Fatalf("%s: %v", d.Schema, err)
		}
		comp := jsonschema.NewCompiler()
		check.Must(t, comp.AddResource("mem:///tool.json", doc))
		check.Must(t, check.Err(comp.Compile("mem:///tool.json")))
		for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
			if strings.Contains(string(d.Schema), `"`+word+`"`) {
				t.Errorf("the schema has %s", word)
			}
		}
		size := len(d.Name) + len(d.Description) + len(d.Schema)
		tokens := float64(size) / 3.5
		t.Logf("%d bytes, about %.0f tokens", size, tokens)
		if tokens >= 3000 {
			t.Errorf("the tool costs about %.0f tokens", tokens)
		}
		check.Lacks(t, d.Description, "%")
	}
}

func TestTheSchemaHidesWhatCannotBeDone(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{Settings: scriptsRun{enabled: evaluates}}).Definition()
		var s struct {
			Properties map[string]struct{ Enum []string } `json:"properties"`
		}
		check.Must(t, json.Unmarshal(d.Schema, &s))
		_, fn := s.Properties["fn"]
		kinds := s.Properties["kind"].Enum
		if slices.Contains(kinds, "evaluate") != evaluates || fn != evaluates ||
			strings.Contains(d.Description, "evaluate") != evaluates ||
			!slices.Contains(kinds, "batch") {
			t.Errorf("scripts may run: %t; kinds %v, fn %t, %s", evaluates, kinds, fn, d.Description)
		}
	}
}
