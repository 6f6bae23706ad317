package control_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"clank/browsermgr/control"

	"github.com/google/go-cmp/cmp"
)

// nested is a batch in a batch in a batch…
func nested(depth int) string {
	if depth == 0 {
		return `{"kind":"wait","timeMs":0}`
	}
	return `{"kind":"batch","actions":[` + nested(depth-1) + `]}`
}

func TestCodesOfActionsThatAreNotDone(t *testing.T) {
	const (
		invalid  = "ACT_INVALID_REQUEST"
		selector = "ACT_SELECTOR_UNSUPPORTED"
		kind     = "ACT_KIND_REQUIRED"
		mismatch = "ACT_TARGET_ID_MISMATCH"
	)
	c := serve(t, nil)
	target := c.open("/")
	c.open("/two")
	entries := func(n int) string {
		return strings.Repeat(`{"kind":"press","key":"a"},`, n-1) + `{"kind":"press","key":"a"}`
	}
	for _, step := range []struct {
		body, code string
		status     int
		want       string
	}{
		{`{}`, kind, 400, "kind is required"},
		{`{"kind":"explode","ref":7}`, kind, 400, "kind is required"},
		{`{"kind":"click"}`, invalid, 400, "click requires ref or selector"},
		{`{"kind":"click","ref":" "}`, invalid, 400, "click requires ref or selector"},
		{`{"kind":"click","ref":"e1","delayMs":5001}`, invalid, 400, "click delayMs exceeds maximum of 5000ms"},
		{`{"kind":"click","ref":"e1","delayMs":"25ms"}`, invalid, 400, "delayMs must be a non-negative integer."},
		{`{"kind":"click","ref":"e1","timeoutMs":0}`, invalid, 400, "timeoutMs must be a positive integer."},
		{`{"kind":"click","ref":"e1","button":"side"}`, invalid, 400, "button"},
		{`{"kind":"clickCoords","x":1}`, invalid, 400, "clickCoords requires non-negative x and y"},
		{`{"kind":"clickCoords","x":-1,"y":2}`, invalid, 400, "clickCoords requires non-negative x and y"},
		{`{"kind":"type","ref":"e1"}`, invalid, 400, "type requires text"},
		{`{"kind":"press"}`, invalid, 400, "press requires key"},
		{`{"kind":"press","selector":"#x"}`, invalid, 400, "press requires key"},
		{`{"kind":"press","key":"a","selector":"#x"}`, selector, 400, "'selector' is not supported"},
		{`{"kind":"evaluate","fn":"1","selector":""}`, selector, 400, "'selector' is not supported"},
		{`{"kind":"select","ref":"e1"}`, invalid, 400, "values"},
		{`{"kind":"fill","fields":[{"value":"x"}]}`, invalid, 400, "fields"},
		{`{"kind":"resize","width":100}`, invalid, 400, "resize requires positive width and height"},
		{`{"kind":"resize","width":9000,"height":10}`, invalid, 400, "resize width and height must not exceed 8192"},
		{`{"kind":"resize","width":"0x10","height":10}`, invalid, 400, "integer"},
		{`{"kind":"wait"}`, invalid, 400, "wait requires"},
		{`{"kind":"wait","loadState":"soon"}`, invalid, 400, "wait requires"},
		{`{"kind":"wait","timeMs":30001}`, invalid, 400, "timeMs"},
		{`{"kind":"batch","actions":[]}`, invalid, 400, "actions"},
		{`{"kind":"batch","actions":[{"kind":"explode"}]}`, invalid, 400, "kind"},
		{`{"kind":"batch","actions":[` + entries(101) + `]}`, invalid, 400, "batch exceeds maximum of 100 actions"},
		{`{"kind":"batch","actions":[{"kind":"batch","actions":[` + entries(60) + `]},` + entries(60) + `]}`, invalid, 400, "batch exceeds maximum of 100 actions"},
		{nested(6), invalid, 400, "nesting depth of 5"},
		{`{"kind":"click","ref":"e1","targetId":12345}`, mismatch, 403, "action targetId must match request targetId"},
		{`{"kind":"batch","actions":[{"kind":"press","key":"a","targetId":"` + target + `"}]}`, mismatch, 403, "batched action targetId must match request targetId"},
		{`{"kind":"click","ref":"e99999","targetId":"` + target + `"}`, "ACT_OPERATION_FAILED", 500, "Unknown ref"},
		{`{"kind":"press","key":"a","targetId":"nobody"}`, "", 404, "tab not found"},
	} {
		a := c.do("POST", "/act", step.body)
		if a.status != step.status || a.str("code") != step.code || !strings.Contains(a.str("error"), step.want) {
			t.Errorf("%.100s: got %d %s, want %d %s %q", step.body, a.status, a.text, step.status, step.code, step.want)
		}
	}
}

