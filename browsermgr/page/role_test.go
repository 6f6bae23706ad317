package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func TestRoleSnapshotTellsEqualsApart(t *testing.T) {
	tab := show(t, `<h1>Shop</h1><button>Go</button><button>Buy</button><button onclick=1>Go</button><main><img alt=cat><a href=/x>Go</a></main>
		<div style=cursor:pointer>Card</div><iframe title=In srcdoc="<button>Go</button><h1></h1>"></iframe>`)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "Go") == 4
	})
	js(t, tab, "document.querySelector('button').before(document.querySelectorAll('button')[1])")
	snap := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole})
	want := `- heading "Shop" [level=1] [ref=e1]
- button "Buy" [ref=e3]
- button "Go" [ref=e2]
- button "Go" [ref=e4] [nth=1] [onclick]
- main:
  - img "cat"
  - link "Go" [ref=e5]
- generic "Card" [ref=e6] [cursor:pointer]
- Iframe "In" [ref=e7]:
  - button "Go" [ref=f1e1] [nth=2]
  - heading [level=1]`
	want = strings.Replace(want, " [onclick]", "", 1)
	browsertest.WantEqual(t, snap.Text, want)
	refs, stats := snap.Describe()
	if stats.Refs != 8 || stats.Interactive != 5 || stats.Lines != 11 || stats.Chars != len(want) {
		t.Errorf("got %+v", stats)
	}
	if nth := refs["f1e1"].Nth; nth == nil || *nth != 2 || refs["e5"].Nth != nil || refs["e2"].Nth == nil ||
		refs["e7"].Role != "iframe" {
		t.Errorf("got %+v", refs)
	}
}

func TestCompactKeepsRefsValuesAndWhatLeadsToRefs(t *testing.T) {
	tab := show(t, `<ul><li><div>plain</div><hr></ul><nav aria-label=Top><ul><li><a href=/a>A</a></ul></nav><figure><img alt=cat></figure><p>Text <b>here</b></p>
		<table><tr><td>one</table><blockquote><hr></blockquote>`)
	want := `    - text: plain
- navigation "Top" [ref=e1]:
  - listitem:
    - link "A" [ref=e2]
- paragraph: Text here
- cell "one" [ref=e3]`
	got := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Compact: true}).Text
	browsertest.WantEqual(t, strings.TrimLeft(got, " "), strings.TrimLeft(want, " "))
}

func TestEfficientSnapshotIsShort(t *testing.T) {
	tab := show(t, strings.Repeat(`<main><h2>Head</h2><p>Text</p><a href=/x>Somewhere else</a></main>`, 400))
	snap := snapshot(t, tab, efficient)
	if !snap.Truncated || len(snap.Text) > 8000 || strings.Contains(snap.Text, "heading") ||
		strings.Contains(snap.Text, "\n  ") {
		t.Errorf("got %d characters, truncated %v: %.200s", len(snap.Text), snap.Truncated, snap.Text)
	}
	last := snap.Refs()[len(snap.Refs())-1].Ref
	check.Must(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindHover, Ref: last})))
	rest := efficient
	rest.After = last
	if next := snapshot(t, tab, rest).Refs(); len(next) == 0 || next[0].Ref == last {
		t.Errorf("got %v, want what follows %s", next, last)
	}
}

func TestSnapshotQueryKeepsMatchingLines(t *testing.T) {
	tab := show(t, `<main><button>Add lamp</button><button>Add table</button><button id=x>Remove lamp</button></main>`)
	snap := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Query: "LAMP remove"})
	if want := "  - button \"Remove lamp\" [ref=e3]"; snap.Text != want {
		t.Errorf("got %q, want %q", snap.Text, want)
	}
	act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: "e3", Fn: "el => el.id"})
}

func TestAddressesStandBelowLinks(t *testing.T) {
	tab := show(t, `<a href=/docs?a=1>Docs</a><a href="#x"><h2>Head</h2></a><a>None</a>`)
	want := `- link "Docs" [ref=e1]:
  - /url: /docs?a=1
- link "Head" [ref=e2]:
  - /url: #x
- text: None`
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{Addresses: true}).Text, want)
}

