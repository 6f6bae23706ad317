package control_test

import (
	"net/http"
	"strings"
	"testing"

	"clank/browsermgr/control"
	"clank/internal/test/browsertest"
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

func TestACloseEndsWhatRequestsAreDoing(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/")
	got := make(chan answer, 1)
	go func() {
		got <- c.do("POST", "/act", map[string]any{"kind": "wait", "text": "never", "targetId": target})
	}()
	eventually(t, "the wait has begun", func() bool { return p.acting(target) })
	browsertest.Must(t, c.server.Close(t.Context()))
	if a := <-got; a.status != http.StatusServiceUnavailable || !strings.Contains(a.text, "closing") {
		t.Errorf("got %d %s, want 503", a.status, a.text)
	}
}
