package page_test

import (
	"context"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// editing has fields to copy from and paste into, and records their events.
const editing = `<input id=a value="first words"><input id=b><textarea id=c>one
two</textarea><input id=secret type=password value=hidden><p id=text>plain <b>text</b></p><div id=rich contenteditable>rich</div>
<div id=shadow></div><iframe id=f srcdoc="<input id=in value=inner>"></iframe><script>
	shadow.attachShadow({mode: 'open'}).innerHTML = '<input value=deep>';
	window.log = [];
	for (const k of ['copy', 'cut', 'paste', 'input', 'keydown'])
		addEventListener(k, (e) => log.push([k, e.inputType ?? e.key ?? e.clipboardData.getData('text/plain')].join(':')));
</script>`

func chord(key string) page.Action { return page.Action{Kind: actiontable.KindPress, Key: key} }

func evaluate(fn string) page.Action { return page.Action{Kind: actiontable.KindEvaluate, Fn: fn} }

// Keys copy and paste between pages as they do for a person, without using the browser's clipboard.
func TestKeysCopyCutAndPaste(t *testing.T) {
	const all, box = "Control+a", `() => { b.value = ''; b.focus() }`
	tab := show(t, "")
	for name, c := range map[string]struct {
		focus string
		keys  []string
		then  string // keys at the box
		want  string // what is in it
		left  string // what the page says then
		says  string
	}{
		"copy": {
			`() => a.focus()`,
			[]string{all, "Control+c"},
			"Control+v", "first words", `() => a.value`,
			"first words",
		},
		"cut": {
			`() => a.focus()`,
			[]string{all, "Control+x"},
			"Control+v", "first words", `() => a.value`,
			"",
		},
		"other keys": {
			`() => a.focus()`,
			[]string{all, "Control+Insert"},
			"Shift+Insert", "first words",
			`() => a.value`, "first words",
		},
		"Shift+Delete": {
			`() => a.focus()`,
			[]string{all, "Shift+Delete"},
			"Control+v", "first words",
			`() => a.value`, "",
		},
		"a part": {
			`() => a.focus()`,
			[]string{"Home", "Shift+ArrowRight", "Shift+ArrowRight", "Control+c"},
			"Control+v", "fi", `() => a.value`, "first words",
		},
		"lines": {
			`() => c.focus()`,
			[]string{all, "Control+c"},
			"Control+v", "one two", `() => c.value`,
			"one\ntwo",
		},
		"text": {
			`() => getSelection().selectAllChildren(text)`,
			[]string{"Control+c"},
			"Control+v",
			"plain text", `() => ''`, "",
		},
		"rich text": {
			`() => rich.focus()`,
			[]string{all, "Control+x"},
			"Control+v", "rich",
			`() => rich.textContent`, "",
		},
		"a shadow tree": {
			`() => shadow.shadowRoot.firstChild.focus()`,
			[]string{all, "Control+c"},
			"Control+v",
			"deep", `() => ''`, "",
		},
		"a frame": {
			`() => f.contentDocument.getElementById('in').focus()`,
			[]string{all, "Control+c"},
			"Control+v", "inner", `() => ''`, "",
		},
		"nothing selected": {`() => a.focus()`, []string{"Home", "Control+c"}, "Control+v", "before", `() => ''`, ""},
		"a password field": {`() => secret.focus()`, []string{all, "Control+c"}, "Control+v", "before", `() => ''`, ""},
		"a disguised field": {
			`() => { a.style.webkitTextSecurity = 'disc'; a.focus() }`,
			[]string{all, "Control+c"},
			"Control+v", "before", `() => ''`, "",
		},
		"a read-only field": {
			`() => { a.readOnly = true; a.focus() }`,
			[]string{all, "Control+x"},
			"Control+v",
			"first words", `() => a.value`, "first words",
		},
		"the page's own copy": {
			`() => { document.oncopy = (e) => { e.clipboardData.setData('text/plain', 'its own'); e.preventDefault() }; a.focus() }`, []string{all, "Control+c"}, "Control+v", "its own", `() => ''`, "",
		},
		"the page's own paste": {
			`() => { document.onpaste = (e) => { b.value = '<' + e.clipboardData.getData('text/plain') + '>'; e.preventDefault() }; a.focus() }`, []string{all, "Control+c"}, "Control+v", "<first words>", `() => ''`, "",
		},
		"keys of the page's": {
			`() => { onkeydown = (e) => { if (e.key === 'c') e.preventDefault() }; a.focus() }`,
			[]string{all, "Control+c"},
			"Control+v", "before", `() => ''`, "",
		},
		"what the page is told": {
			`() => { log.length = 0; a.focus() }`,
			[]string{"End", "Control+c"},
			"Control+v", "before",
			`() => log.join(' ')`, "keydown:End keydown:Control keydown:c copy: keydown:Control keydown:v paste:before " +
				"input:insertText",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rewrite(t, tab, editing)
			act(t, tab, evaluate(`() => { b.value = 'before'; b.focus() }`))
			act(t, tab, chord(all))
			act(t, tab, chord("Control+c"))
			act(t, tab, evaluate(c.focus))
			for _, key := range c.keys {
				act(t, tab, chord(key))
			}
			act(t, tab, evaluate(box))
			act(t, tab, chord(c.then))
			browsertest.WantEqual(t, jsString(t, tab, `() => b.value`), c.want)
			browsertest.WantEqual(t, jsString(t, tab, c.left), c.says)
		})
	}
}

