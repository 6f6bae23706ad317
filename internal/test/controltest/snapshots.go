package controltest

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"
)

// snapshotCases returns the cases of pages as text, in all modes.
func snapshotCases() []testCase {
	get := func(name, query string, says ...string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Contains: says}
	}
	bad := func(name, query, says string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Status: 400, Contains: []string{says}}
	}
	return append(requestCases([]requestCase{
		{Name: "the usual one", Path: "/snapshot", Page: "/world", Members: []string{"ok", "format", "targetId", "url", "snapshot", "refs", "stats"}, Contains: []string{`button \"Save\"`, `link \"Docs\"`, "/docs"}},
		get("card that is clickable", "interactive=true", `generic \"Clickable Card\"`, "cursor:pointer"),
		get("embedded page", "refs=role&compact=true", `Iframe \"Child\"`, `button \"Inside\"`),
		get("refs of the engine's own", "refs=aria"),
		get("efficient", "mode=efficient", `button \"Save\"`),
		get("links", "urls=true", "Links:", "Docs -"),
		bad("labels with the tree", "format=aria&labels=true", "format=ai"),
		bad("efficient with the tree", "format=aria&mode=efficient", "format=ai"),
		bad("refs of the engine's own in a scope", "refs=aria&selector=main", "refs=aria"),
		bad("refs of the engine's own in a frame", "refs=aria&frame=iframe", "refs=aria"),
		bad("a limit that is none", "format=aria&limit=soon", "limit"),
		bad("a scope that cannot be parsed", "selector=[", "selector"),
		get("not flat though efficient", "mode=efficient&interactive=no", `heading \"World\"`),
		{Name: "text", Path: "/text", Page: "/world", Members: []string{"targetId", "url", "text"}, Contains: []string{"Save"}},
		{Name: "text of a part", Path: "/text?selector=%23only", Page: "/world", Contains: []string{"only this"}, Excludes: []string{"Save"}},
		{Name: "text that is cut", Path: "/text?maxChars=5", Page: "/world", Contains: []string{`"truncated":true`}},
	}),
		testCase{Name: "interactive is flat", Run: interactiveFlat},
		testCase{Name: "depth", Run: depthLimit},
		testCase{Name: "a selector that matches nothing", Run: noMatch},
		testCase{Name: "a limit cuts whole lines", Run: wholeLines},
		testCase{Name: "no limit", Run: noLimit},
		testCase{Name: "the tree", Run: ariaTree},
		testCase{Name: "counts", Run: snapshotStats},
		testCase{Name: "names that come twice", Run: duplicateNames},
		testCase{Name: "what is new", Run: snapshotDeltas},
		testCase{Name: "nothing to do", Run: nothingToDo},
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

func depthLimit(s *suite) {
	for depth := range 3 {
		snap := s.snapshotOf("/deep", fmt.Sprintf("depth=%d", depth))
		for line := range strings.SplitSeq(snap.Snapshot, "\n") {
			if level := (len(line) - len(strings.TrimLeft(line, " "))) / 2; level > depth {
				s.Fatalf("depth %d shows %q", depth, line)
			}
		}
	}
}

func noMatch(s *suite) {
	s.openPage("/world")
	begin := time.Now()
	snap := s.snapshot("selector=%23nosuch&urls=true")
	s.wantWithin(5*time.Second, begin)
	if snap.Snapshot != "(empty)" || snap.Refs == nil || len(snap.Refs) > 0 {
		s.Fatalf("snapshot %q, refs %v", snap.Snapshot, snap.Refs)
	}
}

func wholeLines(s *suite) {
	all := s.snapshotOf("/rows", "maxChars=0")
	cut := s.snapshot("maxChars=600")
	if n := len(utf16.Encode([]rune(cut.Snapshot))); n > 600 || !cut.Truncated || !strings.Contains(cut.Snapshot, "TRUNCATED") {
		s.Fatalf("%d characters, truncated = %v:\n%s", n, cut.Truncated, cut.Snapshot)
	}
	for id := range cut.Refs {
		if !strings.Contains(cut.Snapshot, "[ref="+id+"]") {
			s.Fatalf("ref %s is not in the text", id)
		}
	}
	head, _, _ := strings.Cut(cut.Snapshot, "\n\n")
	if !strings.HasPrefix(all.Snapshot, head+"\n") {
		s.Fatalf("not cut at a line:\n%s", cut.Snapshot)
	}
}

func noLimit(s *suite) {
	short := s.snapshotOf("/many", "")
	long := s.snapshot("maxChars=0")
	if n := len(utf16.Encode([]rune(short.Snapshot))); !short.Truncated || n > 40_000 || long.Truncated || len(long.Snapshot) <= n {
		s.Fatalf("%d characters by default, %d without a limit", n, len(long.Snapshot))
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

func snapshotStats(s *suite) {
	snap := s.snapshotOf("/world", "interactive=true")
	st := snap.Stats
	if st.Lines != strings.Count(snap.Snapshot, "\n")+1 || st.Chars != len(utf16.Encode([]rune(snap.Snapshot))) || st.Refs != len(snap.Refs) || st.Interactive < 2 || st.Interactive > st.Refs {
		s.Fatalf("stats %+v of %d refs in\n%s", st, len(snap.Refs), snap.Snapshot)
	}
}

func duplicateNames(s *suite) {
	snap := s.snapshotOf("/twins", "interactive=true")
	nths := map[int]bool{}
	for _, r := range snap.Refs {
		switch {
		case r.Name == "Twin" && r.Nth != nil:
			nths[*r.Nth] = true
		case r.Name == "Twin":
			s.Fatalf("a member of a set has no nth: %+v", r)
		case r.Nth != nil:
			s.Fatalf("a unique one has an nth: %+v", r)
		}
	}
	if !nths[0] || !nths[1] || !nths[2] || strings.Contains(snap.Snapshot, "[nth=0]") || !strings.Contains(snap.Snapshot, "[nth=2]") {
		s.Fatalf("nths %v in\n%s", nths, snap.Snapshot)
	}
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

func nothingToDo(s *suite) {
	snap := s.snapshotOf("/plain", "interactive=true")
	s.wantEqual("snapshot", snap.Snapshot, "(no interactive elements)")
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
