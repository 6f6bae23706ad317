package login_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

// showing is a login form with the usual ways to show a password: one changes the field's type, one puts another field in its place.
const showing = `<form onsubmit="return false"><input id=u name=user><input id=p type=password name=pass>
	<button type=button id=show onclick="p.type = p.type === 'text' ? 'password' : 'text'">Show password</button>
	<button type=button id=swap onclick="q.value = p.value; q.hidden = false; p.hidden = true">Show it here</button>
	<input id=q hidden></form><p><span id=said>nothing</span></p><input id=other value="not secret">`

// listening is a page of somebody else: it tells what is put into its field.
const listening = `<input id=box><script>box.oninput = () => fetch('/got?' + encodeURIComponent(box.value))</script>`

// do does actions one after the other, and returns the error of the first that fails.
func do(tb testing.TB, tab *page.Tab, actions ...page.Action) error {
	tb.Helper()
	for _, a := range actions {
		if _, err := tab.Act(browsertest.Within(tb, 30*time.Second), a); err != nil {
			return err
		}
	}
	return nil
}

func press(chord string) page.Action { return page.Action{Kind: actiontable.KindPress, Key: chord} }

func click(selector string) page.Action {
	return page.Action{Kind: actiontable.KindClick, Selector: selector}
}

// told is what the other page tells of its field after a paste into it.
func told(tb testing.TB, tab *page.Tab, got <-chan string) string {
	tb.Helper()
	browsertest.Must(tb, do(tb, tab, click("#box"), press("Control+v"), page.Action{Kind: actiontable.KindPress, Key: "End"}, page.Action{Kind: actiontable.KindInsertText, Text: "|end"}))
	for {
		select {
		case s := <-got:
			if text, ok := strings.CutSuffix(s, "|end"); ok {
				return text
			}
		case <-time.After(20 * time.Second):
			tb.Fatal("the other page told nothing")
		}
	}
}

// listener serves the other page and passes on what it tells.
func listener(tb testing.TB) (origin string, got <-chan string) {
	tb.Helper()
	heard := make(chan string, 64)
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/got" {
			text, err := url.PathUnescape(r.URL.RawQuery)
			browsertest.Must(tb, err)
			heard <- text
			return
		}
		browsertest.HTML(w, listening)
	}).URL, heard
}

// A model that believes a page may try to carry a password to it: by showing, copying and pasting it.
func TestAPasswordIsNotCopiedOutOfItsPage(t *testing.T) {
	elsewhere, got := listener(t)
	for name, steps := range map[string][]page.Action{
		"shown":               {click("#show"), click("#p"), press("Control+a"), press("Control+c")},
		"cut":                 {click("#show"), click("#p"), press("Control+a"), press("Control+x")},
		"in another field":    {click("#swap"), click("#q"), press("Control+a"), press("Control+c")},
		"with Insert":         {click("#show"), click("#p"), press("Control+a"), press("Control+Insert")},
		"with Shift+Delete":   {click("#show"), click("#p"), press("Control+a"), press("Shift+Delete")},
		"with held Control":   {click("#show"), click("#p"), press("Control+a"), {Kind: actiontable.KindKeyDown, Key: "Control"}, press("c"), {Kind: actiontable.KindKeyUp, Key: "Control"}},
		"a part of it":        {click("#show"), click("#p"), press("Home"), press("Shift+ArrowRight"), press("Shift+ArrowRight"), press("Control+c")},
		"from the whole page": {click("#show"), click("#said"), press("Control+a"), press("Control+c")},
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, showing)
			if err := do(t, tab, click("#other"), press("Control+a"), press("Control+c")); err != nil {
				t.Fatalf("nothing is filled in yet: %v", err)
			}
			browsertest.Must(t, browsertest.Err(fill(t, tab, origin)))
			err := do(t, tab, steps...)
			if err == nil || !strings.Contains(err.Error(), "kept login") || strings.Contains(err.Error(), word) {
				t.Errorf("copied, and the error is %v", err)
			}
			browsertest.Must(t,
				browsertest.Err(tab.Act(browsertest.Within(t, 30*time.Second), page.Action{Kind: actiontable.KindKeyUp, Key: "Control"})))
			browsertest.Navigate(t, tab, elsewhere+"/")
			browsertest.WantEqual(t, told(t, tab, got), "not secret")
		})
	}
}

