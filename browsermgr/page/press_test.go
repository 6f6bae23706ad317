package page_test

import (
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// What a key led to is read from the title as it was when press returned: nothing in between gives the page time.
func TestPressReturnsWhenWhatItSetOffHasRun(t *testing.T) {
	tests := map[string]string{
		"a handler of the key that goes up": `onkeyup = () => document.title = 'done'`,
		"a slow handler of the key that goes down": `onkeydown = () => {
			for (const end = performance.now() + 200; performance.now() < end;); document.title = 'done' }`,
		"a timer that is due":         `onkeyup = () => setTimeout(() => document.title = 'done')`,
		"a message":                   `const c = new MessageChannel; c.port1.onmessage = () => document.title = 'done'; onkeyup = () => c.port2.postMessage(0)`,
		"an answer of the server":     `onkeyup = () => fetch('/').then(() => document.title = 'done')`,
		"a page that keeps keys back": `addEventListener('keyup', (e) => { e.stopImmediatePropagation(); setTimeout(() => document.title = 'done') }, true)`,
	}
	tab := openTab(t, "")
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			browsertest.Navigate(t, tab, site(t, map[string]string{"/": "<script>" + script + "</script>"}).URL)
			for range 2 {
				act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: "document.title = 'Test'"})
				act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "Control+Shift+a"})
				browsertest.WantEqual(t, tab.Title(), "done")
			}
		})
	}
}

func TestPressInAFrameReturnsWithoutWaitingForItsKeysHere(t *testing.T) {
	srv := site(t, map[string]string{
		"/near":  `<iframe title=In src=/frame></iframe>`,
		"/far":   `<iframe title=In ></iframe><script>document.querySelector('iframe').src = location.href.replace('127.0.0.1', 'localhost').replace('far', 'frame')</script>`,
		"/frame": `<input aria-label=Field><p id=p>nothing</p><script>onkeyup = () => setTimeout(() => p.textContent = 'seen')</script>`,
	})
	for _, path := range []string{"/near", "/far"} {
		tab := openTab(t, srv.URL+path)
		shows := func(text string) func() bool {
			return func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, text) }
		}
		browsertest.Eventually(t, "it shows", shows("Field"))
		act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, "Field")})
		begin := time.Now()
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "a"})
		if took := time.Since(begin); took > atOnce {
			t.Errorf("%s: press took %s", path, took)
		}
		browsertest.Eventually(t, "it shows", shows("seen"))
	}
}

func TestPressThatOpensADialogLeavesNothingBehind(t *testing.T) {
	tab := show(t, `<script>onkeydown = (e) => { if (e.key === 'd') alert('Hello') }; onkeyup = (e) => setTimeout(() => document.title = e.key)</script>`)
	if res := act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "d"}); !res.BlockedByDialog {
		t.Fatalf("got %+v, want the dialog", res)
	}
	browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	for _, key := range []string{"x", "y"} {
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: key})
		browsertest.WantEqual(t, tab.Title(), key)
	}
}
