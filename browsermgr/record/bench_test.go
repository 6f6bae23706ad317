package record_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
)

// quietAndRecorded runs a benchmark without and with a recorder.
func quietAndRecorded(b *testing.B, html string, run func(b *testing.B, tab *page.Tab)) {
	b.Helper()
	for _, recorded := range []bool{false, true} {
		name := map[bool]string{false: "quiet", true: "recorded"}[recorded]
		b.Run(name, func(b *testing.B) {
			var opts page.Options
			if recorded {
				opts.Observers = []page.Observer{record.NewRecorder()}
			}
			run(b, browsertest.Tab(b, browser.Connect(b, opts), page.TabOptions{URL: browsertest.Routes(b, map[string]any{"/": html})}))
		})
	}
}

func BenchmarkClick(b *testing.B) {
	quietAndRecorded(b, `<button onclick="this.textContent++">0</button>`, func(b *testing.B, tab *page.Tab) {
		b.Helper()
		for b.Loop() {
			if _, err := tab.Act(b.Context(), page.Action{Kind: actiontable.KindClick, Selector: "button"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	quietAndRecorded(b, strings.Repeat(`<p>Row <a href=/x>Open</a><button>Edit</button>`, 2500), func(b *testing.B, tab *page.Tab) {
		b.Helper()
		for b.Loop() {
			if _, err := tab.Snapshot(b.Context(), page.SnapshotOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNavigate(b *testing.B) {
	quietAndRecorded(b, `<p>quiet`, func(b *testing.B, tab *page.Tab) {
		b.Helper()
		url := tab.URL()
		for b.Loop() {
			if _, err := tab.Navigate(b.Context(), url); err != nil {
				b.Fatal(err)
			}
		}
	})
}
