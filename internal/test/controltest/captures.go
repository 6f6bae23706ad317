package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"
)

// captureCases are snapshots taken while something else happens: what is new, what is cut, whose refs count, which frame went.
func captureCases() []testCase {
	return []testCase{
		{Name: "what is new is told for each way to look", Run: newForEachWay},
		{Name: "refs of the engine's own are new by themselves", Run: newByRef},
		{Name: "a frame with another document begins anew", Run: newFrameDocument},
		{Name: "the tree and an empty delta", Run: noDelta},
		{Name: "a tiny limit", Run: tinyLimit},
		{Name: "a limit in every mode", Run: limitedModes},
		{Name: "links of a scope, of a frame, of nothing", Run: scopedLinks},
		{Name: "the scope itself", Run: scopeItself},
		{Name: "a look that was given up leaves the refs alone", Run: abandonedSnapshot},
		{Name: "the frame went elsewhere meanwhile", Run: frameChanged},
		{Name: "another frame went elsewhere meanwhile", Run: siblingChanged},
		{Name: "refs of another tab", Run: refsOfTabs},
		{Name: "refs of a frame that went elsewhere", Run: refsOfFrame},
		{Name: "the tree's refs in depth order", Run: treeOrder},
	}
}

func addElement(ctx context.Context, s *controlSuite, name string) error {
	_, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": fmt.Sprintf("document.body.append(Object.assign(document.createElement('button'), {textContent: %q})); 1", name)})
	return err
}

func newForEachWay(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	for i, query := range []string{"interactive=true", "compact=true", "selector=body", "depth=9", "mode=efficient"} {
		first, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		if first.NewElements != nil || strings.Contains(first.Snapshot, "[new]") {
			return fmt.Errorf("%s: the first look says what is new", query)
		}
		unchanged, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		if unchanged.NewElements == nil || *unchanged.NewElements != 0 || strings.Contains(unchanged.Snapshot, "since last snapshot") {
			return fmt.Errorf("%s: nothing is new, told %v:\n%s", query, unchanged.NewElements, unchanged.Snapshot)
		}
		if err := addElement(ctx, s, fmt.Sprint("Fresh ", i)); err != nil {
			return err
		}
		third, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		if third.NewElements == nil || *third.NewElements != 1 || !strings.HasSuffix(strings.TrimSpace(third.Snapshot), "1 new element since last snapshot") &&
			!strings.Contains(third.Snapshot, "1 new element(s) since last snapshot") {
			return fmt.Errorf("%s: new elements %v:\n%s", query, third.NewElements, third.Snapshot)
		}
	}
	return nil
}

func newByRef(ctx context.Context, s *controlSuite) error {
	if _, err := s.SnapshotOf(ctx, "/twins", "refs=aria"); err != nil {
		return err
	}
	if err := addElement(ctx, s, "Twin"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "refs=aria")
	if err != nil {
		return err
	}
	if snap.NewElements == nil || *snap.NewElements != 1 || strings.Count(snap.Snapshot, "[new]") != 1 {
		return fmt.Errorf("new elements %v:\n%s", snap.NewElements, snap.Snapshot)
	}
	return nil
}

func newFrameDocument(ctx context.Context, s *controlSuite) error {
	if err := s.OpenScope(ctx); err != nil {
		return err
	}
	for _, frame := range []string{"same", "other", "near"} {
		for range 2 {
			if _, err := s.Snapshot(ctx, "frame=%23"+frame); err != nil {
				return err
			}
		}
		script := fmt.Sprintf("new Promise(done => { const f = document.getElementById(%q); f.onload = () => done(true); f.src = f.src + '?again' })", frame)
		if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": script}); err != nil {
			return err
		}
		first, err := s.Snapshot(ctx, "frame=%23"+frame)
		if err != nil {
			return err
		}
		second, err := s.Snapshot(ctx, "frame=%23"+frame)
		if err != nil {
			return err
		}
		if first.NewElements != nil || second.NewElements == nil {
			return fmt.Errorf("%s: new elements %v, then %v", frame, first.NewElements, second.NewElements)
		}
	}
	return nil
}

