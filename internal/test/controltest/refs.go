package controltest

import (
	"fmt"
	"net/http"
	"strings"
)

// refScope is a part of the page that a snapshot is taken of, and the document in which its target lies.
type refScope struct{ name, query, document string }

// pageChange is what becomes of the page between the snapshot and the click.
type pageChange struct {
	name, script string
	lost         bool // the element is gone: the ref must fail
}

// refCases hold on to the element they were made from, whatever becomes of the page: they never act upon another one.
func refCases() []testCase {
	const neighbour = "Object.assign(document.createElement('button'), {textContent: target.textContent, onclick: () => hit('neighbour')})"
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
		for _, ch := range []pageChange{
			{"an unchanged page", "", false},
			{"reordering", "target.parentNode.prepend(target)", false},
			{"a same-named neighbour before it", "target.before(" + neighbour + ")", false},
			{"renaming", "target.textContent = 'Other'", false},
			{"removal beside a same-named neighbour", "target.after(" + neighbour + "); target.remove()", true},
		} {
			out = append(out, testCase{Name: sc.name + ", " + ch.name, Run: func(s *suite) { refAfter(s, sc, ch) }})
		}
	}
	return append(out,
		testCase{Name: "odd names", Run: oddNames},
		testCase{Name: "an open shadow root", Run: func(s *suite) {
			clickNamed(s, "/shadow", "Open inside", "open")
		}},
		testCase{Name: "a closed shadow root", Run: func(s *suite) {
			clickNamed(s, "/shadow", "Closed inside", "closed")
		}},
		testCase{Name: "something that is only drawn as a button", Run: func(s *suite) {
			clickNamed(s, "/world", "Clickable Card", "card")
		}},
		testCase{Name: "spellings", Run: refSpellings},
		testCase{Name: "a new page forgets them", Run: refsForgotten},
		testCase{Name: "the last snapshot wins", Run: lastSnapshotWins},
	)
}

func refAfter(s *suite, sc refScope, ch pageChange) {
	s.openScope()
	snap := s.snapshot(sc.query)
	target := s.ref(snap, "button", "Go "+sc.document)
	if ch.script != "" {
		var done bool
		s.evaluate(fmt.Sprintf("change(%q, %q)", sc.document, ch.script), &done)
	}
	hit, miss := s.Site.Hits("/hit/"+sc.document), s.Site.Hits("/hit/neighbour")
	a := s.request("POST", "/act", m{"kind": "click", "ref": target, "timeoutMs": 2000})
	switch {
	case ch.lost && a.Status < http.StatusBadRequest:
		s.Fatalf("the ref of a removed element was accepted: %s", a.Body)
	case ch.lost:
		s.wantEqual("clicks on the neighbour", s.Site.Hits("/hit/neighbour")-miss, 0)
		return
	case a.Status != http.StatusOK:
		s.Fatalf("click: %d %s", a.Status, a.Body)
	}
	s.waitUntil("the click on "+sc.document, func() bool {
		if s.Site.Hits("/hit/neighbour") != miss {
			s.Fatal("the neighbour was clicked")
		}
		return s.Site.Hits("/hit/"+sc.document) == hit+1
	})
}

// clickNamed clicks the element with that name, which must make the page say something.
func clickNamed(s *suite, page, name, want string) {
	snap := s.snapshotOf(page, "interactive=true")
	for id, r := range snap.Refs {
		if r.Name != name {
			continue
		}
		s.act(m{"kind": "click", "ref": id})
		s.waitForSaid(want)
		return
	}
	s.Fatalf("there is no %q in\n%s", name, snap.Snapshot)
}

// oddNames clicks buttons whose names are hard to write down, in each mode, and looks which was hit.
func oddNames(s *suite) {
	for _, query := range []string{"maxChars=0", "interactive=true&maxChars=0", "refs=aria&maxChars=0", "format=aria"} {
		snap := s.snapshotOf("/odd", query)
		var ids []string
		for id, r := range snap.Refs {
			if r.Role == "button" {
				ids = append(ids, id)
			}
		}
		for _, n := range snap.Nodes {
			if n.Role == "button" {
				ids = append(ids, n.Ref)
			}
		}
		var count int
		s.evaluate("document.querySelectorAll('button').length", &count)
		s.wantEqual(query+": buttons with a ref", len(ids), count)
		for _, id := range ids {
			s.act(m{"kind": "click", "ref": id})
		}
		s.wantPage("[...new Set(window.clicked)].length === document.querySelectorAll('button').length ? [1] : window.clicked", []int{1})
	}
}

func refSpellings(s *suite) {
	snap := s.snapshotOf("/form", "interactive=true")
	id := s.ref(snap, "button", "Save")
	for _, spelling := range []any{id, "@" + id, "ref=" + id, strings.ToUpper(id), strings.TrimPrefix(id, "e")} {
		s.act(m{"kind": "hover", "ref": spelling})
	}
}

func refsForgotten(s *suite) {
	id := s.refOn("/form", "button", "Save")
	s.openPage("/form?again")
	s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": id}, Status: 500, Contains: []string{"Unknown ref"}})
}

func lastSnapshotWins(s *suite) {
	s.snapshotOf("/form", "")
	snap := s.snapshot("selector=label&interactive=true")
	s.wantEqual("refs of the scope", len(snap.Refs), 1)
	s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": "e7"}, Status: 500, Contains: []string{"Unknown ref"}})
}
