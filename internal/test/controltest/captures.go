package controltest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"
)

// captureCases returns the cases of snapshots taken while something else happens: what is new, what is cut,
// whose refs count, which frame went.
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

func addElement(s *suite, name string) {
	s.run(fmt.Sprintf("document.body.append(Object.assign(document.createElement('button'), {textContent: %q})); 1", name))
}

func newForEachWay(s *suite) {
	s.openPage("/form")
	for i, query := range []string{"interactive=true", "compact=true", "selector=body", "depth=9", "mode=efficient"} {
		first := s.snapshot(query)
		if first.NewElements != nil || strings.Contains(first.Snapshot, "[new]") {
			s.Fatalf("%s: the first look says what is new", query)
		}
		unchanged := s.snapshot(query)
		if unchanged.NewElements == nil || *unchanged.NewElements != 0 || strings.Contains(unchanged.Snapshot, "since last snapshot") {
			s.Fatalf("%s: nothing is new, told %v:\n%s", query, unchanged.NewElements, unchanged.Snapshot)
		}
		addElement(s, fmt.Sprint("Fresh ", i))
		third := s.snapshot(query)
		if third.NewElements == nil || *third.NewElements != 1 || !strings.HasSuffix(strings.TrimSpace(third.Snapshot), "1 new element since last snapshot") &&
			!strings.Contains(third.Snapshot, "1 new element(s) since last snapshot") {
			s.Fatalf("%s: new elements %v:\n%s", query, third.NewElements, third.Snapshot)
		}
	}
}

func newByRef(s *suite) {
	s.snapshotOf("/twins", "refs=aria")
	addElement(s, "Twin")
	snap := s.snapshot("refs=aria")
	if snap.NewElements == nil || *snap.NewElements != 1 || strings.Count(snap.Snapshot, "[new]") != 1 {
		s.Fatalf("new elements %v:\n%s", snap.NewElements, snap.Snapshot)
	}
}

func newFrameDocument(s *suite) {
	s.openScope()
	for _, frame := range []string{"same", "other", "near"} {
		for range 2 {
			s.snapshot("frame=%23" + frame)
		}
		script := fmt.Sprintf("new Promise(done => { const f = document.getElementById(%q); f.onload = () => done(true); f.src = f.src + '?again' })", frame)
		s.run(script)
		first := s.snapshot("frame=%23" + frame)
		second := s.snapshot("frame=%23" + frame)
		if first.NewElements != nil || second.NewElements == nil {
			s.Fatalf("%s: new elements %v, then %v", frame, first.NewElements, second.NewElements)
		}
	}
}

func noDelta(s *suite) {
	s.openPage("/form")
	for range 2 {
		snap := s.snapshot("format=aria")
		if snap.NewElements != nil {
			s.Fatal("the tree says what is new")
		}
	}
}

func tinyLimit(s *suite) {
	s.openPage("/rows")
	for n := 1; n <= 90; n += 11 {
		snap := s.snapshot(fmt.Sprint("maxChars=", n))
		if got := len(utf16.Encode([]rune(snap.Snapshot))); got > n || got == 0 || !snap.Truncated {
			s.Fatalf("limit %d: %d characters, truncated = %v: %q", n, got, snap.Truncated, snap.Snapshot)
		}
		for id := range snap.Refs {
			if !strings.Contains(snap.Snapshot, "[ref="+id+"]") {
				s.Fatalf("limit %d: ref %s is not in %q", n, id, snap.Snapshot)
			}
		}
		if snap.Stats.Refs != len(snap.Refs) || snap.Stats.Chars != len(utf16.Encode([]rune(snap.Snapshot))) {
			s.Fatalf("limit %d: stats %+v of %d refs", n, snap.Stats, len(snap.Refs))
		}
	}
}

func limitedModes(s *suite) {
	s.openPage("/many")
	for query, want := range map[string]int{
		"mode=efficient": 8000, "interactive=true": 40_000, "refs=aria": 40_000, "mode=efficient&maxChars=500": 500, "interactive=true&maxChars=700": 700,
		"urls=true&maxChars=900": 900, "refs=aria&maxChars=900": 900, "compact=true&maxChars=300": 300,
	} {
		snap := s.snapshot(query)
		if got := len(utf16.Encode([]rune(snap.Snapshot))); got > want || got < want/2 || !snap.Truncated || !strings.Contains(snap.Snapshot, "TRUNCATED") || len(snap.Refs) == 0 {
			s.Fatalf("%s: %d characters of %d, truncated = %v, %d refs", query, got, want, snap.Truncated, len(snap.Refs))
		}
	}
}