func TestKeysThatAreHeldCopyAndPasteToo(t *testing.T) {
	tab := show(t, editing)
	act(t, tab, evaluate(`() => a.select()`))
	act(t, tab, page.Action{Kind: actiontable.KindKeyDown, Key: "Control"})
	for _, key := range []string{"c", "v"} {
		act(t, tab, page.Action{Kind: actiontable.KindKeyDown, Key: key})
		act(t, tab, page.Action{Kind: actiontable.KindKeyUp, Key: key})
		act(t, tab, evaluate(`() => b.focus()`))
	}
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "v", Count: 2})
	browsertest.WantEqual(t, jsString(t, tab, `() => a.value + '|' + b.value`), "first words|"+
		strings.Repeat("first words", 3))
}

// The pages of two people are in one process: nothing that one of them copies, by keys or by scripts, reaches the
// other.
func TestTheClipboardBelongsToOneContext(t *testing.T) {
	b := browser.Connect(t, page.Options{Started: true})
	url := site(t, map[string]string{"/": "<!doctype html>" + editing +
		`<button id=own>Copy</button><button id=old>Copy</button><button id=read>Paste</button><script>
		own.onclick = () => navigator.clipboard.writeText('of the first').then(() => log.push('written'), (e) => log.push(e.name));
		old.onclick = () => { a.select(); log.push(document.execCommand('copy')) };
		read.onclick = () => { navigator.clipboard.readText().then((s) => log.push('read ' + s), (e) => log.push(e.name)); b.focus(); document.execCommand('paste') };
	</script>`}).URL
	var tabs []*page.Tab
	for range 2 {
		id, err := b.NewContext(browsertest.Within(t, browsertest.Patience), "")
		check.Must(t, err)
		t.Cleanup(func() { _ = b.CloseContext(context.Background(), id) })
		tabs = append(tabs, browsertest.Tab(t, b, page.TabOptions{URL: url, ContextID: id}))
	}
	press := func(tab *page.Tab, selector string) {
		act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: selector})
	}
	press(tabs[0], "#own")
	press(tabs[0], "#old")
	act(t, tabs[0], chord("Control+a"))
	act(t, tabs[0], chord("Control+c"))
	for _, tab := range append(tabs[1:], browsertest.Tab(t, b, page.TabOptions{URL: url})) {
		act(t, tab, evaluate(`() => { log.length = 0; b.focus() }`))
		act(t, tab, chord("Control+v"))
		act(t, tab, chord("Shift+Insert"))
		press(tab, "#read")
		act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: `() => log.some((l) => /^read|Error/.test(l))`})
		if got := jsString(t, tab, `() => b.value + log.join(' ')`); !strings.Contains(got, "NotAllowedError") ||
			strings.Contains(got, "first") {
			t.Errorf("the other page has %q", got)
		}
	}
}

