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
		{act.Action{Kind: act.KindFill, Fields: []act.Field{{Ref: "e1"}, {}}}, "is not a ref"},
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
		{Kind: act.KindClick, Ref: "@E7", Button: "middle", Modifiers: []string{"Shift"}},
		{Kind: act.KindPress, Key: "+"},
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
