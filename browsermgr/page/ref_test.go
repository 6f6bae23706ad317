package page_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/page"
)

const rows = `<ul id=l><li><button onclick="hit('a')">Delete</button><li><button onclick="hit('b')">Delete</button><li><button onclick="hit('c')">Delete</button></ul>
	<script>window.hits = []; function hit(x) { hits.push(x) }</script>`

func TestRefSurvivesReordering(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "l.append(l.firstElementChild)")
	click(t, tab, refs[0].Ref)
	if got := js(t, tab, "hits"); got != `["a"]` {
		t.Errorf("got clicks %s, want the element of the first snapshot", got)
	}
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
		_, err := tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: refs[1].Ref})
		if !errors.Is(err, page.ErrUnknownRef) {
			t.Fatalf("got %v, want an unknown ref", err)
		}
		wantError(t, err, "Unknown ref e2", "gone from the page", "new snapshot")
		snapshot(t, tab, page.SnapshotOptions{})
	}
	if got := js(t, tab, "hits"); got != `[]` {
		t.Errorf("got clicks %s, want none", got)
	}
}

func TestRefOfReplacedElementIsGone(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	js(t, tab, "l.innerHTML = l.innerHTML")
	_, err := tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: "e1"})
	wantError(t, err, "gone from the page")
}

func TestRefEndsWithItsDocument(t *testing.T) {
	srv := site(t, map[string]string{"/": rows, "/other": `<button>Other</button>`})
	tab := openTab(t, srv.URL)
	ref := refOf(t, tab, "Delete")
	if _, err := tab.Navigate(t.Context(), srv.URL+"/other"); err != nil {
		t.Fatal(err)
	}
	_, err := tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: ref})
	wantError(t, err, "Unknown ref e1", "new snapshot")
	if _, err := tab.Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: ref})
	wantError(t, err, "Unknown ref e1")
}

func TestRefSpellings(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	for _, ref := range []string{"e2", "@e2", "ref=e2", "2", "E2", "[ref=e2]", " e2 "} {
		click(t, tab, ref)
	}
	if got := js(t, tab, "hits.join('')"); got != `"bbbbbbb"` {
		t.Errorf("got clicks %s, want seven on b", got)
	}
	for _, ref := range []string{"e", "x5", "e-1", "e0", "f0e1", "fe1", "e1 e2", "e99999999999999999999", "button"} {
		if _, err := tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: ref}); !errors.Is(err, page.ErrInvalid) {
			t.Errorf("ref %q: got %v, want it refused", ref, err)
		}
	}
	for _, ref := range []string{"e77", "f9e1"} {
		_, err := tab.Act(t.Context(), page.Action{Kind: page.KindClick, Ref: ref})
		wantError(t, err, "Unknown ref "+ref, "new snapshot")
	}
}

func TestRefOfOddNames(t *testing.T) {
	names := []string{strings.Repeat("long ", 180) + "x", "\u200b\u200b", `"quoted"`, `back\slash`, "\U0001F600", "- button", "[ref=e1]", "", ""}
	var html strings.Builder
	for i, name := range names {
		html.WriteString(`<button data-i=` + string(rune('0'+i)) + `></button>`)
		_ = name
	}
	tab := show(t, html.String()+`<script>window.hits=''; addEventListener('click', e => hits += e.target.dataset.i)</script>`)
	for i, name := range names {
		act(t, tab, page.Action{Kind: page.KindEvaluate, Fn: "document.querySelectorAll('button')[" + string(rune('0'+i)) + "].textContent = " + quoteJS(name)})
	}
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	if len(refs) != len(names) {
		t.Fatalf("got %d refs, want %d", len(refs), len(names))
	}
	for _, r := range refs {
		click(t, tab, r.Ref)
	}
	if got := js(t, tab, "hits"); got != `"012345678"` {
		t.Errorf("got clicks %s, want each button once", got)
	}
}

func quoteJS(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
