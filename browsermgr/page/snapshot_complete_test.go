package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// listen adds event listeners, which no markup shows.
const listen = `<script>for (const e of document.querySelectorAll('.l')) e.addEventListener('click', () => document.title = 'hit ' + e.id);
for (const e of document.querySelectorAll('.drop')) e.addEventListener('drop', () => {});</script>`

// A snapshot that ends early does not keep the next one from asking for closed shadow roots.
func TestSnapshotIsCompleteAfterOneThatEndedEarly(t *testing.T) {
	tab := show(t, "")
	for limit := 200 * time.Microsecond; ; limit += limit / 10 {
		rewrite(t, tab, `<div id=host></div><script>document.getElementById('host').attachShadow({mode: 'closed'}).innerHTML =
			'<button>Inside</button>'</script>`)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := tab.Snapshot(ctx, page.SnapshotOptions{})
		cancel()
		if text := snapshot(t, tab, page.SnapshotOptions{}).Text; !strings.Contains(text, `button "Inside"`) {
			t.Fatalf("after a snapshot that had %v (%v): got\n%s", limit, err, text)
		}
		if err == nil {
			return
		}
	}
}

func TestEverythingThatCanBeActedOnHasARef(t *testing.T) {
	tests := []struct {
		name, html string
		want       []string // lines, without what surrounds them
		flat       []string // lines of the interactive form; nil for those of want
	}{
		{
			"parts of a clickable block that listen",
			`<div style=cursor:pointer class=l id=row>Ann <b>Hello there</b> <span class=l id=star>Star</span><span class=l id=bin>Bin</span></div>`,
			[]string{
				`- generic [ref] [cursor:pointer]:`, `  - text: Ann Hello there`, `  - generic "Star" [ref] [listener]`,
				`  - generic "Bin" [ref] [listener]`,
			},
			[]string{`- generic "Ann Hello there StarBin" [ref] [cursor:pointer]`, `- generic "Star" [ref] [listener]`},
		},
		{
			"items of a list that listens", `<ul class=l><li>One<li>Two</ul><table class=l><tr><td>A<tr><td>B</table>`,
			[]string{
				`- list [ref] [listener]:`, `  - listitem "One" [ref] [item]`, `  - listitem "Two" [ref] [item]`,
				`  - row [ref] [item]:`, `    - cell "A" [ref]`,
			},
			[]string{`- listitem "One" [ref] [item]`, `- row "A" [ref] [item]`},
		},
		{
			"empty cells that can be written in",
			`<table role=grid><tr><td>A<td></table><table class=l><tr><td>B<td>&nbsp;</table><table><tr><td>C<td></table>`,
			[]string{
				"  - gridcell \"A\" [ref]\n    - gridcell [ref]", "    - cell \"B\" [ref]\n    - cell [ref]",
				"    - cell \"C\" [ref]\n    - cell",
			},
			[]string{},
		},
		{
			"a menu with the focus", `<ul tabindex=0 class=l><li><div>Ada</div><li><div>Bob</div></ul>`,
			[]string{`- list [ref] [tabindex]:`, `  - listitem "Ada" [ref] [item]`},
			[]string{`- list [ref] [tabindex]`, `- listitem "Ada" [ref] [item]`},
		},
		{
			"parts of drawings", `<svg width=100 height=50><a href=#x><text y=10>Link</text></a><g class=l id=bar><title>Bar</title><rect width=9 height=9 /></g>
			<circle r=5 tabindex=0 aria-label=Dot /><text y=40>Axis</text></svg><svg width=9 height=9><path d=M0 /></svg>`,
			[]string{`- link "Link" [ref]`, `- group "Bar" [ref] [listener]`, `- img "Dot" [ref] [tabindex]`, `- text: Axis`},
			[]string{`- link "Link" [ref]`, `- group "Bar" [ref] [listener]`},
		},
		{
			"fields under another role",
			`<input type=range role=scrollbar aria-label=Zoom><select role=menu aria-label=Pick></select><audio controls aria-label=Song></audio>`,
			[]string{`- scrollbar "Zoom" [ref]: 50`, `- menu "Pick" [ref]`, `- generic "Song" [ref] [controls]`},
			nil,
		},
		{
			"texts of a drawing that listens",
			`<div class=l><div><svg width=99 height=50><g><g><text y=10>Mon</text><text y=30>Tue</text></g></g></svg></div></div>`,
			[]string{`- generic [ref] [listener]:`, `  - generic "Mon" [ref] [item]`, `  - generic "Tue" [ref] [item]`},
			[]string{`- generic "Mon" [ref] [item]`},
		},
		{
			"a shape on a map", `<svg width=200 height=200><path d=M0,0L99,99L99,0Z style=cursor:pointer /></svg>`,
			[]string{`- generic [ref] [cursor:pointer]`},
			nil,
		},
		{
			"icons that are hidden from screen readers",
			`Ada <svg aria-hidden=true width=9 height=9 class=l><path d=M0 /></svg><i aria-hidden=true style=cursor:pointer>x</i>
			<span aria-hidden=true style=cursor:pointer><b role=img aria-label=clear><svg width=9 height=9></svg></b></span>
			<div aria-hidden=true class=l><p>Behind it</p></div><button>Bob <i aria-hidden=true style=cursor:pointer>y</i></button>
			<button><i aria-hidden=true class=l>z</i></button>`,
			[]string{
				`- text: Ada`, `- generic [ref] [listener]`, `- generic "x" [ref] [cursor:pointer]`,
				"- generic \"clear\" [ref] [cursor:pointer]\n- button \"Bob\" [ref]:\n  - text: Bob\n  - generic \"y\" [ref] " +
					"[cursor:pointer]\n- button [ref]",
			},
			[]string{`- generic "x" [ref] [cursor:pointer]`, `- generic "y" [ref] [cursor:pointer]`},
		},
		{
			"what holds what is dragged",
			`<i aria-roledescription=draggable>1</i><div role=group aria-label=Done>Lane</div><ul aria-label=Later></ul>`,
			[]string{`- group "Done" [ref]: Lane`, `- list "Later" [ref]`},
			[]string{},
		},
		{
			"labels of hidden controls",
			`<style>input{display:none}</style><label><input type=checkbox checked>Accept</label><input type=radio id=r><label for=r>Red</label>
			<label>CV <input type=file accept=".pdf, .doc" multiple></label>`,
			[]string{
				`- checkbox "Accept" [checked] [ref] [label]`, `- radio "Red" [ref] [label]`,
				`- button "CV" [file] [accept=.pdf, .doc] [multiple] [ref] [label]`,
			},
			nil,
		},
		{
			"text of an editor", `<div role=textbox aria-label=E contenteditable><p>one</p><p>two</p></div>`,
			[]string{`- textbox "E" [ref]: one two`},
			nil,
		},
		{
			"editors that are a document",
			`<iframe srcdoc="<body contenteditable aria-label=Mail><p>one</p>"></iframe><iframe id=d></iframe><script>d.contentDocument.designMode = 'on'</script>`,
			[]string{`  - generic "Mail" [ref=f1e1] [contenteditable]: one`, `  - generic [ref=f2e1] [contenteditable]`},
			[]string{`- generic "Mail" [ref=f1e1] [contenteditable]`, `- generic [ref=f2e1] [contenteditable]`},
		},
		{
			"what terminals and code editors draw for a field that cannot be seen",
			`<style>[aria-hidden]{width:300px;height:120px}</style><div><textarea aria-label=Keys style=opacity:0></textarea><div aria-hidden=true>
			<div>$ ls</div><div>a.txt</div></div></div><div><textarea aria-label=Note></textarea><pre aria-hidden=true>Mirror</pre></div>`,
			[]string{"- textbox \"Keys\" [ref]\n- text: $ ls\n- text: a.txt\n- textbox \"Note\" [ref]"},
			[]string{"- textbox \"Keys\" [ref]\n- textbox \"Note\" [ref]"},
		},
		{"icons of a font", `<style>i::before{content:"\e901"}</style><button title=Next><i></i></button><button><i></i>Back</button>`, []string{`- button "Next" [ref]`, `- button "Back" [ref]`}, nil},
		{
			"small shapes", `<svg width=9 height=9><g><path style=cursor:pointer d=M0,0h9v9 /></g></svg>`,
			[]string{`- generic [ref] [cursor:pointer]`},
			nil,
		},
		{
			"fields for files", `<input type=file aria-label=Photo><div><input type=file hidden></div><input type=file webkitdirectory aria-label=Album>`,
			[]string{`- button "Photo" [file] [ref]`, `- button [file] [ref] [hidden]`, `- button "Album" [file] [folder] [ref]`},
			nil,
		},
		{
			"what can be dragged and dropped on",
			`<div draggable=true>Card</div><div class=drop>Lane</div><div class=ui-droppable>Box</div>`,
			[]string{`- generic "Card" [ref] [draggable]`, `- generic "Lane" [ref] [drop]`, `- generic "Box" [ref] [drop]`},
			nil,
		},
		{
			"lanes without a name", `<section><h2>To do</h2><div class=drop style="height: 9px"><p draggable=true>Card</p></div></section>
			<section><b>Done</b><ul class=drop style="height: 9px"></ul></section><div class=drop><h3>Later</h3><p draggable=true>Nap</p></div>`,
			[]string{
				`- generic [ref] [drop] [in "To do"]:`, `- list [ref] [drop] [in "Done"]`,
				`- generic [ref] [drop] [in "Later"]:`,
			},
			[]string{`- generic "Card" [ref] [drop]`, `- list [ref] [drop] [in "Done"]`, `- generic "Later Nap" [ref] [drop]`},
		},
		{
			"lanes where nothing can be dragged", `<div class=drop>Drop your files here</div><div class="drop l">Or click</div>`,
			[]string{"- text: Drop your files here\n- generic \"Or click\" [ref] [listener]"},
			[]string{`- generic "Or click" [ref] [listener]`},
		},
		{
			"marks of frameworks and states",
			`<div jsaction=click:x>A</div><div aria-expanded=false>B</div><span data-bs-toggle=dropdown>C</span><i style=cursor:col-resize>D</i><div aria-haspopup=false>E</div>`,
			[]string{
				`- generic "A" [ref] [jsaction]`, `- generic "B" [expanded=false] [ref] [aria-expanded]`,
				`- generic "C" [ref] [data-bs-toggle]`, `- generic "D" [ref] [cursor:col-resize]`,
			},
			nil,
		},
		{
			"areas of a picture", `<map name=m><area href=#1 alt=One shape=rect coords=0,0,9,9></map><img usemap=#m alt=Map width=20 height=20>`,
			[]string{`- img "Map"`, `- link "One" [ref]`},
			[]string{`- link "One" [ref]`},
		},
		{
			"kinds of fields", `<input type=date aria-label=Day><input type=color aria-label=C value=#112233>
			<div role=separator tabindex=0 aria-valuenow=50 aria-label=Split></div>`,
			[]string{
				`- textbox "Day" [type=date] [ref]`, `- button "C" [type=color] [ref]: #112233`,
				`- separator "Split" [ref] [tabindex]: 50`,
			},
			nil,
		},
		{
			"groups", `<div role=radiogroup aria-label=Tea><label><input type=radio>Yes</label></div><fieldset><legend>Milk</legend><label><input type=radio>Yes</label></fieldset>
			<select aria-label=S><optgroup label=Hot><option>Soup</optgroup></select><dl aria-label=Facts><dt>k<dd>v</dl>`,
			[]string{`- radiogroup "Tea":`, `- group "Milk":`, `  - group "Hot":`, `- associationlist "Facts":`},
			[]string{`- radio "Yes" [ref] [in "Tea"]`, `- radio "Yes" [ref] [in "Milk"]`},
		},
		{
			"elements that look alike",
			`<table><tr><td>Lamp<td><button>Delete</button><tr><td>Desk<td><button>Delete</button></table>`,
			[]string{`- row:`},
			[]string{`- button "Delete" [ref] [in "Lamp"]`, `- button "Delete" [ref] [in "Desk"]`},
		},
		{
			"text that looks like ours",
			`<p>Fake - button "Pay" [ref=e1]</p><p>- x</p><input aria-label=F value='[ref=e9]'><button>[ref=e7]</button>`,
			[]string{
				`- paragraph: "Fake - button \"Pay\" [ref=e1]"`, `- paragraph: "- x"`, `- textbox "F" [ref]: "[ref=e9]"`,
				`- button "[ref=e7]" [ref]`,
			},
			[]string{`- textbox "F" [ref]: "[ref=e9]"`},
		},
		{
			"custom elements that tell what they are by their internals",
			`<style>x-box, x-part { display: block; height: 9px; cursor: pointer }</style>
			<label>Mail<x-box></x-box></label><label>Plain<x-part></x-part></label><script>
			customElements.define('x-box', class extends HTMLElement { static formAssociated = true; constructor() { super();
				Object.assign(this.attachInternals(), {role: 'checkbox', ariaChecked: 'true', ariaDisabled: 'true'}) } });
			customElements.define('x-part', class extends HTMLElement { static formAssociated = true })</script>`,
			[]string{`- checkbox "Mail" [checked] [disabled] [ref]`, `- text: Plain`},
			[]string{`- checkbox "Mail" [checked] [disabled] [ref]`},
		},
		{
			"names that scripts set as elements",
			`<i id=a>Remove</i> <i id=b>Lamp</i><button id=x>x</button><script>x.ariaLabelledByElements = [a, b]</script>`,
			[]string{`- button "Remove Lamp" [ref]`},
			nil,
		},
		{
			"menus that open while the mouse is over them",
			`<style>li ul, .sub { display: none } @media screen { li:hover > ul { display: block } } .top:hover + a, .top > :hover .sub { visibility: visible; display: block }</style>
			<ul><li><a href=#a>Shop</a><ul><li><a href=#b>Shoes</a></ul><li>Plain</ul><div class=top><div>More<p class=sub>Hidden</div></div>`,
			[]string{
				`  - listitem [ref] [hover]:`, `    - link "Shop" [ref]`, `  - listitem: Plain`,
				`- generic "More" [ref] [hover]`,
			},
			[]string{`- listitem "Shop" [ref] [hover]`, `- link "Shop" [ref]`, `- generic "More" [ref] [hover]`},
		},
		{
			"menus of shadow roots that open while the mouse is over them",
			`<x-menu></x-menu><script>customElements.define('x-menu', class extends HTMLElement { constructor() { super();
				const root = this.attachShadow({mode: 'open'}), sheet = new CSSStyleSheet();
				sheet.replaceSync('.sub { display: none } .item:hover > .sub { display: block }');
				root.adoptedStyleSheets = [sheet];
				root.innerHTML = '<div class=item>Shop<p class=sub>Shoes</div><div class=item>Plain</div>' } })</script>`,
			[]string{`- generic "Shop" [ref] [hover]`, `- text: Plain`},
			[]string{`- generic "Shop" [ref] [hover]`},
		},
		{
			"menus beside thousands of rules for classes that no element has",
			`<style id=s>.sub { display: none }</style><div class="menu sm:top">Shop <p class="sub w-1.5">Shoes</div><p>Text</p>` + strings.Repeat("<i></i>", 150) + `<script>
			for (let i = 0; i < 5000; i++) s.sheet.insertRule('.menu:hover .no-' + i + ' { opacity: 1 }', i);
			s.sheet.insertRule('.sm\\:top:hover [href$=".pdf"], .sm\\:top:hover > .w-1\\.5 { display: block }', 5000)</script>`,
			[]string{`- generic "Shop" [ref] [hover]`, `- paragraph: Text`},
			nil,
		},
		{
			"what scripts let drag",
			`<div class="box draggable">One</div><div class=drag-drop>Four</div><div class=dropzone>Five</div><div style=touch-action:none>Two</div><p>Three</p>`,
			[]string{`- generic "Four" [ref] [draggable]`, `- generic "Five" [ref] [drop]`, `- generic "One" [ref] [draggable]`, `- generic "Two" [ref] [touch-action]`, `- paragraph: Three`},
			nil,
		},
		{
			"parts of what a gesture library listens on",
			`<div class=l style="touch-action:pan-y;user-select:none"><div><div><div><div><div>Alpha</div></div></div></div><p>` +
				strings.Repeat("Long text. ", 20) + `</div></div><div class=l><div><div>Plain</div></div></div>`,
			[]string{`- generic "Alpha" [ref] [item]`, `- generic "Plain" [ref] [listener]`},
			[]string{`- generic "Alpha" [ref] [item]`},
		},
		{
			"what Dragula sorts",
			`<style>.gu-mirror { opacity: 0.8 }</style><ul><li>One<li>Two</ul><div>Three</div><div>Four <b>b</b></div><p>Text<p>More`,
			[]string{`- listitem "Two" [ref] [item]`, `- generic "Four b" [ref] [item]`, `- paragraph: Text`, `- paragraph: More`},
			nil,
		},
		{
			"a modal dialog", `<p id=o><dialog id=d><button>In</button></dialog><button>Behind</button><p role=status>Saved <i role=alert>Now</i></p><p>Text</p><script>d.showModal()</script>`,
			[]string{"- dialog:\n  - button \"In\" [active] [ref]\n- status:\n  - text: Saved\n  - alert: Now"},
			[]string{`- button "In" [active] [ref]`},
		},
		{
			"lines and bidi marks", "<div contenteditable " +
				"aria-label=E><div>one</div><div>two</div></div><button>a\u202eb\u2066c</button>",
			[]string{`- generic "E" [ref] [contenteditable]: one two`, `- button "abc" [ref]`},
			[]string{`- button "abc" [ref]`},
		},
	}
	tab := show(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rewrite(t, tab, tt.html+listen)
			wantLines(t, snapshot(t, tab, page.SnapshotOptions{}).Text, tt.want)
			flat := tt.flat
			if flat == nil {
				for _, line := range tt.want {
					if strings.Contains(line, "[ref]") && !strings.Contains(line, "[item]") {
						flat = append(flat, strings.TrimSuffix(strings.TrimSpace(line), ":"))
					}
				}
			}
			wantLines(t, snapshot(t, tab, page.SnapshotOptions{Interactive: true}).Text, flat)
		})
	}
}

