package page_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func TestActionsInAFrameWithoutScriptsAreDoneOnce(t *testing.T) {
	tab := show(t, `<iframe sandbox title=In width=400 height=300 srcdoc="<button>Go</button><label>Name <input></label><label><input type=checkbox>Tick</label>
		<select aria-label=S><option>One<option>Two</select><details><summary>More</summary>Inner text</details>"></iframe>`)
	find := func(name string) string {
		t.Helper()
		for _, r := range snapshot(t, tab, page.SnapshotOptions{}).Refs() {
			if r.Name == name {
				return r.Ref
			}
		}
		return ""
	}
	browsertest.Eventually(t, "the frame is seen", func() bool { return find("More") != "" })
	for _, a := range []page.Action{
		{Kind: actiontable.KindClick, Ref: find("Go")},
		{Kind: actiontable.KindClick, Ref: find("More")},
		{Kind: actiontable.KindType, Ref: find("Name"), Text: "Ada"},
		{Kind: actiontable.KindHover, Ref: find("Go")},
		{Kind: actiontable.KindClick, Ref: find("Tick")},
		{Kind: actiontable.KindSelect, Ref: find("S"), Values: []string{"Two"}},
	} {
		act(t, tab, a)
	}
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Inner text", ": Ada", `checkbox "Tick" [checked]`,
		`combobox "S"`, ": Two")
}