func noDelta(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	for range 2 {
		snap, err := s.Snapshot(ctx, "format=aria")
		if err != nil {
			return err
		}
		if snap.NewElements != nil {
			return errors.New("the tree says what is new")
		}
	}
	return nil
}

func tinyLimit(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/rows"); err != nil {
		return err
	}
	for n := 1; n <= 90; n += 11 {
		snap, err := s.Snapshot(ctx, fmt.Sprint("maxChars=", n))
		if err != nil {
			return err
		}
		if got := len(utf16.Encode([]rune(snap.Snapshot))); got > n || got == 0 || !snap.Truncated {
			return fmt.Errorf("limit %d: %d characters, truncated = %v: %q", n, got, snap.Truncated, snap.Snapshot)
		}
		for id := range snap.Refs {
			if !strings.Contains(snap.Snapshot, "[ref="+id+"]") {
				return fmt.Errorf("limit %d: ref %s is not in %q", n, id, snap.Snapshot)
			}
		}
		if snap.Stats.Refs != len(snap.Refs) || snap.Stats.Chars != len(utf16.Encode([]rune(snap.Snapshot))) {
			return fmt.Errorf("limit %d: stats %+v of %d refs", n, snap.Stats, len(snap.Refs))
		}
	}
	return nil
}

func limitedModes(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/many"); err != nil {
		return err
	}
	for query, want := range map[string]int{
		"mode=efficient": 8000, "interactive=true": 40_000, "refs=aria": 40_000, "mode=efficient&maxChars=500": 500, "interactive=true&maxChars=700": 700,
		"urls=true&maxChars=900": 900, "refs=aria&maxChars=900": 900, "compact=true&maxChars=300": 300,
	} {
		snap, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		if got := len(utf16.Encode([]rune(snap.Snapshot))); got > want || got < want/2 || !snap.Truncated || !strings.Contains(snap.Snapshot, "TRUNCATED") || len(snap.Refs) == 0 {
			return fmt.Errorf("%s: %d characters of %d, truncated = %v, %d refs", query, got, want, snap.Truncated, len(snap.Refs))
		}
	}
	return nil
}

func scopedLinks(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/links"); err != nil {
		return err
	}
	for query, want := range map[string][]string{
		"urls=true": {"/other", "/form", "/plain"}, "urls=true&selector=%23part": {"/form"}, "urls=true&selector=%23part&depth=0": {"/form"},
		"urls=true&frame=%23frame": {"/plain"}, "urls=true&interactive=true": {"/other", "/form"},
	} {
		snap, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		_, links, found := strings.Cut(snap.Snapshot, "\n\nLinks:")
		for _, path := range want {
			if !found || !strings.Contains(links, "-> "+s.Site.URL+path) {
				return fmt.Errorf("%s lacks %s:\n%s", query, path, snap.Snapshot)
			}
		}
		if strings.Contains(query, "part") && strings.Count(links, "->") != 1 || strings.Contains(query, "frame") && strings.Count(links, "->") != 1 || strings.Count(links, s.Site.URL+"/other\n") > 1 {
			return fmt.Errorf("%s:\n%s", query, snap.Snapshot)
		}
	}
	return nil
}

func scopeItself(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/links"); err != nil {
		return err
	}
	for selector, want := range map[string]int{"%23only": 1, "%23hidden": 0, "%23away": 0, ".wrapped": 1, "%23shell": 2} {
		snap, err := s.Snapshot(ctx, "depth=0&selector="+selector)
		if err != nil {
			return err
		}
		if len(snap.Refs) != want {
			return fmt.Errorf("%s: %d refs, want %d:\n%s", selector, len(snap.Refs), want, snap.Snapshot)
		}
	}
	return nil
}

