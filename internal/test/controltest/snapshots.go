package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"
)

// snapshotCases are pages as text, in all modes.
func snapshotCases() []testCase {
	get := func(name, query string, says ...string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Contains: says}
	}
	bad := func(name, query string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Status: 400}
	}
	return append(requestCases([]requestCase{
		{Name: "the usual one", Path: "/snapshot", Page: "/world", Members: []string{"ok", "format", "targetId", "url", "snapshot", "refs", "stats"}, Contains: []string{`button \"Save\"`, `link \"Docs\"`, "/docs"}},
		get("card that is clickable", "interactive=true", `generic \"Clickable Card\"`, "cursor:pointer"),
		get("embedded page", "refs=role&compact=true", `Iframe \"Child\"`, `button \"Inside\"`),
		get("refs of the engine's own", "refs=aria"),
		get("efficient", "mode=efficient", `button \"Save\"`),
		get("links", "urls=true", "Links:", "Docs -"),
		bad("labels with the tree", "format=aria&labels=true"),
		bad("efficient with the tree", "format=aria&mode=efficient"),
		bad("refs of the engine's own in a scope", "refs=aria&selector=main"),
		bad("refs of the engine's own in a frame", "refs=aria&frame=iframe"),
		bad("a limit that is none", "format=aria&limit=soon"),
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

func interactiveFlat(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/world", "interactive=true")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(snap.Snapshot, "\n") {
		if strings.HasPrefix(line, " ") || strings.Contains(line, "- heading") {
			return fmt.Errorf("line %q in\n%s", line, snap.Snapshot)
		}
	}
	return nil
}

func depthLimit(ctx context.Context, s *controlSuite) error {
	for depth := range 3 {
		snap, err := s.SnapshotOf(ctx, "/deep", fmt.Sprintf("depth=%d", depth))
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(snap.Snapshot, "\n") {
			if level := (len(line) - len(strings.TrimLeft(line, " "))) / 2; level > depth {
				return fmt.Errorf("depth %d shows %q", depth, line)
			}
		}
	}
	return nil
}

func noMatch(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/world"); err != nil {
		return err
	}
	begin := time.Now()
	snap, err := s.Snapshot(ctx, "selector=%23nosuch&urls=true")
	if err != nil {
		return err
	}
	if took := time.Since(begin); took > 5*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	if snap.Snapshot != "(empty)" || snap.Refs == nil || len(snap.Refs) > 0 {
		return fmt.Errorf("snapshot %q, refs %v", snap.Snapshot, snap.Refs)
	}
	return nil
}

func wholeLines(ctx context.Context, s *controlSuite) error {
	all, err := s.SnapshotOf(ctx, "/rows", "maxChars=0")
	if err != nil {
		return err
	}
	cut, err := s.Snapshot(ctx, "maxChars=600")
	if err != nil {
		return err
	}
	if n := len(utf16.Encode([]rune(cut.Snapshot))); n > 600 || !cut.Truncated || !strings.Contains(cut.Snapshot, "TRUNCATED") {
		return fmt.Errorf("%d characters, truncated = %v:\n%s", n, cut.Truncated, cut.Snapshot)
	}
	for id := range cut.Refs {
		if !strings.Contains(cut.Snapshot, "[ref="+id+"]") {
			return fmt.Errorf("ref %s is not in the text", id)
		}
	}
	head, _, _ := strings.Cut(cut.Snapshot, "\n\n")
	if !strings.HasPrefix(all.Snapshot, head+"\n") {
		return fmt.Errorf("not cut at a line:\n%s", cut.Snapshot)
	}
	return nil
}

func noLimit(ctx context.Context, s *controlSuite) error {
	short, err := s.SnapshotOf(ctx, "/many", "")
	if err != nil {
		return err
	}
	long, err := s.Snapshot(ctx, "maxChars=0")
	if err != nil {
		return err
	}
	if n := len(utf16.Encode([]rune(short.Snapshot))); !short.Truncated || n > 40_000 || long.Truncated || len(long.Snapshot) <= n {
		return fmt.Errorf("%d characters by default, %d without a limit", n, len(long.Snapshot))
	}
	return nil
}

func ariaTree(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/world", "format=aria")
	if err != nil {
		return err
	}
	found := false
	for _, n := range snap.Nodes {
		if !strings.HasPrefix(n.Ref, "ax") || n.Role == "" {
			return fmt.Errorf("node %+v", n)
		}
		if n.Role == "button" && n.Name == "Save" {
			found = true
			if _, err := s.Act(ctx, map[string]any{"kind": "click", "ref": n.Ref}); err != nil {
				return err
			}
		}
	}
	if !found || snap.Format != "aria" {
		return fmt.Errorf("format %q, %d nodes without the button", snap.Format, len(snap.Nodes))
	}
	if err := s.waitForSaid(ctx, "saved"); err != nil {
		return err
	}
	one, err := s.Snapshot(ctx, "format=aria&limit=1")
	if err != nil {
		return err
	}
	return wantEqualJSON("nodes", len(one.Nodes), 1)
}

func snapshotStats(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/world", "interactive=true")
	if err != nil {
		return err
	}
	st := snap.Stats
	if st.Lines != strings.Count(snap.Snapshot, "\n")+1 || st.Chars != len(utf16.Encode([]rune(snap.Snapshot))) || st.Refs != len(snap.Refs) || st.Interactive < 2 || st.Interactive > st.Refs {
		return fmt.Errorf("stats %+v of %d refs in\n%s", st, len(snap.Refs), snap.Snapshot)
	}
	return nil
}

func duplicateNames(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/twins", "interactive=true")
	if err != nil {
		return err
	}
	nths := map[int]bool{}
	for _, r := range snap.Refs {
		switch {
		case r.Name == "Twin" && r.Nth != nil:
			nths[*r.Nth] = true
		case r.Name == "Twin":
			return fmt.Errorf("a member of a set has no nth: %+v", r)
		case r.Nth != nil:
			return fmt.Errorf("a unique one has an nth: %+v", r)
		}
	}
	if !nths[0] || !nths[1] || !nths[2] || strings.Contains(snap.Snapshot, "[nth=0]") || !strings.Contains(snap.Snapshot, "[nth=2]") {
		return fmt.Errorf("nths %v in\n%s", nths, snap.Snapshot)
	}
	return nil
}

func snapshotDeltas(ctx context.Context, s *controlSuite) error {
	first, err := s.SnapshotOf(ctx, "/world", "interactive=true")
	if err != nil {
		return err
	}
	if first.NewElements != nil || strings.Contains(first.Snapshot, "[new]") {
		return fmt.Errorf("the first says what is new:\n%s", first.Snapshot)
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "document.body.append(Object.assign(document.createElement('button'), {textContent: 'Fresh'})); 1"}); err != nil {
		return err
	}
	second, err := s.Snapshot(ctx, "interactive=true")
	if err != nil {
		return err
	}
	if second.NewElements == nil || *second.NewElements != 1 || !regexp.MustCompile(`"Fresh".*\[new\]`).MatchString(second.Snapshot) ||
		!strings.Contains(second.Snapshot, "1 new element") {
		return fmt.Errorf("new elements %v in\n%s", second.NewElements, second.Snapshot)
	}
	third, err := s.SnapshotOf(ctx, "/world", "interactive=true")
	if err != nil {
		return err
	}
	if third.NewElements != nil {
		return fmt.Errorf("after a navigation %d elements are new", *third.NewElements)
	}
	return nil
}

func nothingToDo(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/plain", "interactive=true")
	if err != nil {
		return err
	}
	return wantEqualJSON("snapshot", snap.Snapshot, "(no interactive elements)")
}

func passwordHidden(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/login"); err != nil {
		return err
	}
	for _, query := range []string{"", "interactive=true", "format=aria", "refs=aria"} {
		a, err := s.Request(ctx, "GET", "/snapshot?"+query, nil)
		if err != nil {
			return err
		}
		if strings.Contains(string(a.Body), "hunter2") {
			return fmt.Errorf("%q tells the password: %s", query, a.Body)
		}
	}
	return nil
}

func queryLines(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/rows", "query=edit%207")
	if err != nil {
		return err
	}
	if !strings.Contains(snap.Snapshot, `"edit 7"`) || strings.Contains(snap.Snapshot, `"edit 8"`) {
		return fmt.Errorf("kept\n%s", snap.Snapshot)
	}
	return nil
}
