package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// limitCases are bounds that are kept whatever is asked for, and the spellings that are accepted.
func limitCases() []testCase {
	type m = map[string]any
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
		out = append(out, testCase{Name: l.name, Run: func(ctx context.Context, s *controlSuite) error {
			if err := s.openPage(ctx, "/plain"); err != nil {
				return err
			}
			begin := time.Now()
			if err := (requestCase{Path: l.path, Body: l.body, Status: 500}).Run(ctx, s); err != nil {
				return err
			}
			if took := time.Since(begin); took < l.least || took > l.most {
				return fmt.Errorf("it took %v, want %v to %v", took, l.least, l.most)
			}
			return nil
		}})
	}
	return append(append(out, numberSpellings()...),
		testCase{Name: "a page that takes a while has its second", Run: func(ctx context.Context, s *controlSuite) error {
			return s.Call(ctx, "POST", "/navigate", m{"url": s.Site.URL + "/slow?300", "timeoutMs": 1}, nil)
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

// numberSpellings are other ways to write the same.
func numberSpellings() []testCase {
	type m = map[string]any
	act := func(name string, body m) requestCase {
		return requestCase{Name: name, Path: "/act", Body: body, Page: "/form"}
	}
	list := []requestCase{
		act("a ref or selector with space around", m{"kind": " click ", "selector": "  #save "}),
		act("modifiers with blanks among them", m{"kind": "click", "selector": "#save", "modifiers": []string{" ", "Shift", "Alt", "ControlOrMeta", ""}}),
		act("a script with space around", m{"kind": "evaluate", "fn": "  () => 1  "}),
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
		{Name: "an odd format", Path: "/snapshot?format=pdf", Status: 400},
		{Name: "a scope that is no selector", Path: "/snapshot?selector=%5B%5B", Page: "/form", Status: 400},
	}
	return append(requestCases(list), testCase{Name: "options keep blanks and space", Run: blankOptions})
}

func nodeLimits(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/many"); err != nil {
		return err
	}
	for query, want := range map[string]int{"limit=1": 1, "limit=2001": 2000, "limit=": 500, "": 500} {
		snap, err := s.Snapshot(ctx, "format=aria&"+query)
		if err != nil {
			return err
		}
		if err := wantEqualJSON(query, len(snap.Nodes), want); err != nil {
			return err
		}
	}
	return nil
}

func textLimit(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/long"); err != nil {
		return err
	}
	for query, want := range map[string]int{"": 40_000, "?maxChars=99999": 40_000, "?maxChars=10": 10} {
		var got struct {
			Text      string
			Truncated bool
		}
		if err := s.Call(ctx, "GET", "/text"+query, nil, &got); err != nil {
			return err
		}
		if len(got.Text) > want || len(got.Text) < want-5 || !got.Truncated {
			return fmt.Errorf("%q: %d characters, truncated = %v", query, len(got.Text), got.Truncated)
		}
	}
	return nil
}

func shortBody(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "setInterval(() => fetch('/answer'), 30); 1"}); err != nil {
		return err
	}
	for pattern, want := range map[string]string{s.Site.URL + "/answer": "f", "answer": "f", "**/ans*": "f", "*/answer": "f"} {
		var got struct{ Response struct{ Body string } }
		if err := s.Call(ctx, "POST", "/response/body", map[string]any{"url": pattern, "maxChars": "1"}, &got); err != nil {
			return err
		}
		if err := wantEqualJSON(pattern, got.Response.Body, want); err != nil {
			return err
		}
	}
	return s.openPage(ctx, "/plain")
}

func tickCounts(ctx context.Context, s *controlSuite) error {
	for _, c := range []struct {
		value any
		want  bool
	}{{true, true}, {1, true}, {"1", true}, {"true", true}, {false, false}, {0, false}, {"yes", false}, {"", false}} {
		snap, err := s.SnapshotOf(ctx, "/form", "interactive=true")
		if err != nil {
			return err
		}
		news, err := snap.Ref("checkbox", "News")
		if err != nil {
			return err
		}
		if _, err := s.Act(ctx, map[string]any{"kind": "fill", "fields": []any{map[string]any{"ref": news, "type": "checkbox", "value": c.value}}}); err != nil {
			return fmt.Errorf("%v: %w", c.value, err)
		}
		var got bool
		if err := s.Evaluate(ctx, "document.getElementById('news').checked", &got); err != nil {
			return err
		}
		if err := wantEqualJSON(fmt.Sprintf("ticked by %#v", c.value), got, c.want); err != nil {
			return err
		}
	}
	return nil
}

func keyNames(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "window.pressed = []; addEventListener('keydown', e => { pressed.push([e.ctrlKey ? 'C' : '', e.shiftKey ? 'S' : '', e.metaKey ? 'M' : '', e.key].join('')); e.preventDefault() }); 1"}); err != nil {
		return err
	}
	names := map[string]string{
		"Enter": "Enter", "return": "Enter", "esc": "Escape", "Escape": "Escape", "del": "Delete", "ArrowDown": "ArrowDown", "a": "a", "A": "A",
		"ctrl+k": "Ck", "Control+Shift+T": "ST", "Tab": "Tab", " ": " ", "F5": "F5", "é": "é", "+": "+", "cmd+k": "Mk",
	}
	for key, want := range names {
		if _, err := s.Act(ctx, map[string]any{"kind": "press", "key": key}); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		var got string
		if err := s.Evaluate(ctx, "window.pressed.at(-1)", &got); err != nil {
			return err
		}
		if !strings.HasSuffix(got, want) || strings.HasPrefix(key, "Control") && !strings.HasPrefix(got, "C") {
			return fmt.Errorf("%q pressed %q, want %q", key, got, want)
		}
	}
	return nil
}

func anyLength(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/many"); err != nil {
		return err
	}
	for _, given := range []string{"0", "-5", "lots"} {
		snap, err := s.Snapshot(ctx, "maxChars="+given)
		if err != nil {
			return fmt.Errorf("%s: %w", given, err)
		}
		if snap.Truncated || len(snap.Snapshot) < 50_000 {
			return fmt.Errorf("%s: %d characters, truncated = %v", given, len(snap.Snapshot), snap.Truncated)
		}
	}
	return nil
}

func waitedAddresses(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form?a=1"); err != nil {
		return err
	}
	for pattern, there := range map[string]bool{
		s.Site.URL + "/form?a=1": true, "**/form*": true, "*://*/form?a=*": true, s.Site.URL + "/for": false, "**/other": false,
	} {
		a, err := s.Request(ctx, "POST", "/act", map[string]any{"kind": "wait", "url": pattern, "timeoutMs": 500})
		if err != nil {
			return err
		}
		if (a.Status == 200) != there {
			return fmt.Errorf("%s: %d %.200s", pattern, a.Status, a.Body)
		}
	}
	return nil
}

func blankOptions(ctx context.Context, s *controlSuite) error {
	for _, values := range [][]string{{""}, {" padded "}, {"", " padded "}} {
		if err := s.openPage(ctx, "/options"); err != nil {
			return err
		}
		if _, err := s.Act(ctx, map[string]any{"kind": "select", "selector": "select", "values": values, "timeoutMs": 2000}); err != nil {
			return fmt.Errorf("%q: %w", values, err)
		}
		var got []string
		if err := s.Evaluate(ctx, "[...document.querySelector('select').selectedOptions].map(o => o.value)", &got); err != nil {
			return err
		}
		if err := wantEqualJSON("chosen", got, values); err != nil {
			return err
		}
	}
	return nil
}
