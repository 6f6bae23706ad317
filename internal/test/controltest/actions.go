package controltest

import "strings"

// actionCases returns actions that work, each with its effect on the page.
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
	return append(batchCases(), []testCase{
		do("click", "/form", said, "saved", m{"kind": "click", "selector": "#save"}),
		do("double click", "/form", said, "saved twice", m{"kind": "click", "selector": "#save", "doubleClick": true}),
		do("type replaces", "/form", name, "Ada Lovelace", m{"kind": "type", "selector": "#name", "text": "Ada Lovelace"}),
		do("type slowly", "/form", name, "beforeab", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "type", "selector": "#name", "text": "ab", "slowly": true}),
		do("press keeps the focus", "/form", name, "beforeX", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Shift+X"}),
		do("select by label", "/form", "document.getElementById('country').value", "no", m{"kind": "select", "selector": "#country", "values": []string{"Norway"}}),
		do("select several", "/form", "[...document.getElementById('many').selectedOptions].map(o=>o.value)", []string{"a", "c"}, m{"kind": "select", "selector": "#many", "values": []string{"a", "c"}}),
		do("drag", "/drag", said, "dropped", m{"kind": "drag", "startSelector": "#from", "endSelector": "#to"}),
		do("scroll into view", "/form", "document.getElementById('far').getBoundingClientRect().top < innerHeight", true, m{"kind": "scrollIntoView", "selector": "#far"}),
		do("resize", "/form", "[innerWidth, innerHeight]", []int{500, 400}, m{"kind": "resize", "width": 500, "height": 400}),
		do("wait for a text in any case", "/late", "1", 1, m{"kind": "wait", "text": "late text"}),
		do("wait for a text to go", "/late", "1", 1, m{"kind": "wait", "textGone": "early"}),
		do("wait for an address", "/late", "1", 1, m{"kind": "wait", "url": "**/late#late"}),
		do("wait for a function", "/late", "1", 1, m{"kind": "wait", "fn": "async () => document.title === 'Late'"}),
		do("wait for all of it", "/late", "1", 1, m{"kind": "wait", "timeMs": 1, "text": "Late", "loadState": "load", "fn": "1"}),
		value("() => document.title", "Form"),
		value("async () => { return [1, 'two', null] }", []any{1, "two", nil}),
		value("await 7", 7),
		{Name: "evaluate with an element", Run: evaluateElement},
		{Name: "undefined is left out", Run: undefinedOmitted},
		{Name: "fill all kinds of fields", Run: fillFields},
		{Name: "click at coordinates", Run: clickCoords},
		{Name: "close", Run: closeKind},
	}...)
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

// batchCases are batches: how many of their entries are done, and where they end.
func batchCases() []testCase {
	type ended struct {
		Reason      string
		AfterAction int
		URL         string
		Skipped     int
	}
	press, save := m{"kind": "press", "key": "a"}, m{"kind": "click", "selector": "#save"}
	fails, unknown := m{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}, m{"kind": "click", "ref": "e999"}
	follow := m{"kind": "click", "selector": "a"}
	var out []testCase
	for _, b := range []struct {
		name, page string
		actions    []m
		goOn       bool
		want       []bool
		ended      *ended
	}{
		{"a batch", "/form", []m{{"kind": "type", "selector": "#name", "text": "Bea"}, {"kind": "batch", "actions": []m{save}}}, false, []bool{true, true}, nil},
		{"a batch ends at its first failure", "/form", []m{save, fails, press}, false, []bool{true, false}, nil},
		{"a batch goes on if told so", "/form", []m{fails, save}, true, []bool{false, true}, nil},
		{"a batch ends at a failure inside", "/form", []m{{"kind": "batch", "actions": []m{unknown}}, save}, false, []bool{false}, nil},
		{"an anchor is no navigation", "/other", []m{{"kind": "click", "selector": "#below"}, press}, false, []bool{true, true}, nil},
		{"a batch tells of a navigation", "/other", []m{follow, press, press}, false, []bool{true}, &ended{"navigation", 1, "SITE/form", 2}},
		{"a navigation ends no batch that is over", "/other", []m{press, follow}, false, []bool{true, true}, nil},
	} {
		out = append(out, testCase{Name: b.name, Run: func(s *suite) {
			s.openPage(b.page)
			var got struct {
				Results []struct {
					OK            bool
					Error, Reason string
				}
				Aborted *ended
			}
			s.call("POST", "/act", m{"kind": "batch", "stopOnError": !b.goOn, "actions": b.actions}, &got)
			var done []bool
			for i, r := range got.Results {
				done = append(done, r.OK)
				if r.OK != (r.Error == "") || b.actions[i]["ref"] != nil && r.Reason != "unknown_ref" {
					s.Fatalf("result %d: %+v", i, r)
				}
			}
			s.wantEqual("done", done, b.want)
			if got.Aborted != nil {
				got.Aborted.URL = strings.Replace(got.Aborted.URL, s.Site.URL, "SITE", 1)
			}
			s.wantEqual("aborted", got.Aborted, b.ended)
		}})
	}
	return append(out, testCase{Name: "closing ends a batch", Run: func(s *suite) {
		s.newTab("/plain", "")
		s.send(requestCase{
			Path: "/act", Body: m{"kind": "batch", "actions": []m{{"kind": "close"}, press}},
			Contains: []string{`"aborted":{`, `"reason":"closed"`, `"afterAction":1`, `"skipped":1`},
		})
	}})
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
