package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func TestSnapshotGrammar(t *testing.T) {
	tests := []struct {
		name string
		html string
		want string
	}{
		{"heading and text", `<h2>Hello <b>you</b></h2><p>Some  text`, "- heading \"Hello you\" [level=2] [ref=e1]\n- " +
			"paragraph: Some text"},
		{"link in text", `<p>See <a href=/x>this</a> page`, "- paragraph:\n  - text: See\n  - link \"this\" [ref=e1]\n  - " +
			"text: page"},
		{
			"labelled fields", `<label>Name <input required value=Ada></label><label for=b>Mail</label><input id=b type=email placeholder=you@example.com>`,
			"- textbox \"Name\" [required] [ref=e1]: Ada\n- textbox \"Mail\" [ref=e2]:\n  - /placeholder: you@example.com",
		},
		{"placeholder as name", `<input placeholder="Search here" type=search>`, `- searchbox "Search here" [ref=e1]`},
		{
			"labelledby hidden", `<span id=x hidden>Pick one</span><select aria-labelledby=x><option>A<option selected>B</select>`,
			"- combobox \"Pick one\" [ref=e1]: B\n  - option \"A\" [ref=e2]\n  - option \"B\" [selected] [ref=e3]",
		},
		{
			"what is current, and how a column is sorted",
			`<a href=#a aria-current=page>A</a><a href=#b aria-current=x]y>B</a><a href=#c aria-current=false>C</a>
			<table><tr><th aria-sort=descending>D<th aria-sort=none>E</table>`,
			"- link \"A\" [current=page] [ref=e1]\n- link \"B\" [current] [ref=e2]\n- link \"C\" [ref=e3]\n- table:\n  " +
				"- row:\n    - columnheader \"D\" [sort=descending] [ref=e4]\n    - columnheader \"E\" [ref=e5]",
		},
		{
			"states", `<input type=checkbox checked aria-label=A><button disabled aria-pressed=true>B</button><button aria-expanded=false>C</button>`,
			"- checkbox \"A\" [checked] [ref=e1]\n- button \"B\" [disabled] [pressed] [ref=e2]\n- button \"C\" " +
				"[expanded=false] [ref=e3]",
		},
		{
			"table", `<table><tr><th>Name<th>Age<tr><td>Ada<td>36</table>`,
			"- table:\n  - row:\n    - columnheader \"Name\" [ref=e1]\n    - columnheader \"Age\" [ref=e2]\n  - row:\n    - " +
				"cell \"Ada\" [ref=e3]\n    - cell \"36\" [ref=e4]",
		},
		{
			"hidden content", `<div style=display:none>a</div><div style=visibility:hidden>b<i style=visibility:visible>seen</i></div><div aria-hidden=true>c</div><div inert><button>d</button></div><template>e</template><div hidden=until-found>f</div><div style=content-visibility:hidden>g<button>h</button></div>`,
			"- text: seen",
		},
		{
			"clickable card", `<div style=cursor:pointer><span>Clickable</span> Card</div><div onclick=1>Two</div><div tabindex=0>Three</div>`,
			"- generic \"Clickable Card\" [ref=e1] [cursor:pointer]\n- generic \"Two\" [ref=e2] [onclick]\n- generic " +
				"\"Three\" [ref=e3] [tabindex]",
		},
		{
			"image and icon buttons",
			`<img src="data:," alt="A cat"><button><img src="data:," alt=Close></button><style>i::before{content:"Menu"}</style><button class=x title="More"></button>`,
			"- img \"A cat\"\n- button \"Close\" [ref=e1]\n- button \"More\" [ref=e2]",
		},
		{"quotes and odd names", "<button>say \"hi\" \\ \U0001F600</button>", `- button "say \"hi\" \\ ` + "\U0001F600" +
			`" [ref=e1]`},
		{"text that looks like structure", `<p>- button "Fake" [ref=e99]`, `- paragraph: "- button \"Fake\" [ref=e99]"`},
		{"closed details", `<details><summary>More</summary><button>In</button></details>`, "- group:\n  - button \"More\" " +
			"[expanded=false] [ref=e1]"},
		{"role none", `<ul role=none><li role=presentation><a href=#>x</a></ul>`, `- link "x" [ref=e1]`},
		{"focus", `<input aria-label=F autofocus>`, `- textbox "F" [active] [ref=e1]`},
	}
	tab := show(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rewrite(t, tab, "<body>"+tt.html)
			got := snapshot(t, tab, page.SnapshotOptions{})
			for i, r := range got.Refs() { // the document goes on counting
				got.Text = strings.Replace(got.Text, "[ref="+r.Ref+"]", fmt.Sprintf("[ref=e%d]", i+1), 1)
			}
			browsertest.WantEqual(t, got.Text, tt.want)
		})
	}
}