// Input that is not one of our keys would paste the browser's clipboard.
func TestNoKeyReachesTheBrowsersOwnClipboard(t *testing.T) {
	tab := show(t, editing)
	act(t, tab, evaluate(`() => { a.select(); document.execCommand('copy'); b.focus() }`))
	native := proto.InputDispatchKeyEvent{
		Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10",
		Commands: []string{"paste"},
	}
	check.Must(t, tab.MainFrame().Do(browsertest.Within(t, browsertest.Patience), native))
	if got := jsString(t, tab, `() => b.value`); got != "first words" {
		t.Fatalf("the browser has no clipboard to keep keys from: %q", got)
	}
	act(t, tab, evaluate(`() => { b.value = ''; b.focus() }`))
	for _, key := range []string{"Control+v", "Control+Shift+v", "Shift+Insert", "Meta+v"} {
		act(t, tab, chord(key))
	}
	browsertest.WantEqual(t, jsString(t, tab, `() => b.value`), "")
}

func TestKeysOfTheClipboardAreRefusedInAPersonsBrowser(t *testing.T) {
	tab := browser.Page(t, page.Options{Joined: true}, site(t, map[string]string{"/": editing}).URL)
	for _, key := range []string{"Control+c", "Control+x", "Control+v", "Shift+Insert"} {
		check.Fails(t, check.Err(tab.Act(browsertest.Within(t, browsertest.Patience), chord(key))), page.ErrForeignClipboard,
			"type the text")
	}
	act(t, tab, chord("Control+a"))
}

// Where the browser's clipboard is the desktop's, a page has no way to write to it, even with a user gesture of ours.
func TestPagesDoNotWriteTheDesktopsClipboard(t *testing.T) {
	url := site(t, map[string]string{"/": "<!doctype html>" + editing + `<iframe name=inner src="/in"></iframe><script>
		addEventListener('copy', (e) => { e.clipboardData.setData('text/plain', 'mark 1'); e.preventDefault(); e.stopImmediatePropagation() }, true);
		onclick = () => { a.select(); document.execCommand('copy'); navigator.clipboard.writeText('mark 2').then(() => log.push('written'), (e) => log.push(e.name)) };
	</script>`, "/in": `<!doctype html><input id=a value="mark 3"><script>onclick = () => { a.select(); document.execCommand('copy') }</script>`}).URL
	for _, onScreen := range []bool{false, true} {
		b := browser.Connect(t, page.Options{Started: true, OnScreen: onScreen})
		id, err := b.NewContext(browsertest.Within(t, browsertest.Patience), "")
		check.Must(t, err)
		tab := browsertest.Tab(t, b, page.TabOptions{URL: url, ContextID: id})
		paste := func() string {
			act(t, tab, evaluate(`() => { b.value = ''; b.focus() }`))
			native := proto.InputDispatchKeyEvent{
				Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10",
				Commands: []string{"paste"},
			}
			check.Must(t, tab.MainFrame().Do(browsertest.Within(t, browsertest.Patience), native))
			return jsString(t, tab, `() => b.value`)
		}
		before := paste()
		act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "#text"})
		act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: `() => log.some((l) => /^written|Error/.test(l))`})
		after := paste()
		act(t, tab, evaluate(`() => inner.frameElement.scrollIntoView()`))
		act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "iframe[name=inner]"})
		if inner := paste(); onScreen && (after != before || inner != before) || !onScreen &&
			(after == before || inner == after) {
			t.Errorf("on screen %v: the clipboard held %q, then %q, then %q", onScreen, before, after, inner)
		}
		check.Must(t, b.CloseContext(browsertest.Within(t, browsertest.Patience), id))
	}
}
