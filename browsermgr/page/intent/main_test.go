package intent_test

import (
	"os"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/intent"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// openTab opens an address in a tab and a connection for this test only.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return browser.Page(tb, page.Options{}, url)
}

// BenchmarkLooks measures a click alone, and with the checks around it if no question is necessary.
func BenchmarkLooks(b *testing.B) {
	tab := openTab(b, site(b, `<button onclick="n = (window.n ?? 0) + 1">Count</button>`, nil))
	click := page.Action{Kind: actiontable.KindClick, Selector: "button"}
	act := func() error {
		_, err := tab.Act(b.Context(), click)
		return err
	}
	b.Run("click", func(b *testing.B) {
		for b.Loop() {
			check.Must(b, act())
		}
	})
	b.Run("held", func(b *testing.B) {
		for b.Loop() {
			if same, err := intent.PerformJudged(b.Context(), tab, click, "", act); !same || err != nil {
				b.Fatal(same, err)
			}
		}
	})
}
