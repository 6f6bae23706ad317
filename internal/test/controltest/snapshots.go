package controltest

import (
	"regexp"
	"strings"
)

// snapshotCases returns the cases of pages as text, in all modes.
func snapshotCases() []testCase {
	get := func(name, query string, says ...string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Contains: says}
	}
	return append(requestCases([]requestCase{
		{Name: "the usual one", Path: "/snapshot", Page: "/world", Members: []string{"ok", "format", "targetId", "url", "snapshot", "refs", "stats"}, Contains: []string{`button \"Save\"`, `link \"Docs\"`, "/docs"}},
		get("card that is clickable", "interactive=true", `generic \"Clickable Card\"`, "cursor:pointer"),
		get("embedded page", "refs=role&compact=true", `Iframe \"Child\"`, `button \"Inside\"`),
		get("refs of the engine's own", "refs=aria"),
		get("efficient", "mode=efficient", `button \"Save\"`),
		get("links", "urls=true", "Links:", "Docs -"),
		get("not flat though efficient", "mode=efficient&interactive=no", `heading \"World\"`),
		{Name: "text", Path: "/text", Page: "/world", Members: []string{"targetId", "url", "text"}, Contains: []string{"Save"}},
		{Name: "text of a part", Path: "/text?selector=%23only", Page: "/world", Contains: []string{"only this"}, Excludes: []string{"Save"}},
	}),
		testCase{Name: "interactive is flat", Run: interactiveFlat},
		testCase{Name: "the tree", Run: ariaTree},
		testCase{Name: "what is new", Run: snapshotDeltas},
		testCase{Name: "a password is not told", Run: passwordHidden},
		testCase{Name: "query keeps lines", Run: queryLines},
	)
}

func interactiveFlat(s *suite) {
	snap := s.snapshotOf("/world", "interactive=true")
	for line := range strings.SplitSeq(snap.Snapshot, "\n") {
		if strings.HasPrefix(line, " ") || strings.Contains(line, "- heading") {
			s.Fatalf("line %q in\n%s", line, snap.Snapshot)
		}
	}
}

func ariaTree(s *suite) {
	snap := s.snapshotOf("/world", "format=aria")
	found := false
	for _, n := range snap.Nodes {
		if !strings.HasPrefix(n.Ref, "ax") || n.Role == "" {
			s.Fatalf("node %+v", n)
		}
		if n.Role == "button" && n.Name == "Save" {
			found = true
			s.act(m{"kind": "click", "ref": n.Ref})
		}
	}
	if !found || snap.Format != "aria" {
		s.Fatalf("format %q, %d nodes without the button", snap.Format, len(snap.Nodes))
	}
	s.waitForSaid("saved")
	one := s.snapshot("format=aria&limit=1")
	s.wantEqual("nodes", len(one.Nodes), 1)
}

func snapshotDeltas(s *suite) {
	first := s.snapshotOf("/world", "interactive=true")
	if first.NewElements != nil || strings.Contains(first.Snapshot, "[new]") {
		s.Fatalf("the first says what is new:\n%s", first.Snapshot)
	}
	s.run("document.body.append(Object.assign(document.createElement('button'), {textContent: 'Fresh'})); 1")
	second := s.snapshot("interactive=true")
	if second.NewElements == nil || *second.NewElements != 1 || !regexp.MustCompile(`"Fresh".*\[new\]`).MatchString(second.Snapshot) ||
		!strings.Contains(second.Snapshot, "1 new element") {
		s.Fatalf("new elements %v in\n%s", second.NewElements, second.Snapshot)
	}
	third := s.snapshotOf("/world", "interactive=true")
	if third.NewElements != nil {
		s.Fatalf("after a navigation %d elements are new", *third.NewElements)
	}
}

func passwordHidden(s *suite) {
	s.openPage("/login")
	for _, query := range []string{"", "interactive=true", "format=aria", "refs=aria"} {
		a := s.request("GET", "/snapshot?"+query, nil)
		if strings.Contains(string(a.Body), "hunter2") {
			s.Fatalf("%q tells the password: %s", query, a.Body)
		}
	}
}

func queryLines(s *suite) {
	snap := s.snapshotOf("/rows", "query=edit%207")
	if !strings.Contains(snap.Snapshot, `"edit 7"`) || strings.Contains(snap.Snapshot, `"edit 8"`) {
		s.Fatalf("kept\n%s", snap.Snapshot)
	}
}