func TestSnapshotMasksSecrets(t *testing.T) {
	tab := show(t, `<input type=password value=hunter2 aria-label=a><input autocomplete="one-time-code" value=123456 aria-label=b>
		<input autocomplete="section-x current-password" value=hunter3 aria-label=c><label>Key<input type=password value=hunter4></label>`)
	for _, opts := range []page.SnapshotOptions{{}, {Interactive: true}} {
		got := snapshot(t, tab, opts).Text
		for _, secret := range []string{"hunter", "123456"} {
			if strings.Contains(got, secret) {
				t.Errorf("snapshot shows a secret: %s", got)
			}
		}
		if n := strings.Count(got, "••••••••"); n != 4 {
			t.Errorf("got %d masks, want 4 in %s", n, got)
		}
	}
	text, err := tab.Text(t.Context(), refOf(t, tab, `"a"`))
	if err != nil || strings.Contains(text, "hunter") {
		t.Errorf("got text %q, %v; want a mask", text, err)
	}
}

func TestSnapshotEntersShadowRootsInFlatOrder(t *testing.T) {
	tab := show(t, `<x-card><b slot=title>Title</b><a href=/l>light</a></x-card><script>
		customElements.define('x-card', class extends HTMLElement { connectedCallback() {
			this.attachShadow({mode: 'open'}).innerHTML = '<button>first</button><slot name=title></slot><p><slot></slot></p>';
		}})</script>`)
	want := "- button \"first\" [ref=e1]\n- text: Title\n- paragraph:\n  - link \"light\" [ref=e2]"
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{}).Text, want)
	click(t, tab, "e1")
	act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "button"})
}

func TestSnapshotOptions(t *testing.T) {
	tab := show(t, `<main><nav><ul><li><a href=/a>A</a><li><a href=/a>Again</a><li><a href=/b>B</a></ul></nav>
		<section id=s><h1>H</h1><button>Go</button></section></main>`)
	zero, two := 0, 2
	tests := []struct {
		name string
		opts page.SnapshotOptions
		want string
	}{
		{"interactive", page.SnapshotOptions{Interactive: true}, "- link \"A\" [ref=e1]\n- link \"Again\" [ref=e2]\n- link " +
			"\"B\" [ref=e3]\n- button \"Go\" [ref=e5]"},
		{"compact", page.SnapshotOptions{Compact: true}, "- main:\n  - navigation:\n    - listitem:\n      - link \"A\" " +
			"[ref=e1]\n    - listitem:\n      - link \"Again\" [ref=e2]\n    - listitem:\n      - link \"B\" [ref=e3]\n  - " +
			"heading \"H\" [level=1] [ref=e4]\n  - button \"Go\" [ref=e5]"},
		{"depth 0", page.SnapshotOptions{Depth: &zero}, "- main"},
		{"depth 2", page.SnapshotOptions{Depth: &two}, "- main:\n  - navigation:\n    - list\n  - heading \"H\" [level=1] " +
			"[ref=e4]\n  - button \"Go\" [ref=e5]"},
		{"selector", page.SnapshotOptions{Selector: "#s"}, "- heading \"H\" [level=1] [ref=e4]\n- button \"Go\" [ref=e5]"},
		{"selector without a match", page.SnapshotOptions{Selector: "#nope"}, "(empty)"},
		{"depth 0 through wrappers", page.SnapshotOptions{Selector: "#s", Depth: &zero}, "- heading \"H\" [level=1] " +
			"[ref=e4]\n- button \"Go\" [ref=e5]"},
	}
	snapshot(t, tab, page.SnapshotOptions{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			browsertest.WantEqual(t, snapshot(t, tab, tt.opts).Text, tt.want)
		})
	}
	urls := snapshot(t, tab, page.SnapshotOptions{URLs: true}).Text
	check.Contains(t, urls, "\n\nLinks:\n1. A -> http://127.0.0.1", "\n2. B -> ")
	check.Fails(t, check.Err(tab.Snapshot(t.Context(), page.SnapshotOptions{Selector: "]["})), fault.ErrInvalid,
		`"][" is not a CSS selector`)
}