// send sends input to the page as the browser gives it, past what an action is refused for.
func send(tb testing.TB, tab *page.Tab, events ...proto.Request) {
	tb.Helper()
	for _, ev := range events {
		browsertest.Must(tb, tab.MainFrame().Do(browsertest.Within(tb, 30*time.Second), ev))
	}
}

// An editor command may come by another way than a key that is known, such as a menu.
func TestThePageItselfRefusesToCopyAPassword(t *testing.T) {
	elsewhere, got := listener(t)
	for name, steps := range map[string][]page.Action{
		"shown":               {click("#show"), click("#p")},
		"in another field":    {click("#swap"), click("#q")},
		"focused by a script": {click("#swap"), {Kind: actiontable.KindEvaluate, Fn: `() => q.focus()`}},
		"in a text":           {{Kind: actiontable.KindEvaluate, Fn: `() => { said.textContent = p.value }`}, click("#said")},
		"in a shadow tree": {{Kind: actiontable.KindEvaluate, Fn: `() => {
			const r = said.attachShadow({mode: 'open'});
			r.innerHTML = '<textarea id=a></textarea>';
			r.firstChild.value = p.value;
			r.firstChild.focus();
		}`}},
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, showing)
			browsertest.Must(t, do(t, tab, click("#other"), press("Control+a"), press("Control+c")))
			browsertest.Must(t, browsertest.Err(fill(t, tab, origin)))
			browsertest.Must(t, do(t, tab, append(steps, press("Control+a"))...))
			send(t, tab,
				proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10", Commands: []string{"copy"}},
				proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10", Commands: []string{"cut"}})
			browsertest.Navigate(t, tab, elsewhere+"/")
			if got := told(t, tab, got); strings.Contains(got, word[:4]) {
				t.Errorf("the other page got %q", got)
			}
		})
	}
}

func TestAPasswordThatWasFilledInIsNotShown(t *testing.T) {
	tab, origin := show(t, showing)
	browsertest.Must(t, do(t, tab, click("#show")))
	browsertest.WantEqual(t, js(t, tab, `() => p.type`), "text")
	browsertest.Must(t, do(t, tab, click("#show")))
	browsertest.Must(t, browsertest.Err(fill(t, tab, origin)))
	browsertest.Must(t, do(t, tab, click("#show")))
	browsertest.WantEqual(t, js(t, tab, `() => p.type + ' ' + p.value`), "password "+word)
	browsertest.Must(t, do(t, tab, click("#swap"), click("#q")))
	browsertest.WantEqual(t, js(t, tab, `() => q.type`), "password")
	// A page that insists loses the word, and does not keep the browser busy.
	js(t, tab, `() => { new MutationObserver(() => { if (p.type !== 'text') p.type = 'text' }).observe(p, {attributes: true}); p.type = 'text'; return '' }`)
	browsertest.WantEqual(t, js(t, tab, `() => p.value`), "")
}

func TestALoginThatWasNotSentIsNotLeftBehind(t *testing.T) {
	elsewhere, _ := listener(t)
	tab, origin := show(t, showing)
	browsertest.Must(t, browsertest.Err(fill(t, tab, origin)))
	browsertest.Must(t, do(t, tab, click("#swap"), page.Action{Kind: actiontable.KindType, Selector: "#other", Text: "typed"}))
	browsertest.WantEqual(t, js(t, tab, `() => p.value + ' ' + q.value`), word+" "+word)
	browsertest.Navigate(t, tab, elsewhere+"/")
	browsertest.Must(t, browsertest.Err(tab.Back(browsertest.Within(t, 30*time.Second))))
	browsertest.WantEqual(t, js(t, tab, `() => p.value + '|' + q.value + '|' + other.value`), "||typed")
}

func TestAPasswordInATextIsNotDragged(t *testing.T) {
	tab, origin := show(t, showing)
	drag := func(text string) string {
		js(t, tab, `() => { other.value = ''; said.textContent = `+text+`; getSelection().selectAllChildren(said); return '' }`)
		browsertest.Must(t, do(t, tab, page.Action{Kind: actiontable.KindDrag, StartSelector: "#said", EndSelector: "#other"}))
		return js(t, tab, `() => other.value`)
	}
	browsertest.WantEqual(t, drag(`'nothing to hide'`), "nothing to hide")
	browsertest.Must(t, browsertest.Err(fill(t, tab, origin)))
	browsertest.WantEqual(t, drag(`p.value`), "")
	browsertest.WantEqual(t, drag(`(p.value = '', 'nothing to hide')`), "nothing to hide")
}
