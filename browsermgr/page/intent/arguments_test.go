package intent_test

import (
	"encoding/json"
	"errors"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/intent"

	"github.com/google/go-cmp/cmp"
)

func TestReadAction(t *testing.T) {
	got, err := readAction("click", map[string]any{
		"kind": "click", "ref": 12.0, "doubleClick": "YES", "modifiers": "Shift", "delayMs": "50", "button": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := page.Action{Kind: page.KindClick, Ref: "12", DoubleClick: true, Modifiers: []string{"Shift"}, DelayMs: 50}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = readAction("fill", map[string]any{"fields": []any{map[string]any{"ref": "e1", "value": true}}})
	if err != nil {
		t.Fatal(err)
	}
	want = page.Action{Kind: page.KindFill, Fields: []page.Field{{Ref: "e1", Value: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadActionsOfMouseAndKeys(t *testing.T) {
	for kind, tt := range map[string]struct {
		args map[string]any
		want page.Action
	}{
		"clickCoords": {map[string]any{"x": 1.5, "y": "2"}, page.Action{X: 1.5, Y: 2, ClickCount: 1}},
		"dragCoords":  {map[string]any{"path": []any{"1,2", "3,4"}, "button": "right"}, page.Action{Path: []string{"1,2", "3,4"}, Button: "right"}},
		"press":       {map[string]any{"key": "a", "count": "3", "holdMs": 250}, page.Action{Key: "a", Count: 3, DelayMs: 250}},
		"wheel":       {map[string]any{"x": 1, "y": 2, "deltaY": -120.5}, page.Action{X: 1, Y: 2, DeltaY: -120.5}},
		"insertText":  {map[string]any{"text": 5, "clear": "yes"}, page.Action{Text: "5", Clear: true}},
	} {
		got, err := readAction(kind, tt.args)
		tt.want.Kind = page.Kind(kind)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", kind, err, diff)
		}
	}
	for _, args := range []map[string]any{{"x": 1}, {"x": 1, "y": 1, "clickCount": 2.5}, {"x": 1, "y": 1, "keys": "a"}} {
		if got, err := readAction("clickCoords", args); err == nil {
			t.Errorf("%v is read as %+v", args, got)
		}
	}
}

// FuzzReadAction looks for arguments that pass although the page would refuse them, or that break the reading.
func FuzzReadAction(f *testing.F) {
	f.Add("click", `{"ref":"e1","modifiers":["Alt",1,true]}`)
	f.Add("clickCoords", `{"x":"1e400","y":-0}`)
	f.Add("fill", `{"fields":[{"ref":1},null,[]]}`)
	f.Add("wait", `{"timeMs":1e300}`)
	f.Add("select", `{"ref":{},"values":[[]]}`)
	f.Fuzz(func(t *testing.T, kind, text string) {
		var args map[string]any
		if json.Unmarshal([]byte(text), &args) != nil {
			return
		}
		a, err := readAction(kind, args)
		if err != nil {
			return
		}
		if string(a.Kind) != kind {
			t.Errorf("kind %q became %q", kind, a.Kind)
		}
		if err := a.Validate(); err != nil {
			t.Errorf("%s %s passes, and then: %v", kind, text, err)
		}
		if _, err := json.Marshal(a); err != nil && !errors.Is(err, page.ErrInvalid) {
			t.Errorf("%s %s cannot be written: %v", kind, text, err)
		}
	})
}

// readAction reads as a caller does.
func readAction(kind string, args map[string]any) (page.Action, error) {
	fields, err := intent.KindFields(kind, nil)
	if err != nil {
		return page.Action{}, err
	}
	vals, err := intent.ParseArguments(kind, fields, args)
	if err != nil {
		return page.Action{}, err
	}
	return vals.Action(kind)
}
