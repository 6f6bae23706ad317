package action_test

import (
	"math"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
)

func TestValidateNamesWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		action action.Action
		want   string
	}{
		{action.Action{}, "kind is required"},
		{action.Action{Kind: actiontable.KindPress, Key: "a", DelayMs: -1}, "delayMs must be a non-negative integer"},
		{action.Action{Kind: actiontable.KindType}, "type requires ref or selector"},
		{action.Action{Kind: actiontable.KindType, Ref: "submit"}, `"submit" is not a ref`},
		{action.Action{Kind: actiontable.KindClickCoords, X: math.NaN()}, "non-negative x and y"},
		{action.Action{Kind: actiontable.KindClickCoords, Y: math.Inf(1)}, "non-negative x and y"},
		{action.Action{Kind: actiontable.KindDrag, EndRef: "e1"}, "drag requires startRef"},
		{action.Action{Kind: actiontable.KindDrag, StartRef: "e1", EndRef: "?"}, "is not a ref"},
		{action.Action{Kind: actiontable.KindFill, Fields: []actiontable.Field{{Ref: "e1"}, {Ref: "name"}}}, "is not a ref"},
		{
			action.Action{Kind: actiontable.KindFill, Fields: []actiontable.Field{{}, {Ref: " ", Value: "x"}}},
			"fill requires fields",
		},
		{action.Action{Kind: actiontable.KindClick}, "click requires ref or selector"},
		{action.Action{Kind: actiontable.KindClick, Ref: "e1", DelayMs: 5001}, "click delayMs exceeds maximum of 5000ms"},
		{action.Action{Kind: actiontable.KindClick, Ref: "e1", Button: "wheel"}, "left, right or middle"},
		{action.Action{Kind: actiontable.KindClick, Ref: "e1", Modifiers: []string{"Hyper"}}, "Hyper"},
		{action.Action{Kind: actiontable.KindClickCoords, X: -1}, "clickCoords requires non-negative x and y"},
		{action.Action{Kind: actiontable.KindDragCoords, EndY: math.NaN()}, "dragCoords requires non-negative x, y, endX " +
			"and endY"},
		{action.Action{Kind: actiontable.KindClickCoords, Button: "side"}, "left, right or middle"},
		{action.Action{Kind: actiontable.KindClickCoords, ClickCount: 4}, "clickCount exceeds maximum of 3"},
		{action.Action{Kind: actiontable.KindPointerMove, X: -0.1}, "pointerMove requires non-negative x and y"},
		{action.Action{Kind: actiontable.KindDragCoords, Path: []string{"1,2"}}, "2 to 500 points"},
		{action.Action{Kind: actiontable.KindDragCoords, Path: []string{"1,2", "Inf,2"}}, `non-negative "x, y"`},
		{action.Action{Kind: actiontable.KindWheel}, "wheel requires deltaX or deltaY"},
		{action.Action{Kind: actiontable.KindWheel, DeltaX: math.Inf(-1)}, "must not exceed 100000"},
		{action.Action{Kind: actiontable.KindKeyUp}, "keyUp requires key"},
		{action.Action{Kind: actiontable.KindPress, Key: "a", Count: -1}, "count must be a non-negative integer"},
		{action.Action{Kind: actiontable.KindInsertText}, "insertText requires text or clear"},
		{action.Action{Kind: actiontable.KindPress, Selector: "a"}, "press requires key"},
		{action.Action{Kind: actiontable.KindSelect, Ref: "e1"}, "select requires values"},
		{action.Action{Kind: actiontable.KindResize, Width: 5}, "resize requires positive width and height"},
		{action.Action{Kind: actiontable.KindResize, Width: 5, Height: 8193}, "resize width and height must not exceed 8192"},
		{action.Action{Kind: actiontable.KindWait, LoadState: "soon"}, "wait requires at least one of"},
		{action.Action{Kind: actiontable.KindEvaluate, Fn: "  "}, "evaluate requires fn"},
		{action.Action{Kind: actiontable.KindScroll, Pixels: -5}, "pixels must be a non-negative integer"},
		{action.Action{Kind: actiontable.KindWait, TimeMs: 30001}, "timeMs exceeds maximum of 30000ms"},
	} {
		check.Fails(t, action.Validate(tt.action), fault.ErrInvalid, tt.want)
	}
	for _, a := range []action.Action{
		{Kind: actiontable.KindBack},
		{Kind: actiontable.KindClose},
		{Kind: actiontable.KindType, Selector: "#name"},
		{Kind: actiontable.KindDragCoords, EndX: 10, EndY: 8192},
		{Kind: actiontable.KindFill, Fields: []actiontable.Field{{}, {Ref: "e1"}}},
		{Kind: actiontable.KindClick, Ref: "@E7", Button: "middle", Modifiers: []string{"Shift"}},
		{Kind: actiontable.KindPress, Key: "+"},
		{Kind: actiontable.KindClickCoords, Button: "back", ClickCount: 1},
		{Kind: actiontable.KindPointerDown, Button: "forward", X: 0.5},
		{Kind: actiontable.KindDragCoords, Path: []string{"1.5, 2", " 3,4 "}},
		{Kind: actiontable.KindInsertText, Clear: true},
		{Kind: actiontable.KindWait, LoadState: "load"},
		{Kind: actiontable.KindScroll},
	} {
		if err := action.Validate(a); err != nil {
			t.Errorf("%+v: got %v", a, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	f.Add("1,2", "3.5, 4")
	f.Add("", ",")
	f.Add("1e400,1", "NaN,1")
	f.Fuzz(func(t *testing.T, a, b string) {
		drag := action.Action{Kind: actiontable.KindDragCoords, Path: []string{a, b}}
		if action.Validate(drag) != nil {
			return
		}
		if end := action.DragEnd(drag); !(end.X >= 0 && end.Y >= 0) || math.IsInf(end.X+end.Y, 0) {
			t.Errorf("%q, %q ends at %v", a, b, end)
		}
	})
}