func TestActionsAcceptWhatClientsSend(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	button, name := c.ref(target, "Press me"), c.ref(target, "Name")
	for _, body := range []string{
		`{"kind":"click","ref":"` + button + `","doubleClick":"true","delayMs":"25","targetId":"` + target[:10] + `"}`,
		`{"kind":"clickCoords","x":"42.5","y":3,"button":"left"}`,
		`{"kind":"type","ref":"@` + name + `","text":"  two  words "}`,
		`{"kind":"evaluate","fn":"  (el) => el.value ","ref":"` + name + `"}`,
		`{"kind":"type","ref":"` + name + `","text":""}`,
		`{"kind":"type","ref":"` + name + `","text":42}`,
		`{"kind":"press","key":" ","delayMs":1}`,
		`{"kind":"fill","fields":[{"ref":"` + name + `","type":" ","value":7},{"value":"dropped"}]}`,
		`{"kind":"resize","width":"800","height":600.0}`,
		`{"kind":"wait","timeMs":0}`,
		`{"kind":"wait","text":"press ME","loadState":"load"}`,
		nested(5),
	} {
		a := c.ok("POST", "/act", body)
		if a.str("targetId") != target || a.str("url") == "" {
			t.Errorf("%s: got %s", body, a.text)
		}
		if strings.Contains(body, "el.value") && a.body["result"] != "  two  words " {
			t.Errorf("text lost its spaces: %s", a.text)
		}
	}
	a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"[document.title, document.querySelector('input').value]"}`)
	if diff := cmp.Diff([]any{"pressed", "7"}, a.body["result"]); diff != "" {
		t.Errorf("the page afterwards (-want +got):\n%s", diff)
	}
	if a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"undefined"}`); a.body["result"] != nil {
		t.Errorf("undefined: %s", a.text)
	}
	c.ok("POST", "/act", `{"kind":"close"}`)
	if got := c.listed(); len(got) != 0 {
		t.Errorf("after close: %v", got)
	}
}

func TestJavaScriptOfClientsCanBeSwitchedOff(t *testing.T) {
	var on atomic.Bool
	c := serve(t, func(s *control.Server) { s.EvaluateEnabled = on.Load })
	for _, body := range []string{
		`{"kind":"evaluate","fn":"1","targetId":"nobody"}`, `{"kind":"wait","fn":"true","targetId":"nobody"}`,
	} {
		a := c.do("POST", "/act", body)
		if a.status != 403 || a.str("code") != "ACT_EVALUATE_DISABLED" || !strings.Contains(a.str("error"), "browser.evaluateEnabled=false") {
			t.Errorf("%s: got %d %s", body, a.status, a.text)
		}
	}
	c.open("/")
	a := c.ok("POST", "/act", `{"kind":"batch","stopOnError":"false","actions":[{"kind":"evaluate","fn":"1"},{"kind":"press","key":"a"}]}`)
	results, _ := a.body["results"].([]any)
	if len(results) != 2 || results[0].(map[string]any)["ok"] != false || results[1].(map[string]any)["ok"] != true {
		t.Errorf("in a batch: %s", a.text)
	}
	on.Store(true)
	c.ok("POST", "/act", `{"kind":"evaluate","fn":"1"}`)
}

