package action_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action"
)

func TestValidateNamesWhatIsWrong(t *testing.T) {
	tests := []struct {
		action action.Action
		want   string
	}{
		{action.Action{}, "kind is required"},
		{action.Action{Kind: action.KindHover, Selector: "a", DelayMs: -1}, "delayMs must be a non-negative integer"},
		{action.Action{Kind: action.KindType}, "type requires ref or selector"},
		{action.Action{Kind: action.KindType, Ref: "submit"}, `"submit" is not a ref`},
		{action.Action{Kind: action.KindClickCoords, X: math.NaN()}, "non-negative x and y"},
		{action.Action{Kind: action.KindClickCoords, Y: math.Inf(1)}, "non-negative x and y"},
		{action.Action{Kind: action.KindDrag, EndRef: "e1"}, "drag requires startRef"},
		{action.Action{Kind: action.KindDrag, StartRef: "e1", EndRef: "?"}, "is not a ref"},
		{action.Action{Kind: action.KindFill, Fields: []action.Field{{Ref: "e1"}, {Ref: "name"}}}, "is not a ref"},
		{action.Action{Kind: action.KindFill, Fields: []action.Field{{}, {Ref: " ", Value: "x"}}}, "fill requires fields"},
		{action.Action{Kind: action.KindClick}, "click requires ref or selector"},
		{action.Action{Kind: action.KindClick, Ref: "e1", DelayMs: 5001}, "click delayMs exceeds maximum of 5000ms"},
		{action.Action{Kind: action.KindClick, Ref: "e1", Button: "wheel"}, "left, right or middle"},
		{action.Action{Kind: action.KindClick, Ref: "e1", Modifiers: []string{"Hyper"}}, "Hyper"},
		{action.Action{Kind: action.KindClickCoords, X: -1}, "clickCoords requires non-negative x and y"},
		{action.Action{Kind: action.KindDragCoords, EndY: math.NaN()}, "dragCoords requires non-negative x, y, endX and endY"},
		{action.Action{Kind: action.KindClickCoords, Button: "back"}, "left, right or middle"},
		{action.Action{Kind: action.KindClickCoords, ClickCount: 4}, "clickCount must be 1, 2 or 3"},
		{action.Action{Kind: action.KindPointerMove, X: -0.1}, "pointerMove requires non-negative x and y"},
		{action.Action{Kind: action.KindDragCoords, Path: []string{"1,2"}}, "2 to 500 points"},
		{action.Action{Kind: action.KindDragCoords, Path: []string{"1,2", "Inf,2"}}, `non-negative "x, y"`},
		{action.Action{Kind: action.KindWheel}, "wheel requires deltaX or deltaY"},
		{action.Action{Kind: action.KindWheel, DeltaX: math.Inf(-1)}, "must not exceed 100000"},
		{action.Action{Kind: action.KindKeyUp}, "keyUp requires key"},
		{action.Action{Kind: action.KindPress, Key: "a", Count: -1}, "count must be between 1 and 100"},
		{action.Action{Kind: action.KindInsertText}, "insertText requires text or clear"},
		{action.Action{Kind: action.KindPress, Selector: "a"}, "press requires key"},
		{action.Action{Kind: action.KindSelect, Ref: "e1"}, "select requires values"},
		{action.Action{Kind: action.KindResize, Width: 5}, "resize requires positive width and height"},
		{action.Action{Kind: action.KindResize, Width: 5, Height: 8193}, "resize width and height must not exceed 8192"},
		{action.Action{Kind: action.KindWait, LoadState: "soon"}, "wait requires at least one of"},
		{action.Action{Kind: action.KindEvaluate, Fn: "  "}, "evaluate requires fn"},
		{action.Action{Kind: action.KindScroll, Pixels: -5}, "pixels must be a non-negative integer"},
		{action.Action{Kind: action.KindWait, TimeMs: 30001}, "between 0 and 30000"},
	}
	for _, tt := range tests {
		err := tt.action.Validate()
		if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.action, err, tt.want)
		}
	}
	for _, a := range []action.Action{
		{Kind: action.KindBack},
		{Kind: action.KindClose},
		{Kind: action.KindType, Selector: "#name"},
		{Kind: action.KindDragCoords, EndX: 10, EndY: 8192},
		{Kind: action.KindFill, Fields: []action.Field{{}, {Ref: "e1"}}},
		{Kind: action.KindClick, Ref: "@E7", Button: "middle", Modifiers: []string{"Shift"}},
		{Kind: action.KindPress, Key: "+"},
		{Kind: action.KindClickCoords, Button: "back", ClickCount: 1},
		{Kind: action.KindPointerDown, Button: "forward", X: 0.5},
		{Kind: action.KindDragCoords, Path: []string{"1.5, 2", " 3,4 "}},
		{Kind: action.KindInsertText, Clear: true},
		{Kind: action.KindWait, LoadState: "load"},
		{Kind: action.KindScroll},
	} {
		if err := a.Validate(); err != nil {
			t.Errorf("%+v: got %v", a, err)
		}
	}
}

func TestLimitStaysInItsBounds(t *testing.T) {
	tests := []struct {
		action action.Action
		want   time.Duration
	}{
		{action.Action{Kind: action.KindClick}, 8 * time.Second},
		{action.Action{Kind: action.KindClick, TimeoutMs: 1}, 500 * time.Millisecond},
		{action.Action{Kind: action.KindClick, TimeoutMs: 1e6, DelayMs: 100}, time.Minute + 100*time.Millisecond},
		{action.Action{Kind: action.KindEvaluate, TimeoutMs: 1e6}, 2 * time.Minute},
		{action.Action{Kind: action.KindType, Text: "ab", Slowly: true}, 8*time.Second + 150*time.Millisecond},
		{action.Action{Kind: action.KindScrollIntoView}, 20 * time.Second},
		{action.Action{Kind: action.KindWait, TimeMs: 1000, Text: "a", URL: "b", LoadState: "soon", TimeoutMs: 2000}, 5 * time.Second},
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
		if err := action.Pause(ctx, time.Hour); !errors.Is(err, stopped) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		if err := action.Pause(t.Context(), time.Minute); err != nil || time.Since(start) != time.Second+time.Minute {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func FuzzPath(f *testing.F) {
	f.Add("1,2", "3.5, 4")
	f.Add("", ",")
	f.Add("1e400,1", "NaN,1")
	f.Fuzz(func(t *testing.T, a, b string) {
		action := action.Action{Kind: action.KindDragCoords, Path: []string{a, b}}
		if action.Validate() != nil {
			return
		}
		if end := action.DragEnd(); !(end.X >= 0 && end.Y >= 0) || math.IsInf(end.X+end.Y, 0) {
			t.Errorf("%q, %q ends at %v", a, b, end)
		}
	})
}