func TestLinksAppendixIsScoped(t *testing.T) {
	var near strings.Builder
	near.WriteString(`<a href=/f>In frame</a>`)
	srv := site(t, map[string]string{
		"/": `<!doctype html><a href=/a>A</a><div id=box><main><ul><li><a href=/b>B</a><li><a href=/b>Again</a><li style=display:none><a href=/h>H</a></ul></main></div>
		<iframe src=/near></iframe>`, "/near": near.String(),
	})
	tab := openTab(t, srv.URL)
	zero := 0
	tests := map[string]struct {
		opts page.SnapshotOptions
		want string
	}{
		"page":     {page.SnapshotOptions{}, "\n1. A -> U/a\n2. B -> U/b\n3. In frame -> U/f"},
		"selector": {page.SnapshotOptions{Selector: "#box", Depth: &zero}, "\n1. B -> U/b"},
		"frame":    {page.SnapshotOptions{Frame: "iframe", Interactive: true}, "\n1. In frame -> U/f"},
		"itself":   {page.SnapshotOptions{Selector: "a"}, "\n1. A -> U/a"},
	}
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "In frame")
	})
	for name, tt := range tests {
		tt.opts.Refs, tt.opts.URLs = page.RefsRole, true
		snap := snapshot(t, tab, tt.opts)
		_, got, _ := strings.Cut(snap.Text, "\n\nLinks:")
		if d := cmp.Diff(strings.ReplaceAll(tt.want, "U", srv.URL), got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// emptyWait is how long a snapshot waits for a page that is still empty.
const emptyWait = 2 * time.Second

func TestEmptySnapshotsSayWhyAtOnce(t *testing.T) {
	tab := show(t, `<div id=box></div><p>text</p>`)
	for _, tt := range []struct {
		opts         page.SnapshotOptions
		text, reason string
	}{
		{page.SnapshotOptions{Selector: "#nope", URLs: true}, "(empty)", "no element matches the selector"},
		{page.SnapshotOptions{Selector: "#nope", Interactive: true}, "(empty)", "no element matches the selector"},
		{page.SnapshotOptions{Selector: "#box"}, "(empty)", "the selected element shows nothing"},
		{page.SnapshotOptions{Interactive: true}, "(no interactive elements)", "no interactive elements"},
	} {
		var snap page.Snapshot
		took := time.Hour
		for tries := 0; tries < 5 && took >= emptyWait; tries++ {
			began := time.Now()
			snap = snapshot(t, tab, tt.opts)
			took = time.Since(began)
		}
		if took >= emptyWait {
			t.Errorf("took %s again and again, want no wait", took)
		}
		if refs, _ := snap.Describe(); snap.Text != tt.text || snap.Reason != tt.reason || len(refs) != 0 {
			t.Errorf("%+v: got %q, %q, %v", tt.opts, snap.Text, snap.Reason, refs)
		}
	}
	if snap := snapshot(t, browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{}),
		page.SnapshotOptions{}); snap.Text != "(empty)" || snap.Reason != "the page is empty" {
		t.Errorf("got %q, %q", snap.Text, snap.Reason)
	}
	file := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj "+
			"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>")
	})
	check.Must(t, check.Err(tab.Navigate(t.Context(), file.URL)))
	if snap := snapshot(t, tab, page.SnapshotOptions{}); !strings.HasPrefix(snap.Text, "(a PDF") {
		t.Errorf("got %q for a PDF, want that said", snap.Text)
	}
}

