package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/internal/test/check"
)

func TestANodeReportsItsStateAndProblems(t *testing.T) {
	e := openEffects(t)
	at, err := e.openNode(t.Context(), ServeOptions{NodeAddr: "127.0.0.1:0"}, e.Tools.ControlAPI)
	check.Must(t, err)
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	defer stranger.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	pages := nodePages{e.Server}
	nodes := []string{"office " + at, "page " + e.page, "stranger " + stranger.URL, "gone " + gone.URL}
	e.set(map[string]string{keyTool + "nodes": `"` + strings.Join(nodes, `\n`) + `"`})
	if list := pages.Nodes(); len(list) != 4 || !list[0].At.IsZero() || list[3].Name != "gone" {
		t.Errorf("before anybody asked: %+v", list)
	}
	if l := pages.Lending(); l.URL != at || len(l.Callers) != 0 || strings.Join(l.Profiles, " ") != "clank" {
		t.Errorf("lent: %+v", l)
	}
	token := e.getenv("CLANK_NODE_TOKEN")
	for _, tt := range []struct{ node, token, problem, fix string }{
		{"office", token, "", ""},
		{"office", "another", "It refuses the token of this clank.", "the same secret on both machines"},
		{"office", "", "This clank has no token for nodes.", "CLANK_NODE_TOKEN"},
		{"page", token, "Something answers there that is no node.", "Correct its address"},
		{"stranger", token, "Nobody this machine trusts has signed its certificate.", "SSL_CERT_FILE"},
		{"gone", token, "Nothing answers at its address.", "clank serve --node-addr"},
	} {
		e.mu.Lock()
		e.env["CLANK_NODE_TOKEN"] = tt.token
		e.mu.Unlock()
		n, err := pages.TestNode(t.Context(), tt.node)
		check.Must(t, err)
		if n.Problem != tt.problem || !strings.Contains(n.Fix, tt.fix) {
			t.Errorf("%s with the token %q: %+v, want %q and %q", tt.node, tt.token, n, tt.problem, tt.fix)
		}
		if tt.problem == "" && (n.Version != "v1" || len(n.Browsers) != 1 || n.Browsers[0].Name != "clank") {
			t.Errorf("%s: %+v", tt.node, n)
		}
	}
	if list := pages.Nodes(); list[0].Problem == "" || list[3].At.IsZero() {
		t.Errorf("what was found is not kept: %+v", list)
	}
	if l := pages.Lending(); len(l.Callers) != 1 || l.Callers[0].From != "127.0.0.1" {
		t.Errorf("who has called: %+v", l)
	}
	check.Fails(t, check.Err(pages.TestNode(t.Context(), "nowhere")), nil, "")
	e.set(map[string]string{keyTool + "nodes": `"office http://127.0.0.1:9"`})
	if list := pages.Nodes(); !list[0].At.IsZero() {
		t.Errorf("another address has the answer of the one before: %+v", list)
	}
}
