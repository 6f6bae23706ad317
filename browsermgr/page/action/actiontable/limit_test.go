package actiontable_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page/action/actiontable"
)

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
		{actiontable.Action{Kind: actiontable.KindPress, DelayMs: math.MaxInt, Count: math.MaxInt}, time.Hour + 8*time.Second},
		{actiontable.Action{Kind: actiontable.KindEvaluate, TimeoutMs: 1e6}, 2 * time.Minute},
		{actiontable.Action{Kind: actiontable.KindType, Text: "äb", Slowly: true}, 8150 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindType, Text: "äb"}, 8 * time.Second},
		{actiontable.Action{Kind: actiontable.KindInsertText, Text: "äb"}, 8020 * time.Millisecond},
		{actiontable.Action{Kind: actiontable.KindScrollIntoView}, 20 * time.Second},
		{actiontable.Action{Kind: actiontable.KindDrag}, 8 * time.Second},
		{actiontable.Action{Kind: actiontable.KindFill, Fields: entries, TimeoutMs: 1000}, 2 * time.Second},
		{actiontable.Action{Kind: actiontable.KindWait, TimeMs: 30_000}, 30 * time.Second},
		{
			actiontable.Action{Kind: actiontable.KindWait, TimeMs: 1000, Text: "a", URL: "b", LoadState: "soon", TimeoutMs: 2000},
			5 * time.Second,
		},
	} {
		if got := tt.action.Limit(); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.action, got, tt.want)
		}
	}
}

func TestTheAnswerToABatchIsWaitedForAsDeepAsOneIsDone(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"kind":"batch","actions":[`, depth) + `{"kind":"evaluate","timeoutMs":"1000"}` + strings.Repeat(`]}`, depth)
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
		if err := json.Unmarshal([]byte(tt.body), &body); err != nil {
			t.Fatal(err)
		}
		if got := actiontable.WaitFor(body); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.body, got, tt.want)
		}
	}
}
