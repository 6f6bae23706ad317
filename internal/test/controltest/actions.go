package controltest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// actionCases returns actions that succeed, with their effect on the page.
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
		do("type slowly", "/form", name, "beforeab", m{"kind": "click", "selector": "#name"},
			m{"kind": "press", "key": "End"}, m{"kind": "type", "selector": "#name", "text": "ab", "slowly": true}),
		do("press keeps the focus", "/form", name, "beforeX", m{"kind": "click", "selector": "#name"},
			m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Shift+X"}),
		do("select by label", "/form", "document.getElementById('country').value", "no",
			m{"kind": "select", "selector": "#country", "values": []string{"Norway"}}),
		do("select several", "/form", "[...document.getElementById('many').selectedOptions].map(o=>o.value)",
			[]string{"a", "c"}, m{"kind": "select", "selector": "#many", "values": []string{"a", "c"}}),
		do("drag", "/drag", said, "dropped", m{"kind": "drag", "startSelector": "#from", "endSelector": "#to"}),
		do("scroll into view", "/form", "document.getElementById('far').getBoundingClientRect().top < innerHeight", true,
			m{"kind": "scrollIntoView", "selector": "#far"}),
		do("resize", "/form", "[innerWidth, innerHeight]", []int{500, 400}, m{"kind": "resize", "width": 500, "height": 400}),
		do("wait for a text in any case", "/late", "1", 1, m{"kind": "wait", "text": "late text"}),
		do("wait for a text to go", "/late", "1", 1, m{"kind": "wait", "textGone": "early"}),
		do("wait for an address", "/late", "1", 1, m{"kind": "wait", "url": "**/late#late"}),
		do("wait for a function", "/late", "1", 1, m{"kind": "wait", "fn": "async () => document.title === 'Late'"}),
		do("wait for all of it", "/late", "1", 1, m{
			"kind": "wait", "timeMs": 1, "text": "Late", "loadState": "load",
			"fn": "1",
		}),
		value("() => document.title", "Form"),
		value("async () => { return [1, 'two', null] }", []any{1, "two", nil}),
		value("await 7", 7),
		{Name: "evaluate with an element", Run: evaluateElement},
		{Name: "press on an element", Run: func(s *suite) {
			s.act(m{"kind": "press", "key": "End", "ref": s.refOn("/form", "textbox", "Name")})
			s.act(m{"kind": "press", "key": "X"})
			s.wantPage(name, "beforeX")
		}},
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

// batchCases returns batches: how many of their actions are done, and where they end.
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
		{"a batch", "/form", []m{
			{"kind": "type", "selector": "#name", "text": "Bea"},
			{"kind": "batch", "actions": []m{save}},
		}, false, []bool{true, true}, nil},
		{"a batch ends at its first failure", "/form", []m{save, fails, press}, false, []bool{true, false}, nil},
		{"a batch goes on if told so", "/form", []m{fails, save}, true, []bool{false, true}, nil},
		{
			"a batch ends at a failure inside", "/form",
			[]m{{"kind": "batch", "actions": []m{unknown}}, save},
			false,
			[]bool{false},
			nil,
		},
		{
			"an anchor is no navigation", "/other",
			[]m{{"kind": "click", "selector": "#below"}, press},
			false,
			[]bool{true, true},
			nil,
		},
		{
			"a batch tells of a navigation", "/other",
			[]m{follow, press, press},
			false,
			[]bool{true},
			&ended{"navigation", 1, "SITE/form", 2},
		},
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

// actionErrorCases returns requests to POST /act that fail, with their codes.
func actionErrorCases() []testCase {
	const invalid = "ACT_INVALID_REQUEST"
	bad := func(name, says string, body m) requestCase {
		return requestCase{Name: name, Path: "/act", Body: body, Status: 400, Code: invalid, Contains: []string{says}}
	}
	var nested any = m{"kind": "press", "key": "a"}
	for range 6 {
		nested = m{"kind": "batch", "actions": []any{nested}}
	}
	many := make([]any, 101)
	for i := range many {
		many[i] = m{"kind": "press", "key": "a"}
	}
	return append(requestCases([]requestCase{
		{
			Name: "no kind", Path: "/act", Body: m{}, Status: 400, Code: "ACT_KIND_REQUIRED",
			Contains: []string{"kind is required"},
		},
		{Name: "an unknown kind", Path: "/act", Body: m{"kind": "dance"}, Status: 400, Code: "ACT_KIND_REQUIRED"},
		bad("hover without a target", "hover requires ref or selector", m{"kind": "hover"}),
		bad("scroll without a target", "scrollIntoView requires ref or selector", m{"kind": "scrollIntoView"}),
		bad("drag without an end", "end", m{"kind": "drag", "startRef": "e2"}),
		bad("select without a target", "select requires ref or selector", m{"kind": "select", "values": []string{"a"}}),
		bad("a drag of coordinates without an end", "dragCoords", m{"kind": "dragCoords", "x": 1, "y": 3}),
		bad("press without a key", "press requires key", m{"kind": "press"}),
		bad("a batch of nothing", "actions", m{"kind": "batch", "actions": []any{}}),
		bad("a batch too long", "batch exceeds maximum of 100 actions", m{"kind": "batch", "actions": many}),
		bad("batches too long together", "batch exceeds maximum of 100 actions",
			m{"kind": "batch", "actions": append([]any{m{"kind": "batch", "actions": many[:60]}}, many[:60]...)}),
		bad("a batch too deep", "depth", nested.(m)),
		bad("a bad entry of a batch", "press requires key", m{"kind": "batch", "actions": []any{m{"kind": "press"}}}),
		{
			Name: "a selector where there is none", Path: "/act", Body: m{"kind": "press", "key": "a", "selector": "a"},
			Status: 400, Code: "ACT_SELECTOR_UNSUPPORTED", Contains: []string{"'selector' is not supported"},
		},
		{
			Name: "a selector of evaluate", Path: "/act", Body: m{"kind": "evaluate", "fn": "1", "selector": "a"}, Status: 400,
			Code: "ACT_SELECTOR_UNSUPPORTED",
		},
		{
			Name: "a tab given as a number", Path: "/act", Page: "/plain",
			Body: m{"kind": "press", "key": "a", "targetId": 12345}, Status: 403, Code: "ACT_TARGET_ID_MISMATCH",
			Contains: []string{"action targetId must match request targetId"},
		},
		{
			Name: "a batch entry for another tab", Path: "/act", Page: "/plain",
			Body: m{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a", "targetId": "12345"}}}, Status: 403,
			Code: "ACT_TARGET_ID_MISMATCH", Contains: []string{"batched action targetId must match request targetId"},
		},
	}), actionFailureCases()...)
}

// actionFailureCases returns requests to POST /act that are understood and fail, with their codes.
func actionFailureCases() []testCase {
	return requestCases([]requestCase{
		{
			Name: "a ref that was never there", Path: "/act", Page: "/plain", Body: m{"kind": "click", "ref": "e999"},
			Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Reason: "unknown_ref",
			Contains: []string{"Unknown ref", "snapshot"},
		},
		{
			Name: "a selector that matches nothing", Path: "/act", Page: "/plain",
			Body: m{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}, Status: http.StatusInternalServerError,
			Code: "ACT_OPERATION_FAILED",
		},
		{
			Name: "a covered element is told with what covers it", Path: "/act", Page: "/cover",
			Body: m{"kind": "click", "selector": "#b", "timeoutMs": 3000}, Status: http.StatusInternalServerError,
			Code: "ACT_OPERATION_FAILED", Reason: "not_interactable", Contains: []string{"not interactable", "veil"},
		},
		{
			Name: "a script that fails", Path: "/act", Page: "/plain", Body: m{"kind": "evaluate", "fn": "nosuch.thing"},
			Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Contains: []string{"nosuch"},
		},
		{
			Name: "an endless script is ended", Path: "/act", Page: "/plain",
			Body: m{"kind": "evaluate", "fn": "for(;;);", "timeoutMs": 1000}, Status: http.StatusInternalServerError,
			Code: "ACT_OPERATION_FAILED", Reason: "timeout",
		},
		{
			Name: "and the tab goes on", Path: "/act", Body: m{"kind": "evaluate", "fn": "document.title"},
			Contains: []string{"Plain"},
		},
		{
			Name: "a result that is no JSON", Path: "/act", Page: "/plain",
			Body: m{"kind": "evaluate", "fn": "(()=>{const a={};a.a=a;return a})()"}, Status: http.StatusInternalServerError,
			Code: "ACT_OPERATION_FAILED",
		},
		{
			Name: "an option that is not there", Path: "/act", Page: "/form",
			Body:   m{"kind": "select", "selector": "#country", "values": []string{"Atlantis"}, "timeoutMs": 500},
			Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Contains: []string{"Atlantis"},
		},
		{
			Name: "text that never comes", Path: "/act", Page: "/plain",
			Body: m{"kind": "wait", "text": "never", "timeoutMs": 600}, Status: http.StatusInternalServerError,
			Code: "ACT_OPERATION_FAILED", Reason: "timeout", Contains: []string{"never", "600ms"},
		},
	})
}

// refScope is a part of the page for a snapshot, and the document that contains its target.
type refScope struct{ name, query, document string }

// refCases check that refs stay bound to their element whatever happens to the page, and never act on another one.
func refCases() []testCase {
	var out []testCase
	for _, sc := range []refScope{
		{"the whole page", "", "page"},
		{"interactive", "interactive=true", "page"},
		{"a selector", "selector=%23scope", "page"},
		{"a depth", "depth=4", "page"},
		{"a frame", "frame=%23same", "same"},
		{"a frame of another site", "frame=%23other", "other"},
		{"a frame of another origin", "frame=%23near", "near"},
	} {
		out = append(out, testCase{Name: sc.name, Run: func(s *suite) { refAfterChanges(s, sc) }})
	}
	return append(out,
		testCase{Name: "a new page forgets them", Run: refsForgotten},
		testCase{Name: "refs of another tab", Run: refsOfTabs},
		testCase{Name: "the same in every mode", Run: refsOfModes},
	)
}

// refAfterChanges clicks the target after it was renamed and moved and an element with its old name was added, and
// again after it was removed.
func refAfterChanges(s *suite, sc refScope) {
	s.openScope()
	s.wantEqual("tabs", len(s.tabs()), 1) // cross-site frames are not tabs
	target := s.ref(s.snapshot(sc.query), "button", "Go "+sc.document)
	const neighbour = "Object.assign(document.createElement('button'), " +
		"{textContent: 'Go ' + where, onclick: () => hit('neighbour')})"
	change := func(script string) {
		var done bool
		script = fmt.Sprintf("const where = %q; ", sc.document) + script
		s.evaluate(fmt.Sprintf("change(%q, %q)", sc.document, script), &done)
	}
	click := m{"kind": "click", "ref": target, "timeoutMs": 2000}
	hit, miss := s.Site.Hits("/hit/"+sc.document), s.Site.Hits("/hit/neighbour")
	change("target.parentNode.prepend(target); target.before(" + neighbour + "); target.textContent = 'Other'")
	s.act(click)
	s.waitUntil("the click on "+sc.document, func() bool { return s.Site.Hits("/hit/"+sc.document) == hit+1 })
	change("target.after(" + neighbour + "); target.remove()")
	if a := s.request("POST", "/act", click); a.Status < http.StatusBadRequest {
		s.Fatalf("the ref of a removed element was accepted: %s", a.Body)
	}
	s.wantEqual("clicks on the neighbours", s.Site.Hits("/hit/neighbour")-miss, 0)
}

func refsForgotten(s *suite) {
	id := s.refOn("/form", "button", "Save")
	s.openPage("/form?again")
	s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": id}, Status: 500, Contains: []string{"Unknown ref"}})
}

func refsOfTabs(s *suite) {
	first := s.newTab("/form", "")
	save := s.ref(s.snapshot("interactive=true"), "button", "Save")
	second := s.newTab("/plain", "")
	s.snapshot("interactive=true")
	for id, want := range map[string]int{second.TargetID: 500, first.TargetID: 200} {
		s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": save, "targetId": id}, Status: want})
	}
	s.closeOtherTabs()
}

// refsOfModes compares the refs of each mode with those of the whole page. Role refs are the same, with an index
// among similar elements.
func refsOfModes(s *suite) {
	all := s.snapshotOf("/scope", "").Refs
	for _, query := range []string{
		"interactive=true", "mode=efficient", "compact=true", "selector=%23scope", "frame=%23same", "query=go", "depth=4",
		"refs=role",
	} {
		refs := s.snapshot(query).Refs
		if len(refs) == 0 {
			s.Fatalf("%s has no refs", query)
		}
		for id, ref := range refs {
			if want, ok := all[id]; ok && (want.Role != ref.Role || want.Name != ref.Name) {
				s.Errorf("%s: %s is %s %q, and of the whole page %s %q", query, id, ref.Role, ref.Name, want.Role, want.Name)
			} else if !ok {
				s.Errorf("%s: %s is new: %s %q", query, id, ref.Role, ref.Name)
			}
		}
	}
	s.run("document.body.insertAdjacentHTML('beforeend', '<button>Twin</button><button>Twin</button>'); 1")
	twins := regexp.MustCompile(`"Twin" \[ref=e\d+\] \[new\]\n.*"Twin" \[ref=e\d+\] \[nth=1\]`)
	for _, query := range []string{"refs=role", "refs=role&interactive=true"} {
		snap := s.snapshot(query)
		if !twins.MatchString(snap.Snapshot) {
			s.Errorf("%s does not tell the twins apart:\n%s", query, snap.Snapshot)
		}
	}
}