func TestSnapshotOptionsThatDoNotFitAreRefused(t *testing.T) {
	tab := show(t, `<button>A</button><div id=d></div>`)
	below := -1
	for _, opts := range []page.SnapshotOptions{
		{Refs: page.RefsAria, Selector: "#d"},
		{Refs: page.RefsAria, Frame: "iframe"},
		{Refs: "both"},
		{Depth: &below},
		{Frame: "iframe"},
		{Frame: "]["},
		{Frame: "#d"},
	} {
		check.Fails(t, check.Err(tab.Snapshot(t.Context(), opts)), page.ErrInvalid)
	}
	check.Fails(t, check.Err(tab.Snapshot(t.Context(), page.SnapshotOptions{Frame: "e99"})),
		page.ErrUnknownRef)
}

func TestRefsOfEachSnapshotHold(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	js(t, tab, "l.append(l.firstElementChild)") // b c a
	snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole})
	click(t, tab, "e1")
	snapshot(t, tab, page.SnapshotOptions{})
	click(t, tab, "@e1")
	snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Selector: "li:last-child"})
	click(t, tab, "2")
	browsertest.WantJS(t, tab, "hits.join('')", `"aab"`)
}

func TestCancelledSnapshotLeavesTheRefs(t *testing.T) {
	tab := busyFrames(t)
	js(t, tab, "document.body.insertAdjacentHTML('afterbegin', '<button>A</button><p id=p><button>B</button></p>')")
	var want string
	var err error
	for tries := 0; tries < 5 && err == nil; tries++ { // the frame may be late to become busy
		want = snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Selector: "#p"}).Refs()[0].Ref
		js(t, tab, "far.contentWindow.postMessage('busy', '*')")
		ctx, cancel := context.WithCancel(t.Context())
		stop := time.AfterFunc(300*time.Millisecond, cancel)
		_, err = tab.Snapshot(ctx, page.SnapshotOptions{Refs: page.RefsRole})
		stop.Stop()
		cancel()
	}
	check.Fails(t, err, context.Canceled)
	if got := act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: want, Fn: "el => el.textContent"}); string(
		got.Value) != `"B"` {
		t.Errorf("got %s, want the ref of the snapshot that ended: %s", got.Value, want)
	}
}

func TestAriaRefsEndWhenAFrameNavigates(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Near button")
	})
	for _, tt := range []struct {
		refs  page.SnapshotOptions
		holds bool
	}{{page.SnapshotOptions{}, true}, {page.SnapshotOptions{Refs: page.RefsAria}, false}} {
		snapshot(t, tab, tt.refs)
		js(t, tab, "new Promise(r => { const f = document.querySelector('iframe'); f.onload = () => r(1); f.src += '?2' })")
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindHover, Ref: "e1"})
		if tt.holds && err != nil || !tt.holds && !errors.Is(err, page.ErrUnknownRef) {
			t.Errorf("%q: got %v", tt.refs.Refs, err)
		}
	}
}

// busyFrames returns a page with two same-site frames and one of another site, which is busy for a while on request.
func busyFrames(t *testing.T) *page.Tab {
	t.Helper()
	srv := scopedSite(t, `<iframe id=one src=/frame></iframe><iframe id=two src=/frame></iframe><iframe id=far src="OTHER/frame"></iframe>`,
		`<button>Inner</button><script>addEventListener('message', () => { const end = Date.now() + 700; while (Date.now() < end); })</script>`)
	tab := openTab(t, srv.URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "Inner") == 3
	})
	js(t, tab, "setInterval(() => one.contentWindow.location.reload(), 150), far.contentWindow.postMessage('busy', '*')")
	return tab
}

func TestFrameThatNavigatesDuringItsCaptureIsReported(t *testing.T) {
	tab := busyFrames(t)
	var err error
	for tries := 0; tries < 5 && err == nil; tries++ { // the frame may be late to become busy
		js(t, tab, "far.contentWindow.postMessage('busy', '*')")
		_, err = tab.Snapshot(t.Context(), page.SnapshotOptions{Refs: page.RefsRole, Frame: "#one"})
	}
	check.Fails(t, err, page.ErrFrameChanged)
	check.Fails(t, err, nil, "Frame changed", "retry")
}

