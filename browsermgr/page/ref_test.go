package page_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

const rows = `<ul id=l><li><button onclick="hit('a')">Delete</button><li><button onclick="hit('b')">Delete</button><li><button onclick="hit('c')">Delete</button></ul>
	<script>window.hits = []; function hit(x) { hits.push(x) }</script>`

func TestRefSurvivesReordering(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "l.append(l.firstElementChild)")
	click(t, tab, refs[0].Ref)
	browsertest.WantJS(t, tab, "hits", `["a"]`)
	again := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	if again[2].Ref != refs[0].Ref || again[0].Ref != refs[1].Ref {
		t.Errorf("got refs %v, want those of %v to move along", again, refs)
	}
}

func TestRefOfRemovedElementNeverHitsANeighbour(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "l.children[1].remove()")
	for range 2 { // before and after another snapshot
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: refs[1].Ref})
		browsertest.WantError(t, err, page.ErrUnknownRef)
		wantError(t, err, "Unknown ref e2", "gone from the page", "new snapshot")
		snapshot(t, tab, page.SnapshotOptions{})
	}
	browsertest.WantJS(t, tab, "hits", `[]`)
}

func TestRefOfReplacedElementIsGone(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	js(t, tab, "l.innerHTML = l.innerHTML")
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: "e1"})
	wantError(t, err, "gone from the page")
}

func TestRefEndsWithItsDocument(t *testing.T) {
	srv := site(t, map[string]string{"/": rows, "/other": `<button>Other</button>`})
	tab := openTab(t, srv.URL)
	ref := refOf(t, tab, "Delete")
	browsertest.Navigate(t, tab, srv.URL+"/other")
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
	wantError(t, err, "Unknown ref e1", "new snapshot")
	browsertest.Must(t, browsertest.Err(tab.Back(t.Context())))
	_, err = tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
	wantError(t, err, "Unknown ref e1")
}

func TestRefSpellings(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	for _, ref := range []string{"e2", "@e2", "ref=e2", "2", "E2", "[ref=e2]", " e2 "} {
		click(t, tab, ref)
	}
	browsertest.WantJS(t, tab, "hits.join('')", `"bbbbbbb"`)
	for _, ref := range []string{"e", "x5", "e-1", "e0", "f0e1", "fe1", "e1 e2", "e99999999999999999999", "button"} {
		if _, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref}); !errors.Is(err, page.ErrInvalid) {
			t.Errorf("ref %q: got %v, want it refused", ref, err)
		}
	}
	for _, ref := range []string{"e77", "f9e1"} {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
		wantError(t, err, "Unknown ref "+ref, "new snapshot")
	}
}

func TestRefOfOddNames(t *testing.T) {
	names := []string{
		strings.Repeat("x", 901), strings.Repeat("long ", 180) + "x", strings.Repeat("x", 898) + "\U0001F600\U0001F600", "\u200b\u200b", "\u200d\ufeff",
		`"quoted"`, `back\slash`, "\U0001F600", "- button", "[ref=e1]", "", "", "a: b",
	}
	const buttons = `<body><script>window.hits = []; const names = NAMES;
		names.forEach((name, i) => { const b = document.createElement('button'); b.textContent = name; b.onclick = () => top.hits.push(i); document.body.append(b) })</script>`
	text, err := json.Marshal(names)
	browsertest.Must(t, err)
	html := strings.Replace(buttons, "NAMES", string(text), 1)
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{"/": "<!doctype html><meta charset=utf-8>" + html, "/outer": "<!doctype html><script>window.hits = []</script><iframe width=900 height=900 src=/ title=In>"})
	modes := map[string]page.SnapshotOptions{
		"own": {}, "role": {Refs: page.RefsRole}, "aria": {Refs: page.RefsAria},
		"frame": {Refs: page.RefsRole, Frame: "iframe"}, "frame by ref": {Refs: page.RefsRole, Frame: "e1"},
	}
	for mode, opts := range modes {
		t.Run(mode, func(t *testing.T) {
			path := "/"
			if opts.Frame != "" {
				path = "/outer"
			}
			tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL + path})
			snapshot(t, tab, page.SnapshotOptions{})
			clickAll(t, tab, snapshot(t, tab, opts).Refs(), len(names))
		})
	}
	t.Run("tree", func(t *testing.T) {
		tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
		nodes, err := tab.AccessibilityTree(t.Context(), 0, 0)
		browsertest.Must(t, err)
		var refs []page.Ref
		for _, n := range nodes {
			if n.Role == "button" {
				refs = append(refs, page.Ref{Ref: n.Ref})
			}
		}
		clickAll(t, tab, refs, len(names))
	})
}

// clickAll clicks on each ref and wants each of n buttons to be hit once, in order.
func clickAll(t *testing.T, tab *page.Tab, refs []page.Ref, n int) {
	t.Helper()
	if len(refs) != n {
		t.Fatalf("got %d refs, want %d", len(refs), n)
	}
	want := make([]string, n)
	for i, r := range refs {
		click(t, tab, r.Ref)
		want[i] = strconv.Itoa(i)
	}
	browsertest.WantEqual(t, jsString(t, tab, "hits.join()"), strings.Join(want, ","))
}
