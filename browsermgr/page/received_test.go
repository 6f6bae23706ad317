package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// recorder makes a document, or a shadow root, report the events of its elements to the top document, and whether they
// are synthetic.
const recorder = `<script>
record = (root) => {
	for (const type of ['pointerdown', 'mousedown', 'click', 'dblclick', 'keydown', 'keyup', 'beforeinput', 'input', 'change',
		'wheel', 'mousemove', 'mouseup', 'dragstart', 'drop', 'scroll']) {
		root.addEventListener(type, (e) => {
			const name = e.target.ariaLabel ?? e.target.textContent?.trim();
			if (e.target.nodeType === 1) top.postMessage(name + ' ' + type + (e.isTrusted ? '' : ' scripted'), '*');
		}, { capture: true, passive: true });
	}
};
if (self === top) { received = []; addEventListener('message', (e) => received.push(e.data)); }
</script>`

// parts returns elements of all kinds, at fixed positions in their container, with names that end in where.
func parts(where string) string {
	at := func(x, y int, html string) string {
		return fmt.Sprintf(`<div style="position:absolute;left:%dpx;top:%dpx">%s</div>`, x, y, html)
	}
	style := `<style>body { margin: 0 } div { width: 90px } input, select, button { width: 80px; margin: 0 }
		.box { height: 40px; overflow: auto } .long { height: 900px }</style>`
	return strings.ReplaceAll(style+at(0, 0, `<button>Button-W</button>`)+at(100, 0, `<input aria-label=Text-W>`)+
		at(200, 0, `<input type=checkbox aria-label=Check-W>`)+
		at(0, 40, `<select aria-label=List-W><option>One<option>Two</select>`)+
		at(100, 40, `<div role=group aria-label=Box-W tabindex=0 class=box><p class=long>Long</p></div>`)+
		at(0, 100, `<div role=button draggable=true aria-label=Drag-W style="height:30px;background:red">drag</div>`)+
		at(100, 100, `<div role=button aria-label=Drop-W ondragover="event.preventDefault()" style="height:30px">drop</div>`)+
		at(200, 40, `<select multiple aria-label=Many-W style="height:40px"><option>Red<option>Green<option>Blue</select>`)+
		at(200, 100, `<div class=box><p class=long></p><button>Deep-W</button></div>`), "-W", "_"+where)
}

