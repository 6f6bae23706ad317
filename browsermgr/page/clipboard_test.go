package page_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"clank/browsermgr/cdp"
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

// What a page's own button copies is pasted by keys in that page, though its clipboard is not the browser's.
func TestKeysPasteWhatThePagesScriptsCopied(t *testing.T) {
	url := site(t, map[string]string{"/": "<!doctype html>" + editing + `<textarea id=area></textarea>
		<button id=write>Copy</button><button id=items>Copy</button><button id=old>Copy</button><button id=own>Copy</button>
		<button id=range>Copy</button><script>
		const done = () => log.push('copied'), failed = (e) => log.push(e.name);
		write.onclick = () => navigator.clipboard.writeText('by writeText').then(done, failed);
		items.onclick = () => navigator.clipboard.write([new ClipboardItem({'text/plain': new Blob(['by write'], {type: 'text/plain'})})])
			.then(done, failed);
		old.onclick = () => { a.select(); document.execCommand('copy') && done() };
		range.onclick = () => { getSelection().selectAllChildren(text); document.execCommand('copy') && done() };
		own.onclick = () => { // as copy-to-clipboard does
			const span = document.body.appendChild(document.createElement('span'));
			span.textContent = 'shown';
			span.oncopy = (e) => { e.stopPropagation(); e.preventDefault(); e.clipboardData.setData('text/plain', 'by its handler') };
			getSelection().selectAllChildren(span);
			document.execCommand('copy') && done();
			span.remove();
		};</script>`}).URL
	for name, onScreen := range map[string]bool{"headless": false, "on screen": true} {
		t.Run(name, func(t *testing.T) {
			b := browser.Connect(t, page.Options{Started: true, OnScreen: onScreen})
			id, err := b.NewContext(browsertest.Within(t, browsertest.Patience), "")
			check.Must(t, err)
			tab := browsertest.Tab(t, b, page.TabOptions{URL: url, ContextID: id})
			paste := func(into string) string {
				act(t, tab, evaluate(`() => { `+into+`.focus(); getSelection().selectAllChildren(rich); `+into+`.select?.() }`))
				act(t, tab, chord("Control+v"))
				return jsString(t, tab, `() => `+into+`.value ?? `+into+`.textContent`)
			}
			for _, c := range []struct{ button, into, want string }{
				{"write", "b", "by writeText"},
				{"items", "area", "by write"},
				{"old", "rich", "first words"},
				{"own", "b", "by its handler"},
				{"range", "b", "plain text"},
			} {
				act(t, tab, evaluate(`() => { log.length = 0 }`))
				act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "#" + c.button})
				act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: `() => log.includes('copied')`})
				if onScreen && c.button == "own" {
					c.want = "shown" // its handler is not called
				}
				browsertest.WantEqual(t, paste(c.into), c.want)
			}
			act(t, tab, evaluate(`() => a.select()`))
			act(t, tab, chord("Control+c"))
			browsertest.WantEqual(t, paste("b"), "first words")
			act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "#write"})
			other := browsertest.Tab(t, b, page.TabOptions{URL: url, ContextID: id})
			act(t, other, evaluate(`() => b.focus()`))
			act(t, other, chord("Control+v"))
			browsertest.WantEqual(t, jsString(t, other, `() => b.value`), "first words") // what keys copied, not the other page
			check.Must(t, b.CloseContext(browsertest.Within(t, browsertest.Patience), id))
		})
	}
}

// What a page's scripts copied is pasted in frames of its origin and out of them, but not across origins.
func TestWhatAPageCopiedStaysWithItsOrigin(t *testing.T) {
	part := func(name string) string {
		return `<input id=a value="of ` + name + `"><button onclick="a.select(); document.execCommand('copy')">Copy ` + name +
			`</button><input aria-label="Into ` + name + `">`
	}
	inner := func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, "<!doctype html>"+part(strings.TrimPrefix(r.URL.Path, "/")))
	}
	neighbour := browsertest.Serve(t, inner) // another port: another origin of the same site, in the same process
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			inner(w, r)
			return
		}
		browsertest.HTML(w, "<!doctype html>"+part("top")+`<iframe src=/same></iframe><iframe src="`+neighbour.URL+
			`/neighbour"></iframe><iframe sandbox=allow-scripts src=/sandboxed></iframe><iframe src="`+foreign(srv)+
			`/foreign"></iframe>`)
	})
	tab := openTab(t, srv.URL)
	seen := func(line string) {
		t.Helper()
		browsertest.Eventually(t, "the page shows "+line, func() bool {
			return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, line)
		})
	}
	paste := func(from, into, want string) {
		t.Helper()
		click(t, tab, refOf(t, tab, `"Copy `+from+`"`))
		field := refOf(t, tab, `"Into `+into+`"`)
		act(t, tab, page.Action{Kind: actiontable.KindType, Ref: field, Text: "nothing"})
		act(t, tab, page.Action{Kind: actiontable.KindPress, Ref: field, Key: "Control+a"})
		act(t, tab, chord("Control+v"))
		got := regexp.MustCompile(`"Into ` + into + `".*: (.*)`).FindStringSubmatch(snapshot(t, tab, page.SnapshotOptions{}).Text)
		if got == nil || got[1] != want {
			t.Errorf("from %s into %s: got %q, want %q", from, into, got, want)
		}
	}
	for _, name := range []string{"same", "neighbour", "sandboxed", "foreign"} {
		seen("Copy " + name)
		if name == "same" {
			paste("top", name, "of top")
			paste(name, "top", "of same")
			continue
		}
		paste("top", name, "nothing")
		paste(name, "top", "of top")
		paste(name, name, "of "+name)
	}
}

