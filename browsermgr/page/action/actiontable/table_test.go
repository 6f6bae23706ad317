package actiontable_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func TestEachActionIsDescribedOnce(t *testing.T) {
	seen := map[actiontable.Kind]bool{}
	for _, s := range actiontable.Specs() {
		if seen[s.Kind] || s.About == "" {
			t.Errorf("%s: described twice, or without a word", s.Kind)
		}
		seen[s.Kind] = true
		for _, in := range []actiontable.Surface{actiontable.API, actiontable.Window} {
			names := map[string]bool{}
			for _, p := range s.ParamsIn(in) {
				if names[p.Name] {
					t.Errorf("%s has two fields %s", s.Kind, p.Name)
				}
				names[p.Name] = true
			}
		}
		named := func(name string) bool {
			return slices.ContainsFunc(s.Params, func(p actiontable.Param) bool { return p.Name == name })
		}
		for _, name := range slices.Concat(append(s.Needs, s.Args)...) {
			if !named(name) {
				t.Errorf("%s names %s, which is no field of it", s.Kind, name)
			}
		}
		if s.Command == "" && s.Done != "" || strings.Count(s.Done, "%s") > len(s.Args) {
			t.Errorf("%s: %q has more arguments than the command %q", s.Kind, s.Done, s.Command)
		}
		for _, p := range s.Params {
			if s.OnPage() && (actiontable.Action{}).Value(p.Name) == nil {
				t.Errorf("%s %s has no place in an action", s.Kind, p.Name)
			}
			if p.OnlyIf != "" && !named(p.OnlyIf) {
				t.Errorf("%s %s counts with %s, which is no field of it", s.Kind, p.Name, p.OnlyIf)
			}
		}
	}
}

func TestFieldsOfAllKindsAreListedOnce(t *testing.T) {
	abouts := map[string]string{}
	for _, p := range actiontable.Union(actiontable.API, actiontable.Kinds(actiontable.API)) {
		if _, twice := abouts[p.Name]; twice {
			t.Errorf("%s is listed twice", p.Name)
		}
		abouts[p.Name] = p.About
	}
	for name, want := range map[string]string{
		"submit":      "type: press Enter afterwards",
		"doubleClick": "click, clickCoords: click twice",
		"text":        "type: what to type; wait: until this text can be seen",
		"timeoutMs":   "how long it may take",
	} {
		check.Equal(t, name, abouts[name], want)
	}
}

func TestFlagsAreNamedAsCommandLinesDo(t *testing.T) {
	for name, want := range map[string]string{
		"delayMs": "delay-ms", "textGone": "text-gone", "fn": "fn",
		"doubleClick": "double", "timeMs": "time",
	} {
		for _, p := range actiontable.Union(actiontable.API, actiontable.Kinds(actiontable.API)) {
			if p.Name == name && p.Flag() != want {
				t.Errorf("%s: got --%s, want --%s", name, p.Flag(), want)
			}
		}
	}
}

func TestLimitStaysInItsBounds(t *testing.T) {
	entries := []actiontable.Field{{Ref: "e1"}, {}, {Ref: "e2"}}
	for _, tt := range []struct {
		action actiontable.Action
		want   time.Duration
	}{
		{actiontable.Action{Kind: actiontable.KindClick}, 8 * time.Second},
		{actiontable.Action{Kind: actiontable.KindClick, TimeoutMs: 1}, 500 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindClick, TimeoutMs: 1e6, DelayMs: 100}, time.Minute + 100*time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindPress, DelayMs: 100, Count: 5}, 8500 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindPress, DelayMs: math.MaxInt, Count: math.MaxInt}, time.Hour +
			8*time.Second},
		{actiontable.Action{Kind: actiontable.KindEvaluate, TimeoutMs: 1e6}, 2 * time.Minute},
		{actiontable.Action{Kind: actiontable.KindType, Text: "äb", Slowly: true}, 8150 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindType, Text: "äb"}, 8 * time.Second},
		{actiontable.Action{Kind: actiontable.KindInsertText, Text: "äb"}, 8020 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindScrollIntoView}, 20 * time.Second},
		{actiontable.Action{Kind: actiontable.KindDrag}, 8 * time.Second},
		{actiontable.Action{Kind: actiontable.KindFill, Fields: entries, TimeoutMs: 1000}, 2 * time.Second},
		{actiontable.Action{Kind: actiontable.KindWait, TimeMs: 30_000}, 30 * time.Second},
		{
			actiontable.Action{
				Kind: actiontable.KindWait, TimeMs: 1000, Text: "a", URL: "b", LoadState: "soon",
				TimeoutMs: 2000,
			},
			5 * time.Second,
		},
	} {
		check.Equal(t, fmt.Sprint(tt.action), tt.action.Limit(), tt.want)
	}
}