func TestNavigationOfASiblingFrameDoesNotMatter(t *testing.T) {
	tab := busyFrames(t)
	snap := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole, Frame: "#two"})
	if refs := snap.Refs(); len(refs) != 1 || refs[0].Name != "Inner" {
		t.Fatalf("got %q, want a button", snap.Text)
	}
	click(t, tab, snap.Refs()[0].Ref)
}

func TestSnapshotWaitsForAPageThatIsStillEmpty(t *testing.T) {
	var gate atomic.Pointer[chan struct{}]
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data" {
			<-*gate.Load()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><div id=app></div><script>fetch('/data').then(() => { app.innerHTML = '<button>Ready</button>' })</script>`))
	})
	tab := openTab(t, "")
	text := ""
	// On a busy machine the data may be later than the wait.
	for tries := 0; tries < 5 && !strings.Contains(text, "Ready"); tries++ {
		open := make(chan struct{})
		gate.Store(&open)
		browsertest.Navigate(t, tab, srv.URL)
		timer := time.AfterFunc(200*time.Millisecond, func() { close(open) })
		text = snapshot(t, tab, page.SnapshotOptions{}).Text
		if timer.Stop() {
			close(open)
		}
	}
	check.Contains(t, text, "Ready")
}

// nodeOf returns the first node with a role and name.
func nodeOf(t *testing.T, nodes []page.AccessibilityNode, role, name string) page.AccessibilityNode {
	t.Helper()
	for _, n := range nodes {
		if n.Role == role && n.Name == name {
			return n
		}
	}
	t.Fatalf("no %s %q in %+v", role, name, nodes)
	return page.AccessibilityNode{}
}

func tree(t *testing.T, tab *page.Tab, limit int) []page.AccessibilityNode {
	t.Helper()
	nodes, err := tab.AccessibilityTree(t.Context(), limit, 0)
	check.Must(t, err)
	return nodes
}

func TestTreeHasAllFramesAndItsRefsAct(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button")
	})
	nodes := tree(t, tab, 0)
	top, deep := nodeOf(t, nodes, "heading", "Top"), nodeOf(t, nodes, "button", "Deep button")
	if nodes[0].Ref != "ax1" || nodes[0].Depth != 0 || top.BackendDOMNodeID == 0 || deep.Depth <= top.Depth {
		t.Errorf("got %+v, %+v, %+v", nodes[0], top, deep)
	}
	for _, name := range []string{"Near button", "Far button", "Deep button"} {
		click(t, tab, nodeOf(t, nodes, "button", name).Ref)
	}
	act(t, tab, page.Action{
		Kind: actiontable.KindType, Ref: strings.ToUpper(nodeOf(t, nodes, "textbox", "Far field").Ref),
		Text: "via tree",
	})
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Pressed"`, `button "Pressed deep"`,
		": via tree")
	field := nodeOf(t, tree(t, tab, 0), "textbox", "Far field")
	if field.Value != "via tree" {
		t.Errorf("got %+v, want its value", field)
	}
}

func TestTreeLimits(t *testing.T) {
	tab := show(t, strings.Repeat("<button>B</button>", 1200))
	for limit, want := range map[int]int{0: 500, 1: 1, -3: 1, 7: 7, 5000: 2000} {
		if got := len(tree(t, tab, limit)); got != want {
			t.Errorf("limit %d: got %d nodes, want %d", limit, got, want)
		}
	}
}

func TestTreeRefsAreElementsToo(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole}).Refs()
	nodes := tree(t, tab, 0)
	first := nodeOf(t, nodes, "button", "Delete").Ref
	js(t, tab, "l.append(l.firstElementChild)")
	click(t, tab, first)
	click(t, tab, refs[1].Ref)
	browsertest.WantJS(t, tab, "hits.join('')", `"ab"`)
	js(t, tab, "l.lastElementChild.remove()")
	for _, ref := range []string{first, "ax9999"} {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
		if !errors.Is(err, page.ErrUnknownRef) {
			t.Fatalf("%s: got %v, want an unknown ref", ref, err)
		}
		check.Fails(t, err, nil, "Unknown ref "+ref, "new snapshot")
	}
	check.Must(t, check.Err(tab.Reload(t.Context())))
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: nodes[1].Ref})),
		nil, "Unknown ref")
}