// A page that replaces what the browser gives it, under a strict policy, neither breaks nor sees how its copies are
// kept.
func TestAPageCannotMeddleWithItsCopies(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-1'; "+
			"require-trusted-types-for 'script'; trusted-types 'none'")
		browsertest.HTML(w, `<!doctype html><input id=a value=first><input id=b><button id=go>Go</button><script nonce=1>
			window.seen = [];
			const watch = (of, name) => {
				const real = of[name];
				of[name] = function (...args) {
					seen.push(name + ' ' + (args[0]?.type ?? args[0]));
					return new.target ? new real(...args) : real.apply(this, args);
				};
			};
			for (const [of, ...names] of [[JSON, 'stringify', 'parse'], [window, 'CustomEvent', 'Event', 'Proxy'], [Date, 'now'],
				[EventTarget.prototype, 'addEventListener', 'removeEventListener', 'dispatchEvent'], [Reflect, 'apply']])
				for (const name of names) watch(of, name);
			go.onclick = () => run().then(() => window.said = 'done', (e) => window.said = e.name);
		</script>`)
	})
	tab := openTab(t, srv.URL)
	for _, c := range []struct{ run, says, pasted, fails string }{
		{run: `navigator.clipboard.writeText('text')`, says: "done", pasted: "text"},
		{run: `navigator.clipboard.writeText({ toString: () => 'made' })`, says: "done", pasted: "made"},
		{run: `Promise.resolve(a.select(), document.execCommand('copy'))`, says: "done", pasted: "first"},
		{run: `navigator.clipboard.writeText('x'.repeat(2 ** 20 + 1))`, says: "done", fails: "more than 1048576 characters"},
		{
			run:  `navigator.clipboard.write([new ClipboardItem({ 'text/plain': new Blob(['ä'.repeat(2 ** 20 + 1)], { type: 'text/plain' }) })])`,
			says: "done", fails: "more than 1048576 characters",
		},
		{run: `navigator.clipboard.writeText('short')`, says: "done", pasted: "short"},
		{run: `navigator.clipboard.writeText()`, says: "TypeError", pasted: "short"},
		{run: `Clipboard.prototype.writeText.call({}, 'foreign')`, says: "TypeError", pasted: "short"},
		{run: `navigator.clipboard.write('none')`, says: "TypeError", pasted: "short"},
	} {
		act(t, tab, evaluate(`() => { b.value = ''; seen.length = 0; window.said = ''; window.run = () => `+c.run+` }`))
		act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "#go"})
		act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: `() => said`})
		act(t, tab, evaluate(`() => b.focus()`))
		_, err := tab.Act(browsertest.Within(t, browsertest.Patience), chord("Control+v"))
		if c.fails != "" {
			check.Fails(t, err, page.ErrInvalid, c.fails)
		} else {
			check.Must(t, err)
		}
		browsertest.WantEqual(t, jsString(t, tab, `() => said + ' ' + b.value`), c.says+" "+c.pasted)
		browsertest.WantEqual(t, jsString(t, tab, `() => seen.join()`), "")
	}
	browsertest.WantEqual(t, jsString(t, tab, `() => [Clipboard.prototype.writeText.name, Clipboard.prototype.write.length,
		Object.keys(window).join().match(/clank|copied/i)].join()`), "writeText,1,")
}

// A secret that a page copies is not pasted anywhere, not even in its own page.
func TestASecretThatAPageCopiesIsNotPasted(t *testing.T) {
	url := site(t, map[string]string{"/": `<!doctype html><input id=b><button id=copy>Copy</button><script>
		copy.onclick = () => navigator.clipboard.writeText('my hunter' + 2).then(() => window.said = true);
		b.onpaste = (e) => window.told = e.clipboardData.getData('text/plain')</script>`}).URL
	tab := browser.Page(t, page.Options{Options: cdp.Options{Redact: func(message []byte) []byte {
		return bytes.ReplaceAll(message, []byte("hunter2"), []byte("[secret]"))
	}}}, url)
	act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "#copy"})
	act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: `() => window.said`})
	act(t, tab, evaluate(`() => b.focus()`))
	act(t, tab, chord("Control+v"))
	browsertest.WantEqual(t, jsString(t, tab, `() => String([told.length, b.value.length])`), "11,11")
}

// Input that is not one of our keys would paste the browser's clipboard.
func TestNoKeyReachesTheBrowsersOwnClipboard(t *testing.T) {
	tab := show(t, editing)
	act(t, tab, evaluate(`() => { a.select(); document.execCommand('copy') }`))
	act(t, tab, page.Action{Kind: actiontable.KindReload})
	act(t, tab, evaluate(`() => b.focus()`))
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
