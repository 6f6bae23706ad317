package action

import (
	"context"
	"time"

	"clank/browsermgr/page/frame"
)

// readyArg asks for an element that input can reach.
type readyArg struct {
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"`
	Enabled  bool   `json:"enabled"`
	Hit      bool   `json:"hit"`
	Guard    bool   `json:"guard"`
	Strict   bool   `json:"strict"`
	Remote   bool   `json:"remote"`
	Axis     string `json:"axis,omitempty"` // x or y: what scrolls along it, rather than the element in it
	Timeout  int64  `json:"timeout"`
}

// awaitReady brings an element into view, waits until it can take input and returns where to aim in the tab's viewport.
func awaitReady(ctx context.Context, e frame.Element, arg readyArg, limit time.Duration) (frame.Point, error) {
	limit = frame.ScriptLimit(ctx, limit)
	arg.Ref, arg.Timeout, arg.Remote = e.LocalRef, limit.Milliseconds(), e.Frame.Parent() != nil
	deadline := time.Now().Add(limit)
	at, err := frame.RunScript[frame.Point](ctx, e.Frame, frame.Script{Fn: "ready", Arg: arg, Within: limit + e.Frame.Timeout()})
	if err != nil {
		return at, e.Explain(err)
	}
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		if at, err = f.MapToParent(ctx, at, deadline); err != nil {
			return at, e.Explain(err)
		}
	}
	return at, nil
}

func newMouse(at frame.Point, a Action) frame.Mouse {
	bits, _ := frame.ModifierBits(a.Modifiers)
	return frame.Mouse{At: at, Button: a.Button, Modifiers: bits}
}

func (d *performer) click(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(a.Limit())
	strict := false
	for lost := 0; ; {
		document := e.Frame.DocumentToken()
		seen, err := d.clickOnce(ctx, e, a, strict, time.Until(deadline))
		switch {
		case err != nil:
			return err
		case seen == "miss":
			strict = true
		case seen == "" && e.Frame.Parent() != nil && e.Frame.DocumentToken() == document && lost < maxLostClicks:
			// Input is routed to a frame of another process by what was last drawn of it, which may be too old.
			lost++
			if _, err := e.Frame.Parent().AwaitQuiet(ctx, true); err != nil {
				return err
			}
		default:
			return nil
		}
		if time.Now().After(deadline) {
			return (&frame.ScriptError{Code: "moving"}).Explain(e.GivenRef)
		}
	}
}

// maxLostClicks is how often a click that did not arrive in the frame it was meant for is tried again.
const maxLostClicks = 3

func (d *performer) clickOnce(ctx context.Context, e frame.Element, a Action, strict bool, limit time.Duration) (string, error) {
	arg := readyArg{Selector: a.Selector, Enabled: true, Hit: true, Guard: true, Strict: strict}
	at, err := awaitReady(ctx, e, arg, limit)
	if err != nil {
		return "", err
	}
	m := newMouse(at, a)
	if a.DelayMs > 0 {
		if err := d.sendInput(ctx, m.Move(false)); err != nil {
			return "", err
		}
		if err := Pause(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			return "", err
		}
	}
	return d.sendAndWait(ctx, e.Frame, m.Click(clickTotal(a))...)
}

// clickTotal returns how many clicks follow each other.
func clickTotal(a Action) int {
	if a.DoubleClick {
		return 2
	}
	return max(a.ClickCount, 1)
}

func (d *performer) clickCoords(ctx context.Context, a Action) error {
	m := d.mouseAt(a)
	d.state.position = m.At
	f, _, err := d.moveToTarget(ctx, m)
	if err != nil {
		return err
	}
	if a.DelayMs <= 0 {
		_, err := d.sendAndWait(ctx, f, m.Click(clickTotal(a))...)
		return err
	}
	if err := d.clickHeld(ctx, m, a); err != nil {
		return err
	}
	_, err = d.tab.SendAndWait(ctx, f)
	return err
}

// clickHeld clicks with the button held for a time, once or more.
func (d *performer) clickHeld(ctx context.Context, m frame.Mouse, a Action) error {
	for i := range clickTotal(a) {
		if err := d.sendInput(ctx, m.Move(false), m.Press(i+1)); err != nil {
			return err
		}
		if err := Pause(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			d.mainFrame().Post(m.Release(i + 1))
			return err
		}
		if err := d.sendInput(ctx, m.Release(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (d *performer) hover(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	at, err := awaitReady(ctx, e, readyArg{Selector: a.Selector, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	if err := d.sendInput(ctx, newMouse(at, a).Move(false)); err != nil {
		return err
	}
	_, err = d.tab.SendAndWait(ctx, e.Frame)
	return err
}
