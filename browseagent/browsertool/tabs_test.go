package browsertool_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
)

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
	want := "DELETE /tabs/RAWA?profile=work&targetIdMode=raw\nDELETE /tabs/RAWC2?targetIdMode=raw\nDELETE /tabs/RAWD?targetIdMode=raw\nDELETE /tabs/RAWF?targetIdMode=raw"
	if got := a.taken(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
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
		{"several nodes, asked", browsertool.Targets{Host: host, AllowHostControl: true}, two, "node", "", "name one with node: n1 (Desk), n2 (Lab)"},
		{"the configured node", browsertool.Targets{Host: host, Node: "n2"}, two, "", "", "n2"},
		{"the configured node is away", browsertool.Targets{Host: host, AllowHostControl: true, Node: "n2"}, nil, "", "", "no node with a browser"},
		{"by id", browsertool.Targets{Sandbox: box}, two, "", "n2", "n2"},
		{"by name", browsertool.Targets{}, two, "node", "desk", "n1"},
		{"ambiguous name", browsertool.Targets{}, two, "node", "Lab", "several nodes are called"},
		{"unknown node", browsertool.Targets{}, two, "node", "x", `no node "x"`},
		{"no nodes", browsertool.Targets{}, nil, "node", "", "no node with a browser"},
		{"manual waits to be asked", browsertool.Targets{Host: host, AllowHostControl: true, NodeMode: browsertool.NodeManual}, one, "", "", "host"},
		{"manual, asked", browsertool.Targets{NodeMode: browsertool.NodeManual}, one, "node", "", "n1"},
		{"off", browsertool.Targets{Host: host, AllowHostControl: true, NodeMode: browsertool.NodeOff}, one, "", "", "host"},
		{"off, asked", browsertool.Targets{NodeMode: browsertool.NodeOff}, one, "", "n1", "switched off"},
		{"node with another place", browsertool.Targets{Host: host, AllowHostControl: true}, one, "host", "n1", `target="node" only`},
	} {
		tt.targets.Nodes = func(context.Context) ([]browsertool.Target, error) { return tt.nodes, nil }
		got, err := tt.targets.Pick(t.Context(), tt.place, tt.node)
		switch {
		case err != nil && !strings.Contains(err.Error(), tt.want), err == nil && got.ID != tt.want:
			t.Errorf("%s: got %+v %v, want %s", tt.name, got, err, tt.want)
		}
	}
}