func TestWaitsEndInDocumentsWithoutScripts(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><text y="20">Shown</text></svg>`
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/svg":
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, svg)
		case "/sandboxed.svg":
			w.Header().Set("Content-Security-Policy", "sandbox")
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, svg)
		case "/sandboxed":
			w.Header().Set("Content-Security-Policy", "sandbox")
			browsertest.HTML(w, `<!doctype html><p>Shown`)
		case "/mail":
			browsertest.HTML(w, `<!doctype html><iframe sandbox srcdoc="<p>Shown"></iframe>`)
		}
	})
	tab := openTab(t, "about:blank")
	for _, path := range []string{"/svg", "/sandboxed.svg", "/sandboxed", "/mail"} {
		check.Must(t, check.Err(tab.Navigate(t.Context(), srv.URL+path)))
		refused(t, tab, page.Action{Kind: actiontable.KindWait, Text: "nowhere"}, `the text "nowhere" did not appear`)
		act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "shown"})
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "a"})
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Shown")
	}
}

// combobox returns a list as component libraries build it: an input in a container that handles clicks and contains
// more.
func combobox(style, more string) string {
	return `<div style="position:relative;width:200px;height:40px" onclick="document.title='hit'">
		<input id=t role=combobox aria-label=Land style="position:absolute;inset:0;` + style + `">` + more + `</div>`
}

func TestClicksSayWhatGetsThemInstead(t *testing.T) {
	tests := []struct {
		name, html string
		target     string // a selector
		want       string // in the title, or
		err        []string
	}{
		{"lets clicks through", `<button onclick="document.title='under'" style="position:absolute;inset:0">Under</button><button id=t style="position:absolute;top:9px;pointer-events:none">Top</button>`, "#t", "", []string{"covered by", `button "Under" [ref=`}},
		{
			"part of a control lets clicks through",
			`<button onclick="document.title='hit'"><i id=t style=pointer-events:none>Icon</i></button>`, "#t", "hit", nil,
		},
		{
			"no box of its own", `<button id=t style=display:contents onclick="document.title='hit'">Go</button>`, "#t", "hit",
			nil,
		},
		{
			"no size but what floats in it",
			`<a id=t href=#x onclick="document.title='hit'"><span style=float:left>Go</span></a>`, "#t", "hit", nil,
		},
		{
			"closed to nothing", `<div id=t role=button style="height:0;overflow:hidden">Go</div>`, "#t", "",
			[]string{"not visible"},
		},
		{"behind its label", `<style>#t{display:none}</style><input type=checkbox id=t onchange="document.title='hit'"><label for=t>Tick</label>`, "#t", "hit", nil},
		{"clipped to a point", `<style>#t{position:absolute;width:1px;height:1px;clip:rect(0,0,0,0);overflow:hidden}</style><input type=radio id=t onchange="document.title='hit'"><label for=t>Pick</label>`, "#t", "hit", nil},
		{
			"clipped to a point, without a label",
			`<style>#t{position:absolute;width:1px;height:1px;clip:rect(0,0,0,0)}</style><button id=t>Skip</button>`, "#t", "",
			[]string{"not visible"},
		},
		{
			"list that lets clicks through to its frame",
			combobox(`pointer-events:none`, `<b style="position:absolute;inset:0">Peru</b>`), "#t", "hit", nil,
		},
		{
			"list covered by what is chosen", combobox(``, `<b style="position:absolute;inset:0;z-index:1">Peru</b>`), "#t",
			"hit", nil,
		},
		{
			"list clipped to a point", combobox(`width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden`, `<b>Peru</b>`), "#t",
			"hit", nil,
		},
		{
			"list clipped to a point, disabled",
			combobox(`width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden" disabled title="`, `<b>Peru</b>`), "#t", "",
			[]string{"is disabled"},
		},
		{
			"list under a veil of the page", combobox(``, `<i id=veil style="position:fixed;inset:0"></i>`), "#t", "",
			[]string{"covered by", "veil"},
		},
		{
			"list covered by a button", combobox(``, `<button style="position:absolute;inset:0">Clear</button>`), "#t", "",
			[]string{"covered by", `button "Clear"`},
		},
		{
			"where nobody can scroll",
			`<style>body{overflow:hidden}#t{position:fixed;top:5000px}</style><button id=t>Low</button>`, "#t", "",
			[]string{"outside"},
		},
		{
			"an item of a tree with items below it", `<ul role=tree><li id=t role=treeitem aria-expanded=true>Top<ul role=group><li role=treeitem>
				One<li role=treeitem>Two</ul></ul><script>t.onclick = (e) => { document.title = e.target === t ? 'hit' : 'below' }</script>`,
			"#t", "hit", nil,
		},
		{
			"a wheel of values, which turns back what it has not heard of",
			`<div id=l style="height:60px;width:90px;overflow:auto"><p style=height:900px>Top<p id=t onclick="document.title = moves < 9 ? 'hit' : 'late'">Low<p style=height:90px></div>
				<script>var at = 0, moves = 0; l.onscroll = () => { at = l.scrollTop }; l.onmousemove = () => { l.scrollTop = at; moves++ }</script>`,
			"#t", "hit", nil,
		},
		{"an area of a picture", `<map name=m><area id=t href=#hit alt=A shape=rect coords=0,0,30,30 onclick="document.title='hit'"></map><img usemap=#m width=60 height=30 src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`, "#t", "hit", nil},
	}
	tab := show(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rewrite(t, tab, tt.html)
			a := page.Action{Kind: actiontable.KindClick, Selector: tt.target}
			if tt.err != nil {
				_ = refused(t, tab, a, tt.err...)
				return
			}
			act(t, tab, a)
			if got := strings.Trim(js(t, tab, "document.title"), `"`); got != tt.want {
				t.Errorf("got title %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPointsOutsideOfTheVisiblePageAreRefused(t *testing.T) {
	tab := show(t, `<style>html { height: 3000px }</style><script>got = []
		for (const type of ['mousedown', 'wheel', 'mousemove']) addEventListener(type, (e) => got.push(type))</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindResize, Width: 500, Height: 400})
	far := page.Action{X: 10, Y: 10, EndX: 499, EndY: 399}
	for _, tt := range []struct {
		kind actiontable.Kind
		a    page.Action
		want string // the event that the page gets, or
		err  string
	}{
		{actiontable.KindClickCoords, page.Action{}, "mousedown", ""},
		{actiontable.KindClickCoords, page.Action{X: 499.75, Y: 399.75}, "mousedown", ""},
		{actiontable.KindClickCoords, page.Action{X: 500, Y: 10}, "", "the point 500, 10"},
		{actiontable.KindClickCoords, page.Action{X: 10.5, Y: 2000}, "", "the point 10.5, 2000"},
		{actiontable.KindDragCoords, far, "mousedown", ""},
		{actiontable.KindDragCoords, page.Action{X: 10, Y: 400, EndX: 10, EndY: 10}, "", "the point 10, 400"},
		{actiontable.KindDragCoords, page.Action{X: 10, Y: 10, EndX: 10, EndY: 900}, "", "the point 10, 900"},
		{actiontable.KindWheel, page.Action{X: 499.75, Y: 399.75, DeltaY: 9}, "wheel", ""},
		{actiontable.KindWheel, page.Action{X: 600, Y: 10, DeltaY: 9}, "", "the point 600, 10"},
		{actiontable.KindPointerMove, page.Action{X: 400, Y: 300}, "mousemove", ""},
		{actiontable.KindPointerMove, page.Action{X: 600, Y: 10}, "", "the point 600, 10"},
		{actiontable.KindPointerDown, page.Action{X: 600, Y: 10}, "", "the point 600, 10"},
		{actiontable.KindPointerDown, page.Action{X: 400, Y: 300}, "mousedown", ""},
		{actiontable.KindPointerMove, page.Action{X: 600, Y: 300}, "mousemove", ""}, // the pressed button holds the mouse
		{actiontable.KindPointerUp, page.Action{X: 600, Y: 300}, "", ""},
	} {
		js(t, tab, "got.length = 0")
		tt.a.Kind = tt.kind
		_, err := tab.Act(browsertest.Within(t, browsertest.Patience), tt.a)
		if tt.err != "" {
			check.Fails(t, err, page.ErrNotInteractable)
			check.Fails(t, err, nil, tt.err+" is outside of the visible page, which is 500 wide and 400 high")
			browsertest.WantJS(t, tab, "got", "[]")
			continue
		}
		check.Must(t, err)
		if got := js(t, tab, "got"); !strings.Contains(got, tt.want) {
			t.Errorf("%s %+v: the page got %s, want %s", tt.kind, tt.a, got, tt.want)
		}
	}
}

func TestACheckThatChangesNothingIsReported(t *testing.T) {
	tab := show(t, `<p role=switch aria-checked=false tabindex=0>Dead</p><input type=checkbox aria-label=Kept checked
		onclick="event.preventDefault()"><p role=switch aria-checked=false tabindex=0 onclick="this.remove()">Gone</p>
		<p role=switch aria-checked=false tabindex=0 onclick="setTimeout(() => { this.ariaChecked = true }, 100)">Late</p>`)
	refs := map[string]string{}
	for _, r := range snapshot(t, tab, page.SnapshotOptions{}).Refs() {
		refs[r.Name] = r.Ref
	}
	for name, want := range map[string]string{
		"Dead": `switch "Dead" was clicked and is still unchecked`, "Gone": "", "Late": "",
		"Kept": `checkbox "Kept" was clicked and is still checked`,
	} {
		field := actiontable.Field{Ref: refs[name], Type: "checkbox", Value: name != "Kept"}
		_, err := tab.Act(browsertest.Within(t, browsertest.Patience),
			page.Action{Kind: actiontable.KindFill, Fields: []actiontable.Field{field}})
		if want == "" {
			check.Must(t, err)
			continue
		}
		check.Fails(t, err, page.ErrNotInteractable)
		check.Fails(t, err, nil, want)
	}
}

func TestAReloadThatFailsSaysSo(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { browsertest.HTML(w, "<p>Up") })
	tab := openTab(t, srv.URL)
	srv.Close()
	check.Fails(t, check.Err(tab.Reload(t.Context())), nil, "reload: the page did not load")
}
