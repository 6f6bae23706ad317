package controltest

import (
	"fmt"
	"net/http"
	"regexp"
)

// refScope is a part of the page that a snapshot is taken of, and the document in which its target lies.
type refScope struct{ name, query, document string }

// refCases hold on to the element they were made from, whatever becomes of the page: they never act upon another one.
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

// refAfterChanges clicks the target after it was renamed, moved and given a neighbour of its old name, and again after it
// was removed.
func refAfterChanges(s *suite, sc refScope) {
	s.openScope()
	s.wantEqual("tabs", len(s.tabs()), 1) // frames of other sites are none
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

// refsOfModes compares the refs of each mode with those of the whole page. Role refs are the same ones, with the
// position among elements that are alike.
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