func TestTheAnswerToABatchIsWaitedForAsDeepAsOneIsDone(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"kind":"batch","actions":[`, depth) + `{"kind":"evaluate","timeoutMs":"1000"}` +
			strings.Repeat(`]}`, depth)
	}
	for _, tt := range []struct {
		body string
		want actiontable.Wait
	}{
		{nested(0), actiontable.Wait{Actions: 1, Limit: time.Second, Explicit: true}},
		{nested(5), actiontable.Wait{Actions: 1, Limit: time.Second, Explicit: true}},
		{nested(6), actiontable.Wait{}}, // which is refused
		{`{"kind":"dance","timeoutMs":1}`, actiontable.Wait{Actions: 1, Limit: 8 * time.Second}},
		{`{"kind":"wait","timeMs":"soon","fn":"1"}`, actiontable.Wait{Actions: 1, Limit: 20 * time.Second}},
	} {
		var body map[string]any
		check.Must(t, json.Unmarshal([]byte(tt.body), &body))
		check.Equal(t, tt.body, actiontable.WaitFor(body), tt.want)
	}
}

// read reads as the window or the API does.
func read(in actiontable.Surface, kind string, args map[string]any) (actiontable.Action, error) {
	spec, values, err := actiontable.Read(in, actiontable.Kind(kind), args)
	if err != nil {
		return actiontable.Action{}, err
	}
	a := spec.Action(values)
	if !spec.OnPage() {
		return a, nil
	}
	return a, a.Check()
}

func TestValuesBecomeThoseOfTheirFields(t *testing.T) {
	type m = map[string]any
	for _, tt := range []struct {
		in   actiontable.Surface
		kind actiontable.Kind
		args m
		want actiontable.Action
	}{
		{
			actiontable.Window, actiontable.KindClick,
			m{"kind": "click", "ref": 12.0, "doubleClick": "YES", "modifiers": "Shift", "delayMs": "50", "button": nil},
			actiontable.Action{Ref: "12", DoubleClick: true, Modifiers: []string{"Shift"}, DelayMs: 50},
		},
		{
			actiontable.Window, actiontable.KindFill,
			m{"fields": []any{m{"ref": "e1", "value": true}, m{"value": "lost"}, nil, m{"ref": 2, "type": " ", "value": 7}}},
			actiontable.Action{Fields: []actiontable.Field{
				{Ref: "e1", Type: "text", Value: true}, {Ref: "2", Type: "text", Value: "7"},
			}},
		},
		{actiontable.Window, actiontable.KindClickCoords, m{"x": 1.5, "y": "2"}, actiontable.Action{X: 1.5, Y: 2}},
		{
			actiontable.Window, actiontable.KindDragCoords,
			m{"path": []any{"1,2", "3,4"}, "button": "back"},
			actiontable.Action{Path: []string{"1,2", "3,4"}, Button: "back"},
		},
		{
			actiontable.Window, actiontable.KindPress,
			m{"key": "a", "count": "3", "delayMs": 250},
			actiontable.Action{Key: "a", Count: 3, DelayMs: 250},
		},
		{actiontable.API, actiontable.KindPress, m{"key": " ", "count": 3}, actiontable.Action{Key: " "}},
		{
			actiontable.Window, actiontable.KindWheel,
			m{"x": 1, "y": 2, "deltaY": -120.5},
			actiontable.Action{X: 1, Y: 2, DeltaY: -120.5},
		},
		{
			actiontable.Window, actiontable.KindInsertText,
			m{"text": 5, "clear": "yes"},
			actiontable.Action{Text: "5", Clear: true},
		},
		{
			actiontable.API, actiontable.KindType,
			m{"ref": " e1 ", "text": "  two ", "submit": "maybe", "else": 1},
			actiontable.Action{Ref: "e1", Text: "  two "},
		},
		{
			actiontable.API, actiontable.KindSelect,
			m{"ref": "e1", "values": []any{" a ", "", 1, nil}},
			actiontable.Action{Ref: "e1", Values: []string{" a ", "", "1"}},
		},
		{
			actiontable.API, actiontable.KindClick,
			m{"ref": "e1", "modifiers": []any{" Alt ", ""}},
			actiontable.Action{Ref: "e1", Modifiers: []string{"Alt"}},
		},
		{actiontable.API, actiontable.KindWait, m{"loadState": "soon", "timeMs": 5}, actiontable.Action{TimeMs: 5}},
	} {
		tt.want.Kind = tt.kind
		got, err := read(tt.in, string(tt.kind), tt.args)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s %v: %v (-want +got):\n%s", tt.kind, tt.args, err, diff)
		}
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	type m = map[string]any
	for _, tt := range []struct {
		in   actiontable.Surface
		kind string
		args m
		want string
	}{
		{actiontable.Window, "close", nil, "use one of back, click, "},
		{actiontable.API, "wheel", nil, `got "wheel"`},
		{actiontable.Window, "clickCoords", m{"x": 1}, "clickCoords requires non-negative x and y"},
		{actiontable.Window, "clickCoords", m{"x": 1, "y": 1, "clickCount": 2.5}, "clickCoords clickCount must be a " +
			"non-negative integer."},
		{
			actiontable.Window, "clickCoords",
			m{"x": 1, "y": 1, "keys": "a"},
			`clickCoords has no field "keys": it takes x, y, `,
		},
		{
			actiontable.API, "clickCoords",
			m{"x": 1, "y": 1, "button": "back"},
			`clickCoords button "back": use left, right or middle`,
		},
		{actiontable.API, "press", m{"key": "a", "delayMs": "1e3"}, "delayMs must be a non-negative integer."},
		{actiontable.API, "click", m{"ref": "e1", "timeoutMs": 0}, "timeoutMs must be a positive integer."},
		{actiontable.API, "type", m{"text": "a"}, "type requires ref or selector"},
		{actiontable.API, "type", m{"ref": "e1"}, "type requires text"},
		{actiontable.Window, "dragCoords", nil, "dragCoords requires path"},
		{actiontable.Window, "tabSelect", m{"tab": m{}}, "tabSelect tab must be a string"},
		{actiontable.Window, "links", m{"of": 1}, `links has no field "of": it takes none`},
	} {
		check.Fails(t, check.Err(read(tt.in, tt.kind, tt.args)), fault.ErrInvalid, tt.want)
	}
}

// FuzzReadAction looks for arguments that are accepted although the page would refuse them, or that make reading fail.
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
		a, err := read(actiontable.Window, kind, args)
		if err != nil {
			return
		}
		if string(a.Kind) != kind {
			t.Errorf("kind %q became %q", kind, a.Kind)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Errorf("%s %s cannot be written: %v", kind, text, err)
		}
	})
}