// abandonedSnapshot takes a snapshot of a busy page with a client that goes away, then another; the first must not win afterwards.
func abandonedSnapshot(ctx context.Context, s *controlSuite) error {
	for _, query := range []string{"selector=%23name", "labels=true"} {
		if err := s.openPage(ctx, "/form"); err != nil {
			return err
		}
		if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "setTimeout(() => { const end = Date.now() + 900; while (Date.now() < end); }, 20); 1"}); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		_, _ = s.Request(short, "GET", "/snapshot?"+query, nil) // whether it came in time does not matter
		cancel()
		snap, err := s.Snapshot(ctx, "interactive=true")
		if err != nil {
			return err
		}
		save, err := snap.Ref("button", "Save")
		if err != nil {
			return err
		}
		for range 3 {
			if _, err := s.Act(ctx, map[string]any{"kind": "click", "ref": save}); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			if err := s.waitForSaid(ctx, "saved"); err != nil {
				return err
			}
		}
	}
	return nil
}

// changedMeanwhile takes a snapshot while a script, which keeps a document busy, also sends a frame elsewhere.
func changedMeanwhile(ctx context.Context, s *controlSuite, query, busy, script string) (int, string, error) {
	if err := s.OpenScope(ctx); err != nil {
		return 0, "", err
	}
	var done bool
	if err := s.Evaluate(ctx, fmt.Sprintf("change(%q, %q)", busy, "setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 0)"), &done); err != nil {
		return 0, "", err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": script}); err != nil {
		return 0, "", err
	}
	a, err := s.Request(ctx, "GET", "/snapshot?"+query, nil)
	return a.Status, string(a.Body), err
}

func frameChanged(ctx context.Context, s *controlSuite) error {
	status, body, err := changedMeanwhile(ctx, s, "frame=%23other", "other", "setTimeout(() => { document.getElementById('other').src = '/plain' }, 400); 1")
	if err != nil {
		return err
	}
	if status != http.StatusInternalServerError || !strings.Contains(body, "Frame changed") || !strings.Contains(body, "retry") {
		return fmt.Errorf("%d %.300s", status, body)
	}
	return nil
}

func siblingChanged(ctx context.Context, s *controlSuite) error {
	status, body, err := changedMeanwhile(ctx, s, "frame=%23other", "other", "setTimeout(() => { document.getElementById('same').src = '/plain' }, 400); 1")
	if err != nil {
		return err
	}
	if status != http.StatusOK || !strings.Contains(body, "Go other") {
		return fmt.Errorf("%d %.300s", status, body)
	}
	return nil
}

func refsOfTabs(ctx context.Context, s *controlSuite) error {
	first, err := s.NewTab(ctx, "/form", "")
	if err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "interactive=true")
	if err != nil {
		return err
	}
	save, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	second, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if _, err := s.Snapshot(ctx, "interactive=true"); err != nil {
		return err
	}
	for id, want := range map[string]int{second.TargetID: 500, first.TargetID: 200} {
		if err := (requestCase{Path: "/act", Body: map[string]any{"kind": "click", "ref": save, "targetId": id}, Status: want}).Run(ctx, s); err != nil {
			return err
		}
	}
	return errors.Join(s.CloseTab(ctx, first.TargetID), s.CloseTab(ctx, second.TargetID))
}

func refsOfFrame(ctx context.Context, s *controlSuite) error {
	if err := s.OpenScope(ctx); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "frame=%23same")
	if err != nil {
		return err
	}
	target, err := snap.Ref("button", "Go same")
	if err != nil {
		return err
	}
	script := "new Promise(done => { const f = document.getElementById('same'); f.onload = () => done(true); f.src = f.src + '?again' })"
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": script}); err != nil {
		return err
	}
	return requestCase{Path: "/act", Body: map[string]any{"kind": "click", "ref": target, "timeoutMs": 600}, Status: 500}.Run(ctx, s)
}

func treeOrder(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/deep", "format=aria")
	if err != nil {
		return err
	}
	seen, depth := map[string]bool{}, 0
	for i, n := range snap.Nodes {
		if seen[n.Ref] || n.Depth > depth+1 || n.Role == "" || i > 0 && n.Depth == 0 {
			return fmt.Errorf("node %d: %+v after depth %d", i, n, depth)
		}
		seen[n.Ref], depth = true, n.Depth
	}
	return nil
}
