package act_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/act"
	"clank/browsermgr/fault"
)

func TestValidateNamesWhatIsWrong(t *testing.T) {
	tests := []struct {
		action act.Action
		want   string
	}{
		{act.Action{}, "kind is required"},
		{act.Action{Kind: act.KindHover, Selector: "a", DelayMs: -1}, "delayMs must be a non-negative integer"},
		{act.Action{Kind: act.KindType}, "type requires ref or selector"},
		{act.Action{Kind: act.KindType, Ref: "submit"}, `"submit" is not a ref`},
		{act.Action{Kind: act.KindClickCoords, X: math.NaN()}, "non-negative x and y"},
		{act.Action{Kind: act.KindClickCoords, Y: math.Inf(1)}, "non-negative x and y"},
		{act.Action{Kind: act.KindDrag, EndRef: "e1"}, "drag requires startRef"},
		{act.Action{Kind: act.KindDrag, StartRef: "e1", EndRef: "?"}, "is not a ref"},
		{act.Action{Kind: act.KindFill, Fields: []act.Field{{Ref: "e1"}, {Ref: "name"}}}, "is not a ref"},
		{act.Action{Kind: act.KindFill, Fields: []act.Field{{}, {Ref: " ", Value: "x"}}}, "fill requires fields"},
		{act.Action{Kind: act.KindClick}, "click requires ref or selector"},
		{act.Action{Kind: act.KindClick, Ref: "e1", DelayMs: 5001}, "click delayMs exceeds maximum of 5000ms"},
		{act.Action{Kind: act.KindClick, Ref: "e1", Button: "wheel"}, "left, right or middle"},
		{act.Action{Kind: act.KindClick, Ref: "e1", Modifiers: []string{"Hyper"}}, "Hyper"},
		{act.Action{Kind: act.KindClickCoords, X: -1}, "clickCoords requires non-negative x and y"},
		{act.Action{Kind: act.KindDragCoords, EndY: math.NaN()}, "dragCoords requires non-negative x, y, endX and endY"},
		{act.Action{Kind: act.KindClickCoords, Button: "back"}, "left, right or middle"},
		{act.Action{Kind: act.KindClickCoords, ClickCount: 4}, "clickCount must be 1, 2 or 3"},
		{act.Action{Kind: act.KindPointerMove, X: -0.1}, "pointerMove requires non-negative x and y"},
		{act.Action{Kind: act.KindDragCoords, Path: []string{"1,2"}}, "2 to 500 points"},
		{act.Action{Kind: act.KindDragCoords, Path: []string{"1,2", "Inf,2"}}, `non-negative "x, y"`},
		{act.Action{Kind: act.KindWheel}, "wheel requires deltaX or deltaY"},
		{act.Action{Kind: act.KindWheel, DeltaX: math.Inf(-1)}, "must not exceed 100000"},
		{act.Action{Kind: act.KindKeyUp}, "keyUp requires key"},
		{act.Action{Kind: act.KindPress, Key: "a", Count: -1}, "count must be between 1 and 100"},
		{act.Action{Kind: act.KindInsertText}, "insertText requires text or clear"},
		{act.Action{Kind: act.KindPress, Selector: "a"}, "press requires key"},
		{act.Action{Kind: act.KindSelect, Ref: "e1"}, "select requires values"},
		{act.Action{Kind: act.KindResize, Width: 5}, "resize requires positive width and height"},
		{act.Action{Kind: act.KindResize, Width: 5, Height: 8193}, "resize width and height must not exceed 8192"},
		{act.Action{Kind: act.KindWait, LoadState: "soon"}, "wait requires at least one of"},
		{act.Action{Kind: act.KindEvaluate, Fn: "  "}, "evaluate requires fn"},
		{act.Action{Kind: act.KindScroll, Pixels: -5}, "pixels must be a non-negative integer"},
		{act.Action{Kind: act.KindWait, TimeMs: 30001}, "between 0 and 30000"},
	}
	for _, tt := range tests {
		err := tt.action.Validate()
		if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.action, err, tt.want)
		}
	}
	for _, a := range []act.Action{
		{Kind: act.KindBack},
		{Kind: act.KindClose},
		{Kind: act.KindType, Selector: "#name"},
		{Kind: act.KindDragCoords, EndX: 10, EndY: 8192},
		{Kind: act.KindFill, Fields: []act.Field{{}, {Ref: "e1"}}},
		{Kind: act.KindClick, Ref: "@E7", Button: "middle", Modifiers: []string{"Shift"}},
		{Kind: act.KindPress, Key: "+"},
		{Kind: act.KindClickCoords, Button: "back", ClickCount: 1},
		{Kind: act.KindPointerDown, Button: "forward", X: 0.5},
		{Kind: act.KindDragCoords, Path: []string{"1.5, 2", " 3,4 "}},
		{Kind: act.KindInsertText, Clear: true},
		{Kind: act.KindWait, LoadState: "load"},
		{Kind: act.KindScroll},
	} {
		if err := a.Validate(); err != nil {
			t.Errorf("%+v: got %v", a, err)
		}
	}
}

func TestLimitStaysInItsBounds(t *testing.T) {
	tests := []struct {
		action act.Action
		want   time.Duration
	}{
		{act.Action{Kind: act.KindClick}, 8 * time.Second},
		{act.Action{Kind: act.KindClick, TimeoutMs: 1}, 500 * time.Millisecond},
		{act.Action{Kind: act.KindClick, TimeoutMs: 1e6, DelayMs: 100}, time.Minute + 100*time.Millisecond},
		{act.Action{Kind: act.KindEvaluate, TimeoutMs: 1e6}, 2 * time.Minute},
		{act.Action{Kind: act.KindType, Text: "ab", Slowly: true}, 8*time.Second + 150*time.Millisecond},
		{act.Action{Kind: act.KindScrollIntoView}, 20 * time.Second},
		{act.Action{Kind: act.KindWait, TimeMs: 1000, Text: "a", URL: "b", LoadState: "soon", TimeoutMs: 2000}, 5 * time.Second},
	}
	for _, tt := range tests {
		if got := tt.action.Limit(); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.action, got, tt.want)
		}
	}
}

func TestPauseObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped by @ada")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stopped) })
		start := time.Now()
		if err := act.Pause(ctx, time.Hour); !errors.Is(err, stopped) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		if err := act.Pause(t.Context(), time.Minute); err != nil || time.Since(start) != time.Second+time.Minute {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func FuzzPath(f *testing.F) {
	f.Add("1,2", "3.5, 4")
	f.Add("", ",")
	f.Add("1e400,1", "NaN,1")
	f.Fuzz(func(t *testing.T, a, b string) {
		action := act.Action{Kind: act.KindDragCoords, Path: []string{a, b}}
		if action.Validate() != nil {
			return
		}
		if end := action.End(); !(end.X >= 0 && end.Y >= 0) || math.IsInf(end.X+end.Y, 0) {
			t.Errorf("%q, %q ends at %v", a, b, end)
		}
	})
}
