package control_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scrollers has a box that scrolls, a list that has only the rows in view, and more than fits on the page.
const scrollers = `<title>Scrollers</title><style>.box {height:200px; width:300px; overflow:auto}</style>
	<div id=box class=box tabindex=0 aria-label=Box><section aria-label=Content style="height:3000px;width:2000px">x</section></div>
	<div id=list class=box><div id=rows style="height:100000px;position:relative"></div></div>
	<iframe srcdoc="<button>Inside</button><p style='height:3000px'>z" style="height:150px"></iframe>
	<p style="height:5000px">y</p>
	<script>
	const show = () => {
		rows.replaceChildren();
		for (let i = Math.floor(list.scrollTop / 20), n = 0; n < 12; i++, n++) {
			const row = document.createElement('button');
			row.textContent = 'Row ' + i;
			row.style = 'position:absolute;height:20px;top:' + i * 20 + 'px';
			rows.append(row);
		}
	};
	list.onscroll = show;
	show();
	</script>`

func TestScrollMovesTheElementOfItsRef(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/scrollers")
	box, content := c.ref(target, "Box"), c.ref(target, "Content")
	row, inside := c.ref(target, "Row 3"), c.ref(target, "Inside")
	for _, step := range []struct {
		name, action string
		want         []any // the box, down and right; the list; the frame; the page
	}{
		{"an inner scroller", `"ref":"` + box + `","pixels":300`, []any{300.0, 0.0, 0.0, 0.0, 0.0}},
		{"back up", `"ref":"` + box + `","direction":"up","pixels":100`, []any{200.0, 0.0, 0.0, 0.0, 0.0}},
		{"to the right", `"ref":"` + box + `","direction":"right","pixels":50`, []any{200.0, 50.0, 0.0, 0.0, 0.0}},
		{"what is higher than its scroller", `"ref":"` + content + `","pixels":100`, []any{300.0, 50.0, 0.0, 0.0, 0.0}},
		{"a row that goes away", `"ref":"` + row + `","pixels":1000`, []any{300.0, 50.0, 1000.0, 0.0, 0.0}},
		{"a frame", `"ref":"` + inside + `","pixels":70`, []any{300.0, 50.0, 1000.0, 70.0, 0.0}},
		{"without a ref", `"pixels":50,"direction":"down"`, []any{300.0, 50.0, 1000.0, 70.0, 50.0}},
	} {
		c.ok("POST", "/act", `{"kind":"scroll",`+step.action+`}`)
		a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"[box.scrollTop, box.scrollLeft, list.scrollTop, frames[0].scrollY, scrollY]"}`)
		if diff := cmp.Diff(step.want, a.body["result"]); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	c.ok("POST", "/act", `{"kind":"batch","actions":[{"kind":"scroll","ref":"`+c.ref(target, "Row 51")+`"}]}`)
	// Most of what can be seen of the list, not of the page.
	a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"list.scrollTop"}`)
	if got := a.body["result"]; got != 1160.0 {
		t.Errorf("by default: got %v, want 1160", got)
	}
	c.ref(target, "Row 58")
}

func TestScrollWithARefThatNamesNothingIsRefused(t *testing.T) {
	c := serve(t, nil)
	c.open("/scrollers")
	for _, step := range []struct {
		action, code string
		status       int
		want         string
	}{
		{`"ref":"e999"`, "ACT_OPERATION_FAILED", 500, "Unknown ref"},
		{`"ref":"everything"`, "ACT_INVALID_REQUEST", 400, "is not a ref"},
		{`"selector":"#box"`, "ACT_SELECTOR_UNSUPPORTED", 400, "'selector' is not supported"},
	} {
		a := c.do("POST", "/act", `{"kind":"scroll",`+step.action+`}`)
		if a.status != step.status || a.str("code") != step.code || !strings.Contains(a.str("error"), step.want) {
			t.Errorf("%s: got %d %s, want %d %s %q", step.action, a.status, a.text, step.status, step.code, step.want)
		}
	}
	a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"[box.scrollTop, list.scrollTop, scrollY]"}`)
	if diff := cmp.Diff([]any{0.0, 0.0, 0.0}, a.body["result"]); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
}
