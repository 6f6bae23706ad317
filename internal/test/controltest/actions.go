package controltest

import (
	"maps"
)

// actionCases are actions that work, each with its effect on the page.
func actionCases() []testCase {
	said := "document.getElementById('said').textContent"
	name := "document.getElementById('name').value"
	do := func(name, page, look string, want any, actions ...m) testCase {
		return testCase{Name: name, Run: func(s *suite) {
			s.openPage(page)
			for _, a := range actions {
				answer := s.act(a)
				if answer["ok"] != true || answer["targetId"] == nil || answer["url"] == nil {
					s.Fatalf("%s answered %v", a["kind"], answer)
				}
			}
			s.wantPage(look, want)
		}}
	}
	value := func(fn string, want any) testCase {
		c := do("evaluate "+fn, "/form", "0", 0, m{"kind": "evaluate", "fn": fn})
		return testCase{Name: c.Name, Run: func(s *suite) {
			c.Run(s)
			s.wantPage(fn, want)
		}}
	}
	return []testCase{
		do("click", "/form", said, "saved", m{"kind": "click", "selector": "#save"}),
		do("click scrolls to its target", "/form", said, "far", m{"kind": "click", "selector": "#far"}),
		do("double click", "/form", said, "saved twice", m{"kind": "click", "selector": "#save", "doubleClick": true}),
		do("the other button", "/form", said, "context", m{"kind": "click", "selector": "#save", "button": "right"}),
		do("click after a pause", "/form", said, "saved", m{"kind": "click", "selector": "#save", "delayMs": 20}),
		do("type replaces", "/form", name, "Ada Lovelace", m{"kind": "type", "selector": "#name", "text": "Ada Lovelace"}),
		do("type keeps spaces", "/form", name, "  x  ", m{"kind": "type", "selector": "#name", "text": "  x  "}),
		do("type nothing", "/form", name, "", m{"kind": "type", "selector": "#name", "text": ""}),
		do("type slowly", "/form", name, "beforeab", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "type", "selector": "#name", "text": "ab", "slowly": true}),
		do("press keeps the focus", "/form", name, "beforeX", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Shift+X"}),
		do("key names of old clients", "/form", name, "befor", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Backspace"}),
		do("select by value", "/form", "document.getElementById('country').value", "no", m{"kind": "select", "selector": "#country", "values": []string{"no"}}),
		do("select by label", "/form", "document.getElementById('country').value", "no", m{"kind": "select", "selector": "#country", "values": []string{"Norway"}}),
		do("select several", "/form", "[...document.getElementById('many').selectedOptions].map(o=>o.value)", []string{"a", "c"}, m{"kind": "select", "selector": "#many", "values": []string{"a", "c"}}),
		do("drag", "/drag", said, "dropped", m{"kind": "drag", "startSelector": "#from", "endSelector": "#to"}),
		do("scroll into view", "/form", "document.getElementById('far').getBoundingClientRect().top < innerHeight", true, m{"kind": "scrollIntoView", "selector": "#far"}),
		do("resize", "/form", "[innerWidth, innerHeight]", []int{500, 400}, m{"kind": "resize", "width": 500, "height": 400}),
		do("wait for a time", "/plain", "1", 1, m{"kind": "wait", "timeMs": 5}),
		do("wait for a text in any case", "/late", "1", 1, m{"kind": "wait", "text": "late text"}),
		do("wait for a text to go", "/late", "1", 1, m{"kind": "wait", "textGone": "early"}),
		do("wait for an address", "/late", "1", 1, m{"kind": "wait", "url": "**/late#late"}),
		do("wait for a selector", "/form", "1", 1, m{"kind": "wait", "selector": "#save"}),
		do("wait for a load", "/form", "1", 1, m{"kind": "wait", "loadState": "networkidle"}),
		do("wait for a function", "/late", "1", 1, m{"kind": "wait", "fn": "async () => document.title === 'Late'"}),
		do("wait for all of it", "/late", "1", 1, m{"kind": "wait", "timeMs": 1, "text": "Late", "loadState": "load", "fn": "1"}),
		value("1 + 1", 2),
		value("() => document.title", "Form"),
		value("async () => { return [1, 'two', null] }", []any{1, "two", nil}),
		value("const a = 3; return a * 2", 6),
		value("await 7", 7),
		{Name: "evaluate with an element", Run: evaluateElement},
		{Name: "undefined is left out", Run: undefinedOmitted},
		{Name: "a batch", Run: postBatch},
		{Name: "a batch ends at its first failure", Run: batchStops},
		{Name: "a batch goes on if told so", Run: batchGoesOn},
		{Name: "a batch tells of a navigation", Run: batchNavigates},
		{Name: "fill all kinds of fields", Run: fillFields},
		{Name: "click at coordinates", Run: clickCoords},
		{Name: "close", Run: closeKind},
	}
}

func evaluateElement(s *suite) {
	s.openPage("/form")
	snap := s.snapshot("")
	save := s.ref(snap, "button", "Save")
	for _, fn := range []string{"el => el.id", "(el) => { return el.id }", "el.id", "return el.id"} {
		answer := s.act(m{"kind": "evaluate", "fn": fn, "ref": save})
		s.wantEqual(fn, answer["result"], "save")
	}
}

func undefinedOmitted(s *suite) {
	answer := s.run("undefined")
	if v, there := answer["result"]; there {
		s.Fatalf("result = %v, want none", v)
	}
}

type batchAnswer struct {
	OK      bool
	Results []struct {
		OK        bool
		Error     string
		Navigated bool
		URL       string
	}
	Aborted *struct {
		Reason      string
		AfterAction int
		URL         string
		Skipped     int
	}
}

func runBatch(s *suite, page string, more m, actions ...m) batchAnswer {
	var answer batchAnswer
	s.openPage(page)
	body := m{"kind": "batch", "actions": actions}
	maps.Copy(body, more)
	s.call("POST", "/act", body, &answer)
	return answer
}

func postBatch(s *suite) {
	answer := runBatch(s, "/form", nil,
		m{"kind": "type", "selector": "#name", "text": "Bea"},
		m{"kind": "batch", "actions": []any{m{"kind": "click", "selector": "#save"}}})
	if len(answer.Results) != 2 || !answer.Results[0].OK || !answer.Results[1].OK {
		s.Fatalf("results: %+v", answer)
	}
}

func failingBatch() m {
	return m{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}
}

func batchStops(s *suite) {
	answer := runBatch(s, "/form", nil, m{"kind": "click", "selector": "#save"}, failingBatch(), m{"kind": "press", "key": "a"})
	if r := answer.Results; len(r) != 2 || !r[0].OK || r[1].OK || r[1].Error == "" {
		s.Fatalf("results: %+v", r)
	}
}

func batchGoesOn(s *suite) {
	answer := runBatch(s, "/form", m{"stopOnError": false}, failingBatch(), m{"kind": "click", "selector": "#save"})
	if r := answer.Results; len(r) != 2 || r[0].OK || !r[1].OK {
		s.Fatalf("results: %+v", r)
	}
}

func batchNavigates(s *suite) {
	answer := runBatch(s, "/other", nil, m{"kind": "click", "selector": "a"}, m{"kind": "press", "key": "a"})
	if len(answer.Results) != 1 || !answer.Results[0].Navigated || answer.Results[0].URL != s.Site.URL+"/form" {
		s.Fatalf("results: %+v", answer.Results)
	}
	if a := answer.Aborted; a == nil || a.Reason != "navigation" || a.AfterAction != 1 || a.Skipped != 1 {
		s.Fatalf("aborted: %+v", a)
	}
}

func fillFields(s *suite) {
	s.openPage("/form")
	snap := s.snapshot("")
	name := s.ref(snap, "textbox", "Name")
	news := s.ref(snap, "checkbox", "News")
	fields := []any{
		m{"ref": name, "type": " ", "value": 12.5},
		m{"ref": news, "type": "checkbox", "value": "1"},
		m{"value": "dropped: it names no element"},
	}
	s.act(m{"kind": "fill", "fields": fields})
	s.wantPage("[document.getElementById('name').value, document.getElementById('news').checked]", []any{"12.5", true})
}

func clickCoords(s *suite) {
	s.openPage("/form")
	var at struct{ X, Y float64 }
	s.evaluate("const r = document.getElementById('save').getBoundingClientRect(); return {x: r.x + 3, y: r.y + 3}", &at)
	s.act(m{"kind": "clickCoords", "x": at.X, "y": at.Y})
	s.wantPage("document.getElementById('said').textContent", "saved")
}

func closeKind(s *suite) {
	t := s.newTab("/plain", "")
	s.act(m{"kind": "close", "targetId": t.TargetID})
	if s.tab(t.TargetID) != nil {
		s.Fatalf("%s is still listed", t.TargetID)
	}
}