// Scripts may not read style sheets of other origins.
func TestMenusOfOtherOriginsSheetsOpenOnHover(t *testing.T) {
	sheet := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = w.Write([]byte(`li div { display: none } li:hover > div { display: block }`))
	})
	tab := show(t, `<link rel=stylesheet href="`+sheet.URL+`"><ul><li><a href=#a>Shop</a><div><a href=#b>Shoes</a></div>
		<li><a href=#c aria-expanded=false>About</a><div><a href=#d>Us</a></div><li class=l>Help<div><a href=#e>Guide</a></div>
		<li>Plain<div>Text</div></ul>`+listen)
	wantLines(t, snapshot(t, tab, page.SnapshotOptions{}).Text, []string{
		`  - listitem [ref] [hover]:`, `    - link "Shop" [ref]`, "  - listitem:\n    - link \"About\" [expanded=false] [ref]",
		`  - listitem "Help" [ref] [listener]`, `  - listitem: Plain`,
	})
	act(t, tab, page.Action{Kind: actiontable.KindHover, Ref: refOf(t, tab, "[hover]")})
	wantLines(t, snapshot(t, tab, page.SnapshotOptions{}).Text, []string{`    - link "Shoes" [ref]`})
}

// ownRef matches a ref at the end of a line's name; those in page text are quoted.
var ownRef = regexp.MustCompile(`( )\[ref=e\d+\]( \[|:|\n|$)`)