func TestSnapshotCutsOnWholeLines(t *testing.T) {
	tab := show(t, strings.Repeat("<p>A paragraph with \U0001F600 in it</p><button>Press</button>", 200))
	whole := snapshot(t, tab, page.SnapshotOptions{Interactive: true})
	for _, limit := range []int{1, 20, 100, 500, 5000} {
		got := snapshot(t, tab, page.SnapshotOptions{Interactive: true, MaxChars: limit})
		if n := len([]rune(got.Text)); n > limit || !got.Truncated {
			t.Errorf("limit %d: got %d characters, truncated %v", limit, n, got.Truncated)
		}
		body, _, _ := strings.Cut(got.Text, "\n\n")
		if limit >= 100 && (!strings.Contains(got.Text, "TRUNCATED") || !strings.HasPrefix(whole.Text, body+"\n")) {
			t.Errorf("limit %d: not cut on a line:\n%s", limit, got.Text)
		}
	}
	if got := snapshot(t, tab, page.SnapshotOptions{Interactive: true, MaxChars: len(whole.Text)}); got.Truncated ||
		got.Text != whole.Text {
		t.Error("a snapshot that fits was cut")
	}
}

func TestSnapshotListsRefs(t *testing.T) {
	tab := show(t, `<button>A</button><button>B</button><button>A</button>`)
	want := []page.Ref{
		{Ref: "e1", Role: "button", Name: "A", Dup: true},
		{Ref: "e2", Role: "button", Name: "B"},
		{Ref: "e3", Role: "button", Name: "A", Nth: 1, Dup: true},
	}
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{}).Refs(), want)
}

func TestTextReadsTheMainPart(t *testing.T) {
	tab := show(t, `<nav>Menu</nav><article><h1>Title</h1><p id=p>Body text</p></article><a href=/x>Out</a><a href=/x>Twice</a><button value=b>Buy</button>`)
	text, err := tab.Text(t.Context(), "")
	if err != nil || strings.Contains(text, "Menu") {
		t.Errorf("got %q, %v; want the article only", text, err)
	}
	check.Contains(t, text, "Title", "Body text")
	text, err = tab.Text(t.Context(), refOf(t, tab, `heading "Title"`))
	if err != nil || text != "Title" {
		t.Errorf("got %q, %v; want the heading's text", text, err)
	}
	text, err = tab.Text(t.Context(), refOf(t, tab, `button "Buy"`))
	if err != nil || text != "Buy" {
		t.Errorf("got %q, %v; want what the button says", text, err)
	}
	links, err := tab.Links(t.Context())
	if err != nil || len(links) != 1 || links[0].Text != "Out" {
		t.Errorf("got %v, %v; want one link", links, err)
	}
}

// btn returns a button that reports its id to the top page when clicked.
func btn(id, name string) string {
	return fmt.Sprintf(`<button id=%s onclick="top.postMessage('%s','*')">%s</button>`, id, id, name)
}

const hitLog = `<script>window.hits = []; addEventListener('message', e => hits.push(e.data))</script>`

// scopedSite serves a page and, at /frame, the page it embeds. ORIGIN in the page stands for its own site, OTHER for
// another one.
func scopedSite(t *testing.T, html, inner string) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body := hitLog + html
		if r.URL.Path == "/frame" {
			body = inner
		}
		body = strings.NewReplacer("ORIGIN", srv.URL, "OTHER", foreign(srv)).Replace(body)
		_, _ = w.Write([]byte("<!doctype html><meta charset=utf-8>" + body))
	})
	return srv
}

