package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// btn returns a button that tells the top page its id when it is clicked.
func btn(id, name string) string {
	return fmt.Sprintf(`<button id=%s onclick="top.postMessage('%s','*')">%s</button>`, id, id, name)
}

const hitLog = `<script>window.hits = []; addEventListener('message', e => hits.push(e.data))</script>`

// scopedSite serves a page and, at /frame, what it embeds. ORIGIN in the page stands for its own site, OTHER for another one.
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

// scoped is a snapshot limited somehow, something that happens to the page after it, and what a click on a ref then does.
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
		{name: "selector, ref outside is not known", html: pair, opts: box, click: "e3", err: unknown},
		{name: "selector, reordered", html: pair, opts: box, js: "box.append(box.firstElementChild)", click: "e1", hit: "a"},
		{name: "selector, moved out of the scope", html: pair, opts: box, js: "document.body.append(a)", click: "e1", hit: "a"},
		{name: "selector, removed with a neighbour inside", html: pair, opts: box, js: "a.remove()", click: "e1", err: unknown},
		{name: "selector, removed with a neighbour outside", html: btn("o", "Go") + `<div id=box>` + btn("a", "Go") + `</div>`, opts: box, js: "a.remove()", click: "e1", err: unknown},
		{name: "selector, scope removed", html: pair, opts: box, js: "box.remove()", click: "e2", err: unknown},
		{name: "selector, neighbour inserted before", html: pair, opts: box, js: "a.before(a.cloneNode(true))", click: "e2", hit: "b"},
		{name: "selector is a control itself", html: btn("o", "Go") + btn("a", "Go"), opts: page.SnapshotOptions{Refs: page.RefsRole, Selector: "#a"}, refs: "e1 Go", click: "e1", hit: "a"},
		{name: "selector, first match only", html: `<div class=c>` + btn("a", "One") + `</div><div class=c>` + btn("b", "Two") + `</div>`, opts: page.SnapshotOptions{Refs: page.RefsRole, Selector: ".c"}, refs: "e1 One", click: "e1", hit: "a"},
		{name: "selector, hidden scope", html: `<div id=box style="display:none">` + twins + `</div>`, opts: box, click: "e1", err: unknown},
		{name: "depth 0 sees through wrappers", html: `<div id=box><ul role=none><li role=presentation><span>` + btn("a", "Go") + `</span></ul><main>` + btn("b", "Deep") + `</main></div>`, opts: at(box, &zero), refs: "e1 Go", click: "e1", hit: "a"},
		{name: "depth 0, removed with a deeper neighbour", html: btn("a", "Go") + `<main>` + btn("b", "Go") + `</main>`, opts: at(role, &zero), js: "a.remove()", click: "e1", err: unknown},
		{name: "interactive, reordered", html: pair, opts: page.SnapshotOptions{Refs: page.RefsRole, Interactive: true}, refs: "e1 Go, e2 Go, e3 Go", js: "box.after(o)", click: "e1", hit: "o"},
		{name: "aria-owns order", html: `<div id=box><div aria-owns="b a">` + twins + `</div></div>`, opts: box, refs: "e1 Go, e2 Go", click: "e1", hit: "b"},
		{name: "open shadow before light", html: `<div id=box><x-a>` + btn("b", "Light") + `</x-a></div><script>document.querySelector('x-a').attachShadow({mode:'open'}).innerHTML = ` + "`" + btn("a", "Shadow") + `<slot></slot>` + "`" + `</script>`, opts: box, refs: "e1 Shadow, e2 Light", click: "e1", hit: "a"},
		{name: "closed shadow", html: `<div id=box>` + closed + "`<p style='padding:20px'>" + btn("a", "Go") + "</p>`</script></div>" + btn("o", "Go"), opts: box, refs: "e1 Go", click: "e1", hit: "a"},
		{name: "closed shadow, removed", html: `<script>let inner</script><div id=box>` + strings.Replace(closed, "document.", "inner = document.", 1) + "`" + twins + "`</script></div>", opts: box, on: "e1", js: "el => el.remove()", click: "e1", err: unknown},
		{name: "same-origin frame", html: twins + near, inner: btn("in", "Go"), opts: inFrame, refs: "e1 Go", click: "e1", hit: "in"},
		{name: "same-origin frame, other document", html: near, inner: btn("in", "Go"), opts: inFrame, js: "new Promise(r => { const f = document.querySelector('iframe'); f.onload = () => r(1); f.src += '?2' })", click: "e1", err: unknown},
		{name: "frame with selector and depth", html: near, inner: `<div id=box><main>` + btn("a", "Go") + `</main></div>` + btn("b", "Go"), opts: page.SnapshotOptions{Refs: page.RefsRole, Frame: "iframe", Selector: "#box", Depth: &one}, refs: "e1 Go", click: "e1", hit: "a"},
		{name: "cross-origin frame", html: twins + far, inner: btn("in", "Go"), opts: inFrame, refs: "e1 Go", click: "e1", hit: "in"},
		{name: "cross-origin frame, reordered", html: far, inner: twins, opts: inFrame, on: "e1", js: "el => el.parentNode.append(el)", click: "e1", hit: "a"},
		{name: "cross-origin frame, removed with a neighbour outside", html: twins + far, inner: btn("in", "Go"), opts: inFrame, on: "e1", js: "el => el.remove()", click: "e1", err: unknown},
		{name: "cross-origin frame, frame removed", html: twins + far, inner: btn("in", "Go"), opts: inFrame, js: "document.querySelector('iframe').remove()", click: "e1", err: unknown},
		{name: "closed shadow in a cross-origin frame", html: far, inner: closed + "`" + twins + "`</script>", opts: inFrame, refs: "e1 Go, e2 Go", click: "e2", hit: "b"},
		{name: "all frames are numbered in order", html: btn("a", "Go") + far + btn("b", "Go"), inner: btn("in", "Go"), opts: role, refs: "e1 Go, e2 In, e3 Go, e4 Go", click: "e3", hit: "in"},
		{name: "element after a frame of another process", html: btn("a", "Go") + far + btn("b", "Go"), inner: btn("in", "Go"), opts: role, click: "e4", hit: "b"},
	}
}

