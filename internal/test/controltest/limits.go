package controltest

import (
	"strings"
	"time"
)

// limitCases returns the cases of bounds that are kept whatever is asked for, and of the spellings that are
// accepted.
func limitCases() []testCase {
	var out []testCase
	for _, l := range []struct {
		name, path  string
		body        m
		least, most time.Duration
	}{
		{"an action waits half a second at least", "/act", m{"kind": "click", "selector": "#nosuch", "timeoutMs": 1}, 500 * time.Millisecond, 4 * time.Second},
		{"a wait lasts half a second at least", "/act", m{"kind": "wait", "text": "never", "timeoutMs": "1"}, 500 * time.Millisecond, 4 * time.Second},
		{"a script has a second at least", "/act", m{"kind": "evaluate", "fn": "new Promise(() => {})", "timeoutMs": 1}, 500 * time.Millisecond, 5 * time.Second},
		{"a body is waited for half a second at least", "/response/body", m{"url": "never", "timeoutMs": 1}, 500 * time.Millisecond, 4 * time.Second},
		{"a download is waited for half a second at least", "/wait/download", m{"timeoutMs": 1}, 500 * time.Millisecond, 4 * time.Second},
		{"a page has a second at least", "/navigate", m{"url": "SITE/stuck", "timeoutMs": 1}, time.Second, 8 * time.Second},
	} {
		out = append(out, testCase{Name: l.name, Run: func(s *suite) {
			s.openPage("/plain")
			begin := time.Now()
			s.send(requestCase{Path: l.path, Body: l.body, Status: 500})
			if took := time.Since(begin); took < l.least || took > l.most {
				s.Fatalf("it took %v, want %v to %v", took, l.least, l.most)
			}
		}})
	}
	return append(append(out, numberSpellings()...),
		testCase{Name: "a page that takes a while has its second", Run: func(s *suite) {
			s.call("POST", "/navigate", m{"url": s.Site.URL + "/slow?300", "timeoutMs": 1}, nil)
		}},
		testCase{Name: "nodes are one at least and 2000 at most", Run: nodeLimits},
		testCase{Name: "text of a page is 40000 at most", Run: textLimit},
		testCase{Name: "a body of one character", Run: shortBody},
		testCase{Name: "fill: what ticks a box", Run: tickCounts},
		testCase{Name: "keys and their aliases", Run: keyNames},
		testCase{Name: "an invalid length of a snapshot is none", Run: anyLength},
		testCase{Name: "page addresses of wait: exact, star and two stars", Run: waitedAddresses},
	)
}

// numberSpellings returns requests that write the same thing in other ways.
func numberSpellings() []testCase {
	act := func(name string, body m) requestCase {
		return requestCase{Name: name, Path: "/act", Body: body, Page: "/form"}
	}
	list := []requestCase{
		act("a ref or selector with space around", m{"kind": " click ", "selector": "  #save "}),
		act("modifiers with blanks among them", m{"kind": "click", "selector": "#save", "modifiers": []string{" ", "Shift", "Alt", "ControlOrMeta", ""}}),
		act("a script with space around", m{"kind": "evaluate", "fn": "  () => 1  "}),
		act("a text that is a number", m{"kind": "type", "selector": "#name", "text": 42}),
		act("the key of a space", m{"kind": "press", "key": " ", "delayMs": 1}),
		act("five batches in each other", m{"kind": "batch", "actions": []any{m{"kind": "batch", "actions": []any{m{"kind": "batch", "actions": []any{
			m{"kind": "batch", "actions": []any{m{"kind": "batch", "actions": []any{m{"kind": "wait", "timeMs": 0}}}}},
		}}}}}}),
		act("a wait for no time", m{"kind": "wait", "timeMs": 0}),
		act("a wait with an unknown state beside something else", m{"kind": "wait", "loadState": "soon", "timeMs": 1}),
		act("a wait for an async function", m{"kind": "wait", "fn": "async () => { await null; return 'yes' }"}),
		act("a wait for a selector and an address", m{"kind": "wait", "selector": "#save", "url": "**/form"}),
		{Name: "a fill whose entries name nothing", Path: "/act", Body: m{"kind": "fill", "fields": []any{m{}, m{"ref": " "}}}, Status: 400, Contains: []string{"fields"}},
		{Name: "a boolean in upper case", Path: "/snapshot?interactive=TRUE", Page: "/form", Contains: []string{`"snapshot":"- `}},
		{Name: "a boolean of 1", Path: "/snapshot?interactive=1&compact=yes", Page: "/form", Excludes: []string{"heading"}},
		{Name: "a boolean that is none is left aside", Path: "/snapshot?interactive=perhaps", Page: "/form", Contains: []string{"heading"}},
		{Name: "a number with a sign and space", Path: "/snapshot?depth=%20%2B1%20", Page: "/form"},
		{Name: "a negative depth", Path: "/snapshot?depth=-1", Status: 400, Contains: []string{"depth must be a non-negative integer."}},
		{Name: "a text where a label is wanted", Path: "/tabs/action", Body: m{"action": "new", "label": 12}, Contains: []string{`"label":"12"`}},
		{Name: "an index that is negative", Path: "/tabs/action", Body: m{"action": "select", "index": -1}, Status: 400, Contains: []string{"index must be a non-negative integer."}},
		{Name: "a coordinate that is no number", Path: "/act", Body: m{"kind": "clickCoords", "x": "1px", "y": 1}, Status: 400, Contains: []string{"x must be a finite number"}},
		{Name: "a size that is a fraction", Path: "/act", Body: m{"kind": "resize", "width": 10.5, "height": 10}, Status: 400, Contains: []string{"width must be"}},
		{Name: "an odd format", Path: "/snapshot?format=pdf", Status: 400, Contains: []string{"format must be ai or aria"}},
		{Name: "a scope that is no selector", Path: "/snapshot?selector=%5B%5B", Page: "/form", Status: 400},
	}
	return append(requestCases(list), testCase{Name: "options keep blanks and space", Run: blankOptions})
}