// scoped is a limited snapshot, a later change of the page, and the effect of clicking a ref after that.
type scoped struct {
	name  string
	html  string
	inner string // of the frame
	opts  page.SnapshotOptions
	refs  string // those of the snapshot: ref name, …; not checked if empty
	on    string // a ref the script gets as el
	js    string // happens after the snapshot
	click string
	hit   string   // id that is told
	err   []string // or what the error says
}

const (
	near = `<iframe title=In src="ORIGIN/frame"></iframe>`
	far  = `<iframe title=In src="OTHER/frame"></iframe>`
	// closed makes a closed root in #host.
	closed = `<div id=host></div><script>document.getElementById('host').attachShadow({mode: 'closed'}).innerHTML = `
)

func scopedCases() []scoped {
	role := page.SnapshotOptions{Refs: page.RefsRole}
	box := page.SnapshotOptions{Refs: page.RefsRole, Selector: "#box"}
	inFrame := page.SnapshotOptions{Refs: page.RefsRole, Frame: "iframe"}
	zero, one := 0, 1
	at := func(o page.SnapshotOptions, depth *int) page.SnapshotOptions {
		o.Depth = depth
		return o
	}
	pair := btn("o", "Go") + `<div id=box>` + btn("a", "Go") + btn("b", "Go") + `</div>`
	twins := btn("a", "Go") + btn("b", "Go")
	unknown := []string{"Unknown ref", "new snapshot"}
	return []scoped{
		{name: "selector gives only what is inside", html: pair, opts: box, refs: "e1 Go, e2 Go", click: "e1", hit: "a"},
		{name: "selector, reordered", html: pair, opts: box, js: "box.append(box.firstElementChild)", click: "e1", hit: "a"},
		{
			name: "selector, moved out of the scope", html: pair, opts: box, js: "document.body.append(a)", click: "e1",
			hit: "a",
		},
		{
			name: "selector, removed with a neighbour inside", html: pair, opts: box, js: "a.remove()", click: "e1",
			err: unknown,
		},
		{name: "selector, removed with a neighbour outside", html: btn("o", "Go") + `<div id=box>` + btn("a", "Go") +
			`</div>`, opts: box, js: "a.remove()", click: "e1", err: unknown},
		{name: "selector, scope removed", html: pair, opts: box, js: "box.remove()", click: "e2", err: unknown},
		{
			name: "selector, neighbour inserted before", html: pair, opts: box, js: "a.before(a.cloneNode(true))", click: "e2",
			hit: "b",
		},
		{
			name: "selector is a control itself", html: btn("o", "Go") + btn("a", "Go"),
			opts: page.SnapshotOptions{Refs: page.RefsRole, Selector: "#a"}, refs: "e1 Go", click: "e1", hit: "a",
		},
		{
			name: "selector, first match only", html: `<div class=c>` + btn("a", "One") + `</div><div class=c>` +
				btn("b", "Two") + `</div>`, opts: page.SnapshotOptions{Refs: page.RefsRole, Selector: ".c"}, refs: "e1 One",
			click: "e1", hit: "a",
		},
		{
			name: "selector, hidden scope", html: `<div id=box style="display:none">` + twins + `</div>`, opts: box, click: "e1",
			err: unknown,
		},
		{
			name: "depth 0 sees through wrappers", html: `<div id=box><ul role=none><li role=presentation><span>` +
				btn("a", "Go") + `</span></ul><main>` + btn("b", "Deep") + `</main></div>`, opts: at(box, &zero), refs: "e1 Go",
			click: "e1", hit: "a",
		},
		{
			name: "depth 0, removed with a deeper neighbour", html: btn("a", "Go") + `<main>` + btn("b", "Go") + `</main>`,
			opts: at(role, &zero), js: "a.remove()", click: "e1", err: unknown,
		},
		{
			name: "interactive, reordered", html: pair, opts: page.SnapshotOptions{Refs: page.RefsRole, Interactive: true},
			refs: "e1 Go, e2 Go, e3 Go", js: "box.after(o)", click: "e1", hit: "o",
		},
		{
			name: "aria-owns order", html: `<div id=box><div aria-owns="b a">` + twins + `</div></div>`, opts: box,
			refs: "e1 Go, e2 Go", click: "e1", hit: "b",
		},
		{
			name: "open shadow before light", html: `<div id=box><x-a>` + btn("b", "Light") +
				`</x-a></div><script>document.querySelector('x-a').attachShadow({mode:'open'}).innerHTML = ` + "`" +
				btn("a", "Shadow") + `<slot></slot>` + "`" + `</script>`, opts: box, refs: "e1 Shadow, e2 Light", click: "e1",
			hit: "a",
		},
		{name: "closed shadow", html: `<div id=box>` + closed + "`<p style='padding:20px'>" + btn("a", "Go") +
			"</p>`</script></div>" + btn("o", "Go"), opts: box, refs: "e1 Go", click: "e1", hit: "a"},
		{
			name: "closed shadow, removed", html: `<script>let inner</script><div id=box>` +
				strings.Replace(closed, "document.", "inner = document.", 1) + "`" + twins + "`</script></div>",
			opts: box, on: "e1", js: "el => el.remove()", click: "e1", err: unknown,
		},
		{
			name: "same-origin frame", html: twins + near, inner: btn("in", "Go"), opts: inFrame, refs: "e1 Go", click: "e1",
			hit: "in",
		},
		{
			name: "same-origin frame, other document", html: near, inner: btn("in", "Go"), opts: inFrame,
			js:    "new Promise(r => { const f = document.querySelector('iframe'); f.onload = () => r(1); f.src += '?2' })",
			click: "e1", err: unknown,
		},
		{
			name: "frame with selector and depth", html: near, inner: `<div id=box><main>` + btn("a", "Go") + `</main></div>` +
				btn("b", "Go"), opts: page.SnapshotOptions{Refs: page.RefsRole, Frame: "iframe", Selector: "#box", Depth: &one},
			refs: "e1 Go", click: "e1", hit: "a",
		},
		{
			name: "cross-origin frame", html: twins + far, inner: btn("in", "Go"), opts: inFrame, refs: "e1 Go", click: "e1",
			hit: "in",
		},
		{
			name: "cross-origin frame, reordered", html: far, inner: twins, opts: inFrame, on: "e1",
			js: "el => el.parentNode.append(el)", click: "e1", hit: "a",
		},
		{
			name: "cross-origin frame, removed with a neighbour outside", html: twins + far, inner: btn("in", "Go"),
			opts: inFrame, on: "e1", js: "el => el.remove()", click: "e1", err: unknown,
		},
		{
			name: "cross-origin frame, frame removed", html: twins + far, inner: btn("in", "Go"), opts: inFrame,
			js: "document.querySelector('iframe').remove()", click: "e1", err: unknown,
		},
		{
			name: "closed shadow in a cross-origin frame", html: far, inner: closed + "`" + twins + "`</script>", opts: inFrame,
			refs: "e1 Go, e2 Go", click: "e2", hit: "b",
		},
		{
			name: "all frames are numbered in order", html: btn("a", "Go") + far + btn("b", "Go"), inner: btn("in", "Go"),
			opts: role, refs: "e1 Go, e2 In, e3 Go, e4 Go", click: "e3", hit: "in",
		},
		{
			name: "element after a frame of another process", html: btn("a", "Go") + far + btn("b", "Go"),
			inner: btn("in", "Go"), opts: role, click: "e4", hit: "b",
		},
	}
}