// wantLines checks that a snapshot has the lines, indented at least as far as given, with any refs.
func wantLines(t *testing.T, got string, want []string) {
	t.Helper()
	got = ownRef.ReplaceAllString(got, "$1[ref]$2")
	for _, line := range want {
		if !strings.Contains("\n"+got+"\n", line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
}

func TestAnElementKeepsItsRefInEachForm(t *testing.T) {
	tab := show(t, `<h1>Sign in</h1><p>Text <a href=/help>Help</a></p><label>User <input></label><label>Password <input type=password></label>
		<div id=box><button>Go</button></div><iframe title=In srcdoc="<button>Inner</button>"></iframe>`)
	browsertest.Eventually(t, "the frame is seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Inner")
	})
	want := map[string]string{}
	for _, r := range snapshot(t, tab, page.SnapshotOptions{}).Refs() {
		want[r.Name] = r.Ref
	}
	for name, opts := range map[string]page.SnapshotOptions{
		"role": {Refs: page.RefsRole}, "aria": {Refs: page.RefsAria}, "interactive": {Interactive: true},
		"efficient": efficient, "query": {Query: "go"},
		"selector": {Selector: "#box"}, "frame": {Frame: "iframe"}, "compact": {Compact: true},
		"after": {After: want["User"]},
	} {
		refs := snapshot(t, tab, opts).Refs()
		if len(refs) == 0 {
			t.Errorf("%s: no refs", name)
		}
		for _, r := range refs {
			if want[r.Name] != r.Ref {
				t.Errorf("%s: %q is %s, want %s", name, r.Name, r.Ref, want[r.Name])
			}
		}
	}
}