func nodeLimits(s *suite) {
	s.openPage("/many")
	for query, want := range map[string]int{"limit=1": 1, "limit=2001": 2000, "limit=": 500, "": 500} {
		snap := s.snapshot("format=aria&" + query)
		s.wantEqual(query, len(snap.Nodes), want)
	}
}

func textLimit(s *suite) {
	s.openPage("/long")
	for query, want := range map[string]int{"": 40_000, "?maxChars=99999": 40_000, "?maxChars=10": 10} {
		var got struct {
			Text      string
			Truncated bool
		}
		s.call("GET", "/text"+query, nil, &got)
		if len(got.Text) > want || len(got.Text) < want-5 || !got.Truncated {
			s.Fatalf("%q: %d characters, truncated = %v", query, len(got.Text), got.Truncated)
		}
	}
}

func shortBody(s *suite) {
	s.openPage("/plain")
	s.run("setInterval(() => fetch('/answer'), 30); 1")
	for pattern, want := range map[string]string{s.Site.URL + "/answer": "f", "answer": "f", "**/ans*": "f", "*/answer": "f"} {
		var got struct{ Response struct{ Body string } }
		s.call("POST", "/response/body", m{"url": pattern, "maxChars": "1"}, &got)
		s.wantEqual(pattern, got.Response.Body, want)
	}
	s.openPage("/plain")
}

func tickCounts(s *suite) {
	for _, c := range []struct {
		value any
		want  bool
	}{{true, true}, {1, true}, {"1", true}, {"true", true}, {false, false}, {0, false}, {"yes", false}, {"", false}} {
		snap := s.snapshotOf("/form", "interactive=true")
		news := s.ref(snap, "checkbox", "News")
		s.act(m{"kind": "fill", "fields": []any{m{"ref": news, "type": "checkbox", "value": c.value}}})
		s.wantPage("document.getElementById('news').checked", c.want)
	}
}

func keyNames(s *suite) {
	s.openPage("/plain")
	s.run("window.pressed = []; addEventListener('keydown', e => { pressed.push([e.ctrlKey ? 'C' : '', e.shiftKey ? 'S' : '', e.metaKey ? 'M' : '', e.key].join('')); e.preventDefault() }); 1")
	names := map[string]string{
		"Enter": "Enter", "return": "Enter", "esc": "Escape", "Escape": "Escape", "del": "Delete", "ArrowDown": "ArrowDown", "a": "a", "A": "A",
		"ctrl+k": "Ck", "Control+Shift+T": "ST", "Tab": "Tab", " ": " ", "F5": "F5", "é": "é", "+": "+", "cmd+k": "Mk",
	}
	for key, want := range names {
		s.act(m{"kind": "press", "key": key})
		var got string
		s.evaluate("window.pressed.at(-1)", &got)
		if !strings.HasSuffix(got, want) || strings.HasPrefix(key, "Control") && !strings.HasPrefix(got, "C") {
			s.Fatalf("%q pressed %q, want %q", key, got, want)
		}
	}
}

func anyLength(s *suite) {
	s.openPage("/many")
	for _, given := range []string{"0", "-5", "lots"} {
		snap := s.snapshot("maxChars=" + given)
		if snap.Truncated || len(snap.Snapshot) < 50_000 {
			s.Fatalf("%s: %d characters, truncated = %v", given, len(snap.Snapshot), snap.Truncated)
		}
	}
}

func waitedAddresses(s *suite) {
	s.openPage("/form?a=1")
	for pattern, there := range map[string]bool{
		s.Site.URL + "/form?a=1": true, "**/form*": true, "*://*/form?a=*": true, s.Site.URL + "/for": false, "**/other": false,
	} {
		a := s.request("POST", "/act", m{"kind": "wait", "url": pattern, "timeoutMs": 500})
		if (a.Status == 200) != there {
			s.Fatalf("%s: %d %.200s", pattern, a.Status, a.Body)
		}
	}
}

func blankOptions(s *suite) {
	for _, values := range [][]string{{""}, {" padded "}, {"", " padded "}} {
		s.openPage("/options")
		s.act(m{"kind": "select", "selector": "select", "values": values, "timeoutMs": 2000})
		s.wantPage("[...document.querySelector('select').selectedOptions].map(o => o.value)", values)
	}
}
