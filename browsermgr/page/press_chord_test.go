package page_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// browserChords are presses that a browser's own window would act on.
const browserChords = `Control+w Control+F4 Alt+F4 Control+Shift+q Meta+q Control+t Control+n Control+Shift+n F12 Control+Shift+i Control+Shift+j
	Control+u Control+s Control+o Control+p Control+l F6 F1 F5 F11 Control+r Control+f Control+- Control++ Control+Tab Control+1 Alt+ArrowLeft Alt+Home
	Shift+Escape Control+Shift+Delete`

func TestChordsStayInThePage(t *testing.T) {
	srv := site(t, map[string]string{"/": `<input id=i autofocus><script>let seen = 0; addEventListener('keydown', () => seen++)</script>`})
	b := browser.Connect(t, page.Options{})
	other := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL + "/?other"})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL + "/"})
	state := func() string {
		return browsertest.JS(t, tab, `() => [location.href, document.visibilityState, devicePixelRatio, innerWidth, innerHeight, !!document.fullscreenElement, history.length].join(' ')`)
	}
	tabs := func() string {
		var urls []string
		for _, x := range b.Tabs() {
			urls = append(urls, x.URL())
		}
		return strings.Join(urls, " ")
	}
	browsertest.JS(t, tab, `() => document.getElementById('i').focus()`)
	before, open := state(), tabs()
	for chord := range strings.FieldsSeq(browserChords) {
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: chord})
		if got := tabs(); got != open {
			t.Fatalf("%s: the tabs are %s, want %s", chord, got, open)
		}
	}
	if got := browsertest.JS(t, tab, `() => String(seen >= 30)`); !strings.Contains(got, "true") {
		t.Error("the page has not seen the keys, or is a new one")
	}
	browsertest.WantEqual(t, state(), before)
	act(t, tab, page.Action{Kind: actiontable.KindInsertText, Text: "still here", Clear: true})
	if got := browsertest.JS(t, tab, `() => document.getElementById('i').value`); !strings.Contains(got, "still here") {
		t.Errorf("what was typed is %s", got)
	}
	if got := browsertest.JS(t, other, `() => location.search`); !strings.Contains(got, "other") {
		t.Errorf("the other tab is at %s", got)
	}
}