func scopedLinks(s *suite) {
	s.openPage("/links")
	for query, want := range map[string][]string{
		"urls=true": {"/other", "/form", "/plain"}, "urls=true&selector=%23part": {"/form"}, "urls=true&selector=%23part&depth=0": {"/form"},
		"urls=true&frame=%23frame": {"/plain"}, "urls=true&interactive=true": {"/other", "/form"},
	} {
		snap := s.snapshot(query)
		_, links, found := strings.Cut(snap.Snapshot, "\n\nLinks:")
		for _, path := range want {
			if !found || !strings.Contains(links, "-> "+s.Site.URL+path) {
				s.Fatalf("%s lacks %s:\n%s", query, path, snap.Snapshot)
			}
		}
		if strings.Contains(query, "part") && strings.Count(links, "->") != 1 || strings.Contains(query, "frame") && strings.Count(links, "->") != 1 || strings.Count(links, s.Site.URL+"/other\n") > 1 {
			s.Fatalf("%s:\n%s", query, snap.Snapshot)
		}
	}
}

func scopeItself(s *suite) {
	s.openPage("/links")
	for selector, want := range map[string]int{"%23only": 1, "%23hidden": 0, "%23away": 0, ".wrapped": 1, "%23shell": 2} {
		snap := s.snapshot("depth=0&selector=" + selector)
		if len(snap.Refs) != want {
			s.Fatalf("%s: %d refs, want %d:\n%s", selector, len(snap.Refs), want, snap.Snapshot)
		}
	}
}

// abandonedSnapshot takes a snapshot of a busy page with a client that goes away, then another; the first must not win afterwards.
func abandonedSnapshot(s *suite) {
	for _, query := range []string{"selector=%23name", "labels=true"} {
		s.openPage("/form")
		s.run("setTimeout(() => { const end = Date.now() + 900; while (Date.now() < end); }, 20); 1")
		_ = s.requestFor(200*time.Millisecond, "GET", "/snapshot?"+query, nil) // whether it came in time does not matter
		snap := s.snapshot("interactive=true")
		save := s.ref(snap, "button", "Save")
		for range 3 {
			s.act(m{"kind": "click", "ref": save})
			s.waitForSaid("saved")
		}
	}
}

// changedMeanwhile takes a snapshot while a script, which keeps a document busy, also sends a frame elsewhere.
func changedMeanwhile(s *suite, query, busy, script string) (int, string) {
	s.openScope()
	var done bool
	s.evaluate(fmt.Sprintf("change(%q, %q)", busy, "setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 0)"), &done)
	s.run(script)
	a := s.request("GET", "/snapshot?"+query, nil)
	return a.Status, string(a.Body)
}

func frameChanged(s *suite) {
	status, body := changedMeanwhile(s, "frame=%23other", "other", "setTimeout(() => { document.getElementById('other').src = '/plain' }, 400); 1")
	if status != http.StatusInternalServerError || !strings.Contains(body, "Frame changed") || !strings.Contains(body, "retry") {
		s.Fatalf("%d %.300s", status, body)
	}
}

func siblingChanged(s *suite) {
	status, body := changedMeanwhile(s, "frame=%23other", "other", "setTimeout(() => { document.getElementById('same').src = '/plain' }, 400); 1")
	if status != http.StatusOK || !strings.Contains(body, "Go other") {
		s.Fatalf("%d %.300s", status, body)
	}
}

func refsOfTabs(s *suite) {
	first := s.newTab("/form", "")
	snap := s.snapshot("interactive=true")
	save := s.ref(snap, "button", "Save")
	second := s.newTab("/plain", "")
	s.snapshot("interactive=true")
	for id, want := range map[string]int{second.TargetID: 500, first.TargetID: 200} {
		s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": save, "targetId": id}, Status: want})
	}
	s.closeTab(first.TargetID)
	s.closeTab(second.TargetID)
}

func refsOfFrame(s *suite) {
	s.openScope()
	snap := s.snapshot("frame=%23same")
	target := s.ref(snap, "button", "Go same")
	script := "new Promise(done => { const f = document.getElementById('same'); f.onload = () => done(true); f.src = f.src + '?again' })"
	s.run(script)
	s.send(requestCase{Path: "/act", Body: m{"kind": "click", "ref": target, "timeoutMs": 600}, Status: 500})
}

func treeOrder(s *suite) {
	snap := s.snapshotOf("/deep", "format=aria")
	seen, depth := map[string]bool{}, 0
	for i, n := range snap.Nodes {
		if seen[n.Ref] || n.Depth > depth+1 || n.Role == "" || i > 0 && n.Depth == 0 {
			s.Fatalf("node %d: %+v after depth %d", i, n, depth)
		}
		seen[n.Ref], depth = true, n.Depth
	}
}