func TestBatches(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	press, two := c.ref(target, "Press me"), c.ref(target, "Two")
	below := c.ref(target, "Below")
	const unknown = `{"kind":"click","ref":"e99999"}`
	click := func(ref string) string { return fmt.Sprintf(`{"kind":"click","ref":%q}`, ref) }
	type outcome struct {
		OKs     []bool
		Aborted any
	}
	for _, step := range []struct {
		name, batch string
		want        outcome
	}{
		{"in order", click(press) + "," + click(press), outcome{[]bool{true, true}, nil}},
		{"ends at the first failure", click(press) + "," + unknown + "," + click(press), outcome{[]bool{true, false}, nil}},
		{"a failure inside", `{"kind":"batch","actions":[` + unknown + `]},` + click(press), outcome{[]bool{false}, nil}},
		{"an anchor is no navigation", click(below) + "," + click(press), outcome{[]bool{true, true}, nil}},
		{"a navigation ends it", click(two) + "," + click(press) + "," + click(press), outcome{
			[]bool{true},
			map[string]any{"reason": "navigation", "afterAction": 1.0, "url": site + "/two", "skipped": 2.0},
		}},
		{"a last navigation is no end", `{"kind":"back"}`, outcome{[]bool{true}, nil}},
		{"so does closing", `{"kind":"close"},` + click(press), outcome{
			[]bool{true},
			map[string]any{"reason": "closed", "afterAction": 1.0, "skipped": 1.0},
		}},
	} {
		a := c.ok("POST", "/act", `{"kind":"batch","actions":[`+step.batch+`]}`)
		got := outcome{Aborted: a.body["aborted"]}
		for _, r := range a.body["results"].([]any) {
			ok, _ := r.(map[string]any)["ok"].(bool)
			got.OKs = append(got.OKs, ok)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", step.name, diff, a.text)
		}
	}
}

func TestAPageThatClosesItselfHasDoneWhatWasAsked(t *testing.T) {
	c := serve(t, nil)
	opener := c.open("/opens")
	c.ok("POST", "/act", `{"kind":"evaluate","fn":"void window.open('/shuts')"}`)
	var popup string
	eventually(t, "the popup shows its page", func() bool {
		for _, tab := range c.listed() {
			if tab["url"] == site+"/shuts" {
				popup = tab["targetId"].(string)
			}
		}
		return popup != ""
	})
	ref := c.ref(popup, "Shut")
	a := c.ok("POST", "/act", map[string]any{"kind": "click", "ref": ref, "targetId": popup})
	if a.body["ok"] != true {
		t.Errorf("got %s", a.text)
	}
	listed := func(target string) bool {
		return slices.ContainsFunc(c.listed(), func(tab map[string]any) bool { return tab["targetId"] == target })
	}
	eventually(t, "the popup is gone", func() bool { return !listed(popup) })
	if !listed(opener) {
		t.Error("the opener is gone too")
	}
}

func TestADialogStandsInTheWayUntilItIsAnswered(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/ask")
	ref := c.ref(target, "Ask")
	for _, step := range []struct {
		accept bool
		title  string
	}{{true, "yes"}, {false, "no"}} {
		blocked := c.ok("POST", "/act", map[string]any{"kind": "click", "ref": ref})
		snap := c.ok("GET", "/snapshot", nil)
		again := c.ok("POST", "/act", map[string]any{"kind": "press", "key": "a"})
		for _, a := range []answer{blocked, snap, again} {
			if a.body["blockedByDialog"] != true || a.body["browserState"] == nil {
				t.Fatalf("got %s", a.text)
			}
		}
		if snap.str("snapshot") != "" || len(snap.body["refs"].(map[string]any)) != 0 {
			t.Errorf("snapshot: %s", snap.text)
		}
		if a := c.do("POST", "/hooks/dialog", `{"accept":true,"dialogId":"d99"}`); a.status == 200 || !strings.Contains(a.str("error"), "not pending") {
			t.Errorf("an unknown dialog: got %d %s", a.status, a.text)
		}
		if a := c.do("POST", "/hooks/dialog", `{}`); a.status != 400 || !strings.Contains(a.str("error"), "accept is required") {
			t.Errorf("no word: got %d %s", a.status, a.text)
		}
		c.ok("POST", "/hooks/dialog", map[string]any{"accept": step.accept})
		got := c.ok("POST", "/act", `{"kind":"evaluate","fn":"document.title"}`)
		if got.body["result"] != step.title {
			t.Errorf("answered %t: %s", step.accept, got.text)
		}
	}
	state, _ := c.ok("GET", "/dialogs", nil).body["browserState"].(map[string]any)
	dialogs, _ := state["dialogs"].(map[string]any)
	if pending, recent := dialogs["pending"].([]any), dialogs["recent"].([]any); len(pending) != 0 || len(recent) != 2 {
		t.Errorf("dialogs: %v", dialogs)
	}
}