func TestTreeMasksSecrets(t *testing.T) {
	tab := show(t, `<input type=password value=hunter2 aria-label=a><input autocomplete="one-time-code" value=123456 aria-label=b><input value=open aria-label=c>`)
	for _, n := range tree(t, tab, 0) {
		for _, secret := range []string{"hunter", "123456"} {
			if strings.Contains(n.Name+n.Value+n.Description, secret) {
				t.Errorf("the tree shows a secret: %+v", n)
			}
		}
	}
	browsertest.WantEqual(t, nodeOf(t, tree(t, tab, 0), "textbox", "c").Value, "open")
}

const rows = `<ul id=l><li><button onclick="hit('a')">Delete</button><li><button onclick="hit('b')">Delete</button><li><button onclick="hit('c')">Delete</button></ul>
	<script>window.hits = []; function hit(x) { hits.push(x) }</script>`

func TestRefSurvivesReordering(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "l.append(l.firstElementChild)")
	click(t, tab, refs[0].Ref)
	browsertest.WantJS(t, tab, "hits", `["a"]`)
	again := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	if again[2].Ref != refs[0].Ref || again[0].Ref != refs[1].Ref {
		t.Errorf("got refs %v, want those of %v to move along", again, refs)
	}
}

func TestActionsTellARefNeverGivenFromOneWhoseElementIsGone(t *testing.T) {
	tab := show(t, `<button id=gone>Gone</button><button>Here</button>`)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "gone.remove()")
	here := refs[1].Ref
	for ref, want := range map[string]string{"e99": "no snapshot of this page has it", refs[0].Ref: "gone from the page"} {
		for _, a := range []page.Action{
			{Kind: actiontable.KindClick, Ref: ref},
			{Kind: actiontable.KindType, Ref: ref, Text: "a"},
			{Kind: actiontable.KindPress, Ref: ref, Key: "a"},
			{Kind: actiontable.KindHover, Ref: ref},
			{Kind: actiontable.KindScroll, Ref: ref},
			{Kind: actiontable.KindScrollIntoView, Ref: ref},
			{Kind: actiontable.KindDrag, StartRef: ref, EndRef: here},
			{Kind: actiontable.KindDrag, StartRef: here, EndRef: ref},
			{Kind: actiontable.KindSelect, Ref: ref, Values: []string{"a"}},
			{Kind: actiontable.KindFill, Fields: []actiontable.Field{{Ref: ref, Value: "a"}}},
			{Kind: actiontable.KindFill, Fields: []actiontable.Field{{Ref: ref, Type: "checkbox", Value: "true"}}},
			{Kind: actiontable.KindEvaluate, Ref: ref, Fn: "el.id"},
		} {
			_, err := tab.Act(browsertest.Within(t, browsertest.Patience), a)
			check.Fails(t, err, page.ErrUnknownRef)
			check.Fails(t, err, nil, "Unknown ref "+ref, want)
		}
	}
}

func TestRefOfRemovedElementNeverHitsANeighbour(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{}).Refs()
	js(t, tab, "l.children[1].remove()")
	for range 2 { // before and after another snapshot
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: refs[1].Ref})
		check.Fails(t, err, page.ErrUnknownRef)
		check.Fails(t, err, nil, "Unknown ref e2", "gone from the page", "new snapshot")
		snapshot(t, tab, page.SnapshotOptions{})
	}
	browsertest.WantJS(t, tab, "hits", `[]`)
}

func TestRefOfReplacedElementIsGone(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	js(t, tab, "l.innerHTML = l.innerHTML")
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: "e1"})),
		nil, "gone from the page")
}

