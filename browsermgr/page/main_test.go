package page_test

import (
	"os"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// openTab shows an address in a tab and a connection for this test alone.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return browser.Page(tb, page.Options{}, url)
}

func TestATabOfAnEarlierTestHasNoHistory(t *testing.T) {
	srv := site(t, map[string]string{"/": "<p>One", "/two": "<p>Two"})
	earlier := ""
	t.Run("earlier", func(t *testing.T) {
		tab := openTab(t, srv.URL)
		earlier = tab.TargetID()
	})
	t.Run("later", func(t *testing.T) {
		tab := openTab(t, srv.URL+"/two")
		if tab.TargetID() != earlier {
			t.Log("the earlier tab was too slow to be kept")
			return
		}
		if _, err := tab.Back(t.Context()); err == nil {
			t.Errorf("went back to %s", tab.URL())
		}
	})
}