func TestScopedRefsAreTheCapturedElements(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	tab := openTab(t, "about:blank")
	for _, tt := range scopedCases() {
		t.Run(tt.name, func(t *testing.T) {
			browsertest.Navigate(t, tab, scopedSite(t, tt.html, tt.inner).URL)
			if tt.inner != "" {
				browsertest.Eventually(t, "the frames are seen", func() bool {
					return strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "button") >= strings.Count(tt.html+tt.inner, "<button")
				})
			}
			snap := snapshot(t, tab, tt.opts)
			if got := refList(snap); tt.refs != "" && got != tt.refs {
				t.Errorf("got refs %s, want %s, in\n%s", got, tt.refs, snap.Text)
			}
			if tt.js != "" {
				act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: tt.on, Fn: tt.js})
			}
			_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: tt.click})
			if tt.err != nil {
				browsertest.WantError(t, err, page.ErrUnknownRef)
				wantError(t, err, tt.err...)
				browsertest.WantJS(t, tab, "hits", "[]")
				return
			}
			browsertest.Must(t, err)
			browsertest.Eventually(t, "the page is hit", func() bool { return js(t, tab, "hits") != "[]" })
			if got := js(t, tab, "hits.join()"); got != `"`+tt.hit+`"` {
				t.Errorf("got clicks %s, want %s, in\n%s", got, tt.hit, snap.Text)
			}
		})
	}
}

// refList returns the refs of a snapshot with their names.
func refList(snap page.Snapshot) string {
	var list []string
	for _, r := range snap.Refs() {
		list = append(list, r.Ref+" "+r.Name)
	}
	return strings.Join(list, ", ")
}
