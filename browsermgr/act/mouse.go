package act

import (
	"context"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/input"
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
	Timeout  int64  `json:"timeout"`
}

// ready brings an element into view, waits until it can take input and returns where to aim in the tab's viewport.
func ready(ctx context.Context, e frame.Element, arg readyArg, limit time.Duration) (input.Point, error) {
	limit = frame.ScriptLimit(ctx, limit)
	arg.Ref, arg.Timeout, arg.Remote = e.Local, limit.Milliseconds(), e.Frame.Parent() != nil
	deadline := time.Now().Add(limit)
	at, err := frame.Run[input.Point](ctx, e.Frame, frame.Script{Fn: "ready", Arg: arg, Within: limit + e.Frame.Timeout()})
	if err != nil {
		return at, e.Explain(err)
	}
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		if at, err = f.Embed(ctx, at, deadline); err != nil {
			return at, e.Explain(err)
		}
	}
	return at, nil
}

func mouse(at input.Point, a Action) input.Mouse {
	bits, _ := input.Modifiers(a.Modifiers)
	return input.Mouse{At: at, Button: a.Button, Bits: bits}
}

func (d *doer) click(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(a.Limit())
	strict := false
	for lost := 0; ; {
		document := e.Frame.Token()
		seen, err := d.clickOnce(ctx, e, a, strict, time.Until(deadline))
		switch {
		case err != nil:
			return err
		case seen == "miss":
			strict = true
		case seen == "" && e.Frame.Parent() != nil && e.Frame.Token() == document && lost < maxLost:
			// Input is routed to a frame of another process by what was last drawn of it, which may be too old.
			lost++
			if _, err := e.Frame.Parent().Quiet(ctx, true); err != nil {
				return err
			}
		default:
			return nil
		}
		if time.Now().After(deadline) {
			return (&frame.ScriptError{Code: "moving"}).Explain(e.Given)
		}
	}
}

// maxLost is how often a click that did not arrive in the frame it was meant for is tried again.
const maxLost = 3

func (d *doer) clickOnce(ctx context.Context, e frame.Element, a Action, strict bool, limit time.Duration) (string, error) {
	arg := readyArg{Selector: a.Selector, Enabled: true, Hit: true, Guard: true, Strict: strict}
	at, err := ready(ctx, e, arg, limit)
	if err != nil {
		return "", err
	}
	m := mouse(at, a)
	if a.DelayMs > 0 {
		if err := d.send(ctx, m.Move(false)); err != nil {
			return "", err
		}
		if err := Pause(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			return "", err
		}
	}
	return d.finish(ctx, e.Frame, m.Click(a.clicks())...)
}

// clicks is how many clicks follow each other.
func (a Action) clicks() int {
	if a.DoubleClick {
		return 2
	}
	return max(a.ClickCount, 1)
}

func (d *doer) clickCoords(ctx context.Context, a Action) error {
	m := d.mouse(a)
	d.hands.at = m.At
	f, _, err := d.aim(ctx, m)
	if err != nil {
		return err
	}
	if a.DelayMs <= 0 {
		_, err := d.finish(ctx, f, m.Click(a.clicks())...)
		return err
	}
	if err := d.hold(ctx, m, a); err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// hold clicks with the button held for a time, once or more.
func (d *doer) hold(ctx context.Context, m input.Mouse, a Action) error {
	for i := range a.clicks() {
		if err := d.send(ctx, m.Move(false), m.Press(i+1)); err != nil {
			return err
		}
		if err := Pause(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			d.main().Post(m.Release(i + 1))
			return err
		}
		if err := d.send(ctx, m.Release(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (d *doer) hover(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	at, err := ready(ctx, e, readyArg{Selector: a.Selector, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	if err := d.send(ctx, mouse(at, a).Move(false)); err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, e.Frame)
	return err
}