func TestScopedRefsAreTheCapturedElements(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	tab := show(t, "")
	for _, tt := range scopedCases() {
		t.Run(tt.name, func(t *testing.T) {
			if tt.inner == "" {
				rewrite(t, tab, hitLog+tt.html)
			} else {
				browsertest.Navigate(t, tab, scopedSite(t, tt.html, tt.inner).URL)
				browsertest.Eventually(t, "the frames are seen", func() bool {
					return strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "button") >= strings.Count(tt.html+tt.inner,
						"<button")
				})
			}
			snap := snapshot(t, tab, tt.opts)
			refs := snap.Refs()
			given := func(ref string) string { // e2 is the second of the snapshot
				if n, err := strconv.Atoi(strings.TrimPrefix(ref, "e")); err == nil && n <= len(refs) {
					return refs[n-1].Ref
				}
				return ref
			}
			if got := refList(snap); tt.refs != "" && got != tt.refs {
				t.Errorf("got refs %s, want %s, in\n%s", got, tt.refs, snap.Text)
			}
			if tt.js != "" {
				act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: given(tt.on), Fn: tt.js})
			}
			_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: given(tt.click)})
			if tt.err != nil {
				check.Fails(t, err, page.ErrUnknownRef)
				check.Fails(t, err, nil, tt.err...)
				browsertest.WantJS(t, tab, "hits", "[]")
				return
			}
			check.Must(t, err)
			browsertest.Eventually(t, "the page is hit", func() bool { return js(t, tab, "hits") != "[]" })
			if got := js(t, tab, "hits.join()"); got != `"`+tt.hit+`"` {
				t.Errorf("got clicks %s, want %s, in\n%s", got, tt.hit, snap.Text)
			}
		})
	}
}

