package control_test

import (
	"net/http"
	"strings"
	"testing"

	"clank/browsermgr/control"
)

func TestAServerDoesNotStartUnprotected(t *testing.T) {
	for name, c := range map[string]struct {
		server *control.Server
		want   string
	}{
		"no secret":        {&control.Server{Addr: "127.0.0.1:0"}, "no secret"},
		"blank secret":     {&control.Server{Addr: "127.0.0.1:0", Secrets: control.Secrets{Token: "  "}}, "no secret"},
		"all interfaces":   {&control.Server{Addr: "0.0.0.0:0", Secrets: control.Secrets{Token: "x"}}, "loopback"},
		"no host":          {&control.Server{Addr: ":0", Insecure: true}, "loopback"},
		"another machine":  {&control.Server{Addr: "192.0.2.1:0", Secrets: control.Secrets{Token: "x"}}, "loopback"},
		"no port":          {&control.Server{Addr: "127.0.0.1", Secrets: control.Secrets{Token: "x"}}, "missing port"},
		"a port in use":    {&control.Server{Addr: strings.TrimPrefix(site, "http://"), Insecure: true}, "another program"},
		"a name not local": {&control.Server{Addr: "example.com:0", Insecure: true}, "loopback"},
	} {
		err := c.server.Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	open := serve(t, func(s *control.Server) { s.Secrets, s.Insecure = control.Secrets{}, true })
	r := open.request(t.Context(), "GET", "/tabs", nil)
	r.Header.Del("Authorization")
	if a := open.send(r); a.status != http.StatusOK {
		t.Errorf("an insecure server: got %d %s", a.status, a.text)
	}
}

func TestRequestsAreJudgedInTheOrderOfTheContract(t *testing.T) {
	c := serve(t, nil)
	big := `{"url":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, step := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		"a foreign name comes before all":        {"POST", "/act", "{", []string{"Host", "evil.example", "Authorization", ""}, 403, "loopback names"},
		"a body that is no JSON before the site": {"POST", "/act", "{", []string{"Origin", "https://evil.example"}, 400, "not JSON"},
		"a body too large before the secret":     {"POST", "/act", big, []string{"Authorization", ""}, 413, "1 MB"},
		"a foreign site before the secret":       {"POST", "/act", "{}", []string{"Origin", "https://evil.example", "Authorization", ""}, 403, "Forbidden"},
		"the secret before the route":            {"POST", "/nothing", "{}", []string{"Authorization", ""}, 401, "Unauthorized"},
		"the secret for the status too":          {"GET", "/tabs", "", []string{"Authorization", "Bearer wrong"}, 401, "Unauthorized"},
		"a foreign site may not be read to":      {"GET", "/nothing", "", []string{"Origin", "https://evil.example", "Authorization", ""}, 401, "Unauthorized"},
		"a route that is not there":              {"GET", "/nothing", "", nil, 404, "route not found: GET /nothing"},
		"a method that is not there":             {"PUT", "/act", "{}", nil, 405, "route not found: PUT /act"},
		"a form is no body":                      {"POST", "/act", "kind=click", []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "ACT_KIND_REQUIRED"},
		"a list counts as no fields":             {"POST", "/act", `[{"kind":"click"}]`, nil, 400, "ACT_KIND_REQUIRED"},
		"an unknown profile":                     {"GET", "/tabs?profile=No+Such", "", nil, 404, "not found"},
		"the query wins over the body":           {"POST", "/navigate?profile=BAD!", `{"url":"about:blank","profile":"clank"}`, nil, 404, "BAD!"},
		"the profile of the body":                {"POST", "/navigate", `{"url":"about:blank","profile":"BAD?"}`, nil, 404, "BAD?"},
	} {
		r := c.request(t.Context(), step.method, step.path, step.body)
		for i := 0; i < len(step.headers); i += 2 {
			if step.headers[i] == "Host" {
				r.Host = step.headers[i+1]
			}
			r.Header.Set(step.headers[i], step.headers[i+1])
		}
		a := c.send(r)
		if a.status != step.status || !strings.Contains(a.text, step.want) {
			t.Errorf("%s: got %d %s, want %d %q", name, a.status, a.text, step.status, step.want)
		}
		if a.body != nil && a.str("error") == "" {
			t.Errorf("%s: no error in %s", name, a.text)
		}
	}
}

func TestACloseEndsWhatRequestsAreDoing(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/")
	got := make(chan answer, 1)
	go func() {
		got <- c.do("POST", "/act", map[string]any{"kind": "wait", "text": "never", "targetId": target})
	}()
	eventually(t, "the wait has begun", func() bool { return p.acting(target) })
	if err := c.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.status != http.StatusServiceUnavailable || !strings.Contains(a.text, "closing") {
		t.Errorf("got %d %s, want 503", a.status, a.text)
	}
}
