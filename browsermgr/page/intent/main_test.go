package intent_test

import (
	"os"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// openTab opens a tab in a connection of its own and closes both at the end.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return browsertest.Tab(tb, browser.Connect(tb, page.Options{}), page.TabOptions{URL: url})
}