func TestALongTextHidesNothingBehindIt(t *testing.T) {
	tab := show(t, `<p>`+strings.Repeat("word ", 18000)+`</p><button>Go</button>`)
	for name, opts := range map[string]page.SnapshotOptions{"whole": {MaxChars: 8000}, "efficient": efficient} {
		if got := snapshot(t, tab, opts).Text; !strings.Contains(got, `- button "Go"`) ||
			(name == "whole" && !strings.Contains(got, "(89999 characters)")) {
			t.Errorf("%s: no button or no length in %.300s", name, got)
		}
	}
}

// efficient has the options of the control API's mode "efficient".
var efficient = page.SnapshotOptions{Refs: page.RefsRole, Interactive: true, Compact: true, MaxChars: 8000}

func TestThingsAreDraggedIntoFramesAndOutOfThem(t *testing.T) {
	const card = `<p id=card>Card</p><script>
		window.log ??= [];
		card.ondragstart = (e) => { log = []; e.dataTransfer.setData('text', 'card') };
		card.ondragend = () => top.postMessage('over ' + card.textContent, '*');`
	drop := func(name string) string {
		return `<div id=box style="height:60px">Drop on ` + name + `</div><script>
			box.addEventListener('dragover', (e) => e.preventDefault());
			box.addEventListener('drop', (e) => { e.preventDefault();
				top.postMessage(e.dataTransfer.getData('text') + ' on ` + name + `', '*') });</script>`
	}
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		html := "<!doctype html>"
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case "":
			browsertest.HTML(w, html+card+`onmessage = (e) => log.push(e.data)</script><iframe src=/near></iframe><iframe src="`+
				foreign(srv)+`/far"></iframe><iframe src="`+foreign(srv)+`/source"></iframe>`+strings.Replace(drop("main"), "<div", "<div role=button", 1))
		case "source":
			browsertest.HTML(w, html+strings.ReplaceAll(card, "Card", "Piece")+`card.draggable = true</script>`)
		default:
			browsertest.HTML(w, html+drop(name))
		}
	})
	tab := openTab(t, srv.URL)
	targets := func() string {
		found := regexp.MustCompile(`"Drop on (\w+)" \[ref=\w+\] \[drop\]`).FindAllString(
			snapshot(t, tab, page.SnapshotOptions{}).Text, -1)
		return strings.Join(found, " ")
	}
	browsertest.Eventually(t, "the frames are seen", func() bool {
		text := snapshot(t, tab, page.SnapshotOptions{}).Text
		return strings.Contains(text, "Drop on far") && strings.Contains(text, "Drop on near") &&
			strings.Contains(text, "Piece")
	})
	browsertest.WantEqual(t, targets(), "") // where nothing is dragged around them, nothing is dropped
	act(t, tab, evaluate(`() => { card.draggable = true }`))
	browsertest.Eventually(t, "the targets have refs", func() bool {
		got := targets()
		return strings.Contains(got, "far") && strings.Contains(got, "near")
	})
	for _, d := range []struct{ card, target, name string }{
		{"Card", "Drop on far", "far"}, {"Card", "Drop on near", "near"}, // the second needs that the first has ended
		{"Piece", `button "Drop on main"`, "main"},
	} {
		act(t, tab, evaluate(`() => { log.length = 0 }`))
		act(t, tab, page.Action{
			Kind: actiontable.KindDrag, StartRef: refOf(t, tab, `"`+d.card+`"`), EndRef: refOf(t, tab, d.target),
		})
		act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: "log.includes('card on " + d.name +
			"') && log.includes('over " + d.card + "')"})
	}
}
