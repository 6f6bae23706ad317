package page_test

import (
	"os"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/browsertest"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// openTab shows an address in a tab and a connection for this test alone.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return browser.Page(tb, page.Options{}, url)
}