func TestRefEndsWithItsDocument(t *testing.T) {
	srv := site(t, map[string]string{"/": rows, "/other": `<button>Other</button>`})
	tab := openTab(t, srv.URL)
	ref := refOf(t, tab, "Delete")
	browsertest.Navigate(t, tab, srv.URL+"/other")
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
	check.Fails(t, err, nil, "Unknown ref e1", "new snapshot")
	check.Must(t, check.Err(tab.Back(t.Context())))
	_, err = tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
	check.Fails(t, err, nil, "Unknown ref e1")
}

func TestRefSpellings(t *testing.T) {
	tab := show(t, rows)
	snapshot(t, tab, page.SnapshotOptions{})
	for _, ref := range []string{"e2", "@e2", "ref=e2", "2", "E2", "[ref=e2]", " e2 "} {
		click(t, tab, ref)
	}
	browsertest.WantJS(t, tab, "hits.join('')", `"bbbbbbb"`)
	for _, ref := range []string{"e", "x5", "e-1", "e0", "f0e1", "fe1", "e1 e2", "e99999999999999999999", "button"} {
		check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})), page.ErrInvalid)
	}
	for _, ref := range []string{"e77", "f9e1"} {
		check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})),
			nil, "Unknown ref "+ref, "new snapshot")
	}
}

func TestRefOfOddNames(t *testing.T) {
	names := []string{
		strings.Repeat("x", 901), strings.Repeat("long ", 180) + "x", strings.Repeat("x", 898) + "\U0001F600\U0001F600",
		"\u200b\u200b", "\u200d\ufeff",
		`"quoted"`, `back\slash`, "\U0001F600", "- button", "[ref=e1]", "", "", "a: b",
	}
	const buttons = `<body><script>window.hits = []; const names = NAMES;
		names.forEach((name, i) => { const b = document.createElement('button'); b.textContent = name; b.onclick = () => top.hits.push(i); document.body.append(b) })</script>`
	text, err := json.Marshal(names)
	check.Must(t, err)
	html := strings.Replace(buttons, "NAMES", string(text), 1)
	srv := site(t, map[string]string{
		"/":      "<!doctype html><meta charset=utf-8>" + html,
		"/outer": "<!doctype html><script>window.hits = []</script><iframe width=900 height=900 src=/ title=In>",
	})
	tab := openTab(t, srv.URL)
	for mode, opts := range map[string]page.SnapshotOptions{
		"own": {}, "role": {Refs: page.RefsRole}, "aria": {Refs: page.RefsAria},
		"frame": {Refs: page.RefsRole, Frame: "iframe"}, "frame by ref": {Refs: page.RefsRole, Frame: "e1"},
	} {
		t.Run(mode, func(t *testing.T) {
			path := "/"
			if opts.Frame != "" {
				path = "/outer"
			}
			browsertest.Navigate(t, tab, srv.URL+path)
			snapshot(t, tab, page.SnapshotOptions{})
			clickAll(t, tab, snapshot(t, tab, opts).Refs(), len(names))
		})
	}
	t.Run("tree", func(t *testing.T) {
		browsertest.Navigate(t, tab, srv.URL)
		nodes, err := tab.AccessibilityTree(t.Context(), 0, 0)
		check.Must(t, err)
		var refs []page.Ref
		for _, n := range nodes {
			if n.Role == "button" {
				refs = append(refs, page.Ref{Ref: n.Ref})
			}
		}
		clickAll(t, tab, refs, len(names))
	})
}

// clickAll clicks each ref, and expects each of n buttons to be clicked once, in order.
func clickAll(t *testing.T, tab *page.Tab, refs []page.Ref, n int) {
	t.Helper()
	if len(refs) != n {
		t.Fatalf("got %d refs, want %d", len(refs), n)
	}
	want := make([]string, n)
	for i, r := range refs {
		click(t, tab, r.Ref)
		want[i] = strconv.Itoa(i)
	}
	browsertest.WantEqual(t, jsString(t, tab, "hits.join()"), strings.Join(want, ","))
}
