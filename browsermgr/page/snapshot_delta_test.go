package page_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
)

// fresh takes a compared snapshot and checks how many elements it calls new; -1 for one that has nothing to compare with.
func fresh(t *testing.T, tab *page.Tab, opts page.SnapshotOptions, want int) page.Snapshot {
	t.Helper()
	opts.Delta = true
	snap := snapshot(t, tab, opts)
	got := -1
	if snap.NewElements != nil {
		got = *snap.NewElements
	}
	if got != want || strings.Count(snap.Text, " [new]") != max(want, 0) {
		t.Errorf("got %d new elements, want %d, in\n%s", got, want, snap.Text)
	}
	if footer := strings.Contains(snap.Text, "new element(s) since last snapshot"); footer != (want > 0) {
		t.Errorf("got a footer %v in\n%s", footer, snap.Text)
	}
	return snap
}

func TestSnapshotsAreComparedWithThePrevious(t *testing.T) {
	tab := show(t, `<button id=b>Go</button>`)
	role, aria := page.SnapshotOptions{Refs: page.RefsRole}, page.SnapshotOptions{Refs: page.RefsAria}
	fresh(t, tab, role, -1)
	fresh(t, tab, aria, -1)
	fresh(t, tab, role, 0)
	js(t, tab, "b.after('text', Object.assign(b.cloneNode(true), {id: 'c'}))")
	browsertest.WantContains(t, fresh(t, tab, role, 1).Text, "- button \"Go\" [ref=e2] [nth=1] [new]", "\n\n1 new element(s) since last snapshot")
	fresh(t, tab, role, 0)
	js(t, tab, "b.textContent = 'Went'")
	fresh(t, tab, role, 1)
	fresh(t, tab, aria, 1) // a name is nothing new there, the copy is
	fresh(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Interactive: true}, -1)
	if plain := snapshot(t, tab, role); plain.NewElements != nil {
		t.Error("a snapshot that was not to be compared was")
	}
	browsertest.Must(t, browsertest.Err(tab.Reload(t.Context())))
	fresh(t, tab, role, -1)
	fresh(t, tab, role, 0)
}

func TestComparisonBeginsAnewWithTheDocumentOfTheFrame(t *testing.T) {
	for name, html := range map[string]string{"same process": near, "other process": far} {
		t.Run(name, func(t *testing.T) {
			tab := openTab(t, scopedSite(t, html, `<button>Inner</button>`).URL)
			browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Inner") })
			opts := page.SnapshotOptions{Refs: page.RefsRole, Frame: "iframe"}
			fresh(t, tab, opts, -1)
			fresh(t, tab, opts, 0)
			js(t, tab, "new Promise(r => { const f = document.querySelector('iframe'); f.onload = () => r(1); f.src += '?2' })")
			fresh(t, tab, opts, -1)
			fresh(t, tab, opts, 0)
		})
	}
}