// refList returns the refs of a snapshot with their names, counted.
func refList(snap page.Snapshot) string {
	var list []string
	for i, r := range snap.Refs() {
		list = append(list, fmt.Sprintf("e%d %s", i+1, r.Name))
	}
	return strings.Join(list, ", ")
}

// fresh takes a compared snapshot and checks the number of new elements; -1 means that there is nothing to compare
// with.
func fresh(t *testing.T, tab *page.Tab, opts page.SnapshotOptions, want int) page.Snapshot {
	t.Helper()
	opts.Delta = true
	snap := snapshot(t, tab, opts)
	got := -1
	if snap.NewElements != nil {
		got = *snap.NewElements
	}
	if got != want || strings.Count(snap.Text, " [new]") != max(want, 0) {
		t.Errorf("got %d new elements, want %d, in\n%s", got, want, snap.Text)
	}
	if footer := strings.Contains(snap.Text, "new element(s) since last snapshot"); footer != (want > 0) {
		t.Errorf("got a footer %v in\n%s", footer, snap.Text)
	}
	return snap
}

func TestSnapshotsAreComparedWithThePrevious(t *testing.T) {
	tab := show(t, `<button id=b>Go</button>`)
	role, aria := page.SnapshotOptions{Refs: page.RefsRole}, page.SnapshotOptions{Refs: page.RefsAria}
	fresh(t, tab, role, -1)
	fresh(t, tab, aria, -1)
	fresh(t, tab, role, 0)
	js(t, tab, "b.after('text', Object.assign(b.cloneNode(true), {id: 'c'}))")
	check.Contains(t, fresh(t, tab, role, 1).Text, "- button \"Go\" [ref=e2] [nth=1] [new]",
		"\n\n1 new element(s) since last snapshot")
	fresh(t, tab, role, 0)
	js(t, tab, "b.textContent = 'Went'")
	fresh(t, tab, role, 1)
	fresh(t, tab, aria, 1) // a name is nothing new there, the copy is
	fresh(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Interactive: true}, -1)
	if plain := snapshot(t, tab, role); plain.NewElements != nil {
		t.Error("a snapshot that was not to be compared was")
	}
	check.Must(t, check.Err(tab.Reload(t.Context())))
	fresh(t, tab, role, -1)
	fresh(t, tab, role, 0)
}

func TestComparisonBeginsAnewWithTheDocumentOfTheFrame(t *testing.T) {
	for name, html := range map[string]string{"same process": near, "other process": far} {
		t.Run(name, func(t *testing.T) {
			tab := openTab(t, scopedSite(t, html, `<button>Inner</button>`).URL)
			browsertest.Eventually(t, "the frames are seen", func() bool {
				return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Inner")
			})
			opts := page.SnapshotOptions{Refs: page.RefsRole, Frame: "iframe"}
			fresh(t, tab, opts, -1)
			fresh(t, tab, opts, 0)
			js(t, tab, "new Promise(r => { const f = document.querySelector('iframe'); f.onload = () => r(1); f.src += '?2' })")
			fresh(t, tab, opts, -1)
			fresh(t, tab, opts, 0)
		})
	}
}