// TestWhatIsDoneArrives performs every action on an element or at a point in documents and shadow roots of all kinds,
// and checks the trusted events that they record.
func TestWhatIsDoneArrives(t *testing.T) {
	places := []string{"main", "same", "cross", "boxed", "open", "closed"}
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if where := strings.TrimPrefix(r.URL.Path, "/"); where != "" {
			browsertest.HTML(w, "<!doctype html>"+recorder+"<script>record(window)</script>"+parts(where))
			return
		}
		contents := []string{
			parts("main"), `<iframe src=/same></iframe>`, `<iframe src=` + browsertest.LocalhostURL(r) + `/cross></iframe>`,
			`<iframe sandbox=allow-scripts src=/boxed></iframe>`, "", "",
		}
		var b strings.Builder
		b.WriteString(`<!doctype html><style>iframe { width: 300px; height: 160px; border: 0 }</style>` + recorder)
		for i, html := range contents {
			const section = `<section id=%s style="position:absolute;left:%dpx;top:%dpx">%s</section>`
			fmt.Fprintf(&b, section, places[i], i%2*320, i/2*180, html)
		}
		for _, mode := range places[4:] {
			html, _ := json.Marshal(parts(mode))
			fmt.Fprintf(&b, `<script>{ const root = document.getElementById(%q).attachShadow({mode: %[1]q});
				root.innerHTML = %s; record(root) }</script>`, mode, html)
		}
		b.WriteString(`<script>record(window)</script>`)
		browsertest.HTML(w, b.String())
	})
	tab := openTab(t, srv.URL)
	refs := map[string]string{}
	browsertest.Eventually(t, "all parts are seen", func() bool {
		for _, r := range snapshot(t, tab, page.SnapshotOptions{}).Refs() {
			refs[r.Name] = r.Ref
		}
		return !slices.ContainsFunc(places, func(where string) bool { return refs["Deep_"+where] == "" })
	})
	type step struct {
		kind actiontable.Kind
		a    page.Action
		want string // names without their place, each with an event
	}
	done := map[actiontable.Kind]bool{}
	for i, where := range places {
		ref := func(name string) string { return refs[name+"_"+where] }
		x, y := float64(i%2*320), float64(i/2*180)
		for _, s := range []step{
			{actiontable.KindClick, page.Action{Ref: ref("Button")}, "Button pointerdown, Button mousedown, Button click"},
			{actiontable.KindClick, page.Action{Ref: ref("Button"), DoubleClick: true}, "Button dblclick"},
			{actiontable.KindClick, page.Action{Ref: ref("Check")}, "Check click, Check input, Check change"},
			{actiontable.KindHover, page.Action{Ref: ref("Drop")}, "Drop mousemove"},
			{actiontable.KindType, page.Action{Ref: ref("Text"), Text: "a"}, "Text beforeinput, Text input"},
			{actiontable.KindType, page.Action{Ref: ref("Text")}, "Text keydown, Text beforeinput, Text input"},
			{actiontable.KindType, page.Action{Ref: ref("Text"), Text: "b", Slowly: true}, "Text keydown, Text input"},
			{actiontable.KindPress, page.Action{Key: "c"}, "Text keydown, Text input, Text keyup"},
			{actiontable.KindKeyDown, page.Action{Key: "d"}, "Text keydown, Text input"},
			{actiontable.KindKeyUp, page.Action{Key: "d"}, "Text keyup"},
			{actiontable.KindInsertText, page.Action{Text: "e"}, "Text input"},
			{actiontable.KindFill, page.Action{Fields: []actiontable.Field{
				{Ref: ref("Text"), Value: "f"}, {Ref: ref("Check"), Type: "checkbox"},
			}}, "Text beforeinput, Text input, Text change, Check change"},
			{
				actiontable.KindFill,
				page.Action{Fields: []actiontable.Field{{Ref: ref("Text"), Value: "g"}}},
				"Text input, Text change",
			},
			{
				actiontable.KindSelect,
				page.Action{Ref: ref("List"), Values: []string{"Two"}},
				"List input, List change",
			},
			{
				actiontable.KindSelect,
				page.Action{Ref: ref("Many"), Values: []string{"Red", "Blue"}},
				"Many input, Many change",
			},
			{actiontable.KindScroll, page.Action{Ref: ref("Box")}, "Box scroll"},
			{actiontable.KindScrollIntoView, page.Action{Ref: ref("Deep")}, ""},
			{actiontable.KindDrag, page.Action{StartRef: ref("Drag"), EndRef: ref("Drop")}, "Drag dragstart, Drop drop"},
			{
				actiontable.KindDragCoords,
				page.Action{X: x + 20, Y: y + 110, EndX: x + 120, EndY: y + 110},
				"Drag dragstart, Drop drop",
			},
			{actiontable.KindClickCoords, page.Action{X: x + 20, Y: y + 10}, "Button pointerdown, Button click"},
			{actiontable.KindPointerMove, page.Action{X: x + 30, Y: y + 10}, "Button mousemove"},
			{actiontable.KindPointerDown, page.Action{X: x + 30, Y: y + 10}, "Button mousedown"},
			{actiontable.KindPointerUp, page.Action{X: x + 30, Y: y + 10}, "Button mouseup, Button click"},
			{actiontable.KindWheel, page.Action{X: x + 120, Y: y + 60, DeltaY: 30}, "Long wheel"},
		} {
			done[s.kind], s.a.Kind = true, s.kind
			js(t, tab, "received.length = 0")
			if _, err := tab.Act(browsertest.Within(t, browsertest.Patience), s.a); err != nil {
				t.Errorf("%s: %s: %v", where, s.kind, err)
				continue
			}
			got := ""
			missing := func(want string) bool {
				name, event, _ := strings.Cut(want, " ")
				return !strings.Contains(got, fmt.Sprintf(`"%s_%s %s"`, name, where, event)) && !strings.Contains(got, `"`+want+`"`)
			}
			what := fmt.Sprintf("%s: %s is ok, and the page receives %q", where, s.kind, s.want)
			browsertest.Eventually(t, what, func() bool {
				got = js(t, tab, "received")
				return s.want == "" || !slices.ContainsFunc(strings.Split(s.want, ", "), missing)
			})
		}
	}
	for _, spec := range actiontable.Specs() {
		switch spec.Kind { // what is not for an element
		case actiontable.KindResize, actiontable.KindWait, actiontable.KindEvaluate, actiontable.KindBack,
			actiontable.KindForward, actiontable.KindReload, actiontable.KindClose, actiontable.KindBatch:
		default:
			if spec.OnPage() && !done[spec.Kind] {
				t.Errorf("%s is not tried", spec.Kind)
			}
		}
	}
}
