package page

import (
	"context"
	"errors"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// point is a place in the tab's viewport, in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

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
func (t *Tab) ready(ctx context.Context, e element, arg readyArg, limit time.Duration) (point, error) {
	limit = pageLimit(ctx, limit)
	arg.Ref, arg.Timeout, arg.Remote = e.local, limit.Milliseconds(), e.session.parent != nil
	deadline := time.Now().Add(limit)
	at, err := run[point](ctx, e.session, script{fn: "ready", arg: arg, within: limit + t.browser.conn.timeout})
	if err != nil {
		return at, t.explain(e, err)
	}
	for s := e.session; s.parent != nil; s = s.parent {
		if at, err = s.embed(ctx, at, deadline); err != nil {
			return at, t.explain(e, err)
		}
	}
	return at, nil
}

// embed maps a point of a frame in another process to its parent's local root, where the frame must be on top.
func (s *session) embed(ctx context.Context, at point, deadline time.Time) (point, error) {
	ref, err := s.place(ctx)
	if err != nil {
		return at, err
	}
	type embedArg struct {
		Ref string `json:"ref"`
		point
	}
	for try := 0; ; try++ {
		up, err := run[point](ctx, s.parent, script{fn: "embed", arg: embedArg{Ref: ref, point: at}})
		var f *failure
		if err == nil || !errors.As(err, &f) || time.Now().After(deadline) {
			return up, err
		}
		if try == 0 {
			_, err = run[bool](ctx, s.parent, script{fn: "show", arg: map[string]string{"ref": ref}})
		} else {
			_, err = run[any](ctx, s.parent, script{fn: "settled", arg: map[string]bool{"frame": true}})
		}
		if err != nil {
			return at, err
		}
	}
}

var modifierMasks = map[string]int{
	"alt": 1, "option": 1, "control": 2, "ctrl": 2, "controlormeta": 2, "meta": 4, "cmd": 4, "command": 4, "shift": 8,
}

// modifierBits is the bit field that CDP uses for modifier keys.
func modifierBits(names []string) (int, error) {
	bits := 0
	for _, name := range names {
		bit, ok := modifierMasks[lower(name)]
		if !ok {
			return 0, invalidf("modifier %q: use Alt, Control, ControlOrMeta, Meta or Shift", name)
		}
		bits |= bit
	}
	return bits, nil
}

// mouse builds mouse events at one place.
type mouse struct {
	at     point
	button proto.InputMouseButton
	bits   int
}

func newMouse(at point, a Action) mouse {
	button := proto.InputMouseButton(a.Button)
	if button == "" {
		button = proto.InputMouseButtonLeft
	}
	bits, _ := modifierBits(a.Modifiers)
	return mouse{at: at, button: button, bits: bits}
}

func (m mouse) move(held bool) proto.InputDispatchMouseEvent {
	ev := proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseMoved, X: m.at.X, Y: m.at.Y, Modifiers: m.bits, Button: proto.InputMouseButtonNone,
	}
	if held {
		one := 1
		ev.Button, ev.Buttons = proto.InputMouseButtonLeft, &one
	}
	return ev
}

func (m mouse) press(count int) proto.InputDispatchMouseEvent {
	return m.event(proto.InputDispatchMouseEventTypeMousePressed, count)
}

func (m mouse) release(count int) proto.InputDispatchMouseEvent {
	return m.event(proto.InputDispatchMouseEventTypeMouseReleased, count)
}

func (m mouse) event(kind proto.InputDispatchMouseEventType, count int) proto.InputDispatchMouseEvent {
	return proto.InputDispatchMouseEvent{
		Type: kind, X: m.at.X, Y: m.at.Y, Button: m.button, ClickCount: count, Modifiers: m.bits,
	}
}

// send has Chromium handle input events in order and waits until the page has taken all of them.
func (t *Tab) send(ctx context.Context, events ...proto.Request) error {
	calls := make([]*call, len(events))
	for i, ev := range events {
		calls[i] = t.session.begin(ev)
	}
	for _, c := range calls {
		if err := c.wait(ctx, nil); err != nil && !documentGone(err) {
			return err
		}
	}
	return nil
}

// clickEvents are the events of one click, or two for a double click.
func clickEvents(m mouse, double bool) []proto.Request {
	events := []proto.Request{m.move(false), m.press(1), m.release(1)}
	if double {
		events = append(events, m.press(2), m.release(2))
	}
	return events
}

func (t *Tab) click(ctx context.Context, a Action) error {
	e, err := t.locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(a.limit())
	for strict := false; ; strict = true {
		seen, err := t.clickOnce(ctx, e, a, strict, time.Until(deadline))
		if err != nil || seen != "miss" {
			return err
		}
		if time.Now().After(deadline) {
			return (&failure{Code: "moving"}).explain(e.given)
		}
	}
}

func (t *Tab) clickOnce(ctx context.Context, e element, a Action, strict bool, limit time.Duration) (string, error) {
	arg := readyArg{Selector: a.Selector, Enabled: true, Hit: true, Guard: true, Strict: strict}
	at, err := t.ready(ctx, e, arg, limit)
	if err != nil {
		return "", err
	}
	m := newMouse(at, a)
	if a.DelayMs > 0 {
		if err := t.send(ctx, m.move(false)); err != nil {
			return "", err
		}
		if err := sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			return "", err
		}
	}
	if err := t.send(ctx, clickEvents(m, a.DoubleClick)...); err != nil {
		return "", err
	}
	return t.settled(ctx, e.session)
}

func (t *Tab) clickCoords(ctx context.Context, a Action) error {
	m := newMouse(point{X: a.X, Y: a.Y}, a)
	if a.DelayMs > 0 {
		if err := t.send(ctx, m.move(false), m.press(1)); err != nil {
			return err
		}
		if err := sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			t.session.post(m.release(1))
			return err
		}
		if err := t.send(ctx, m.release(1)); err != nil {
			return err
		}
	} else if err := t.send(ctx, clickEvents(m, a.DoubleClick)...); err != nil {
		return err
	}
	_, err := t.settled(ctx, t.session)
	return err
}

func (t *Tab) hover(ctx context.Context, a Action) error {
	e, err := t.locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	at, err := t.ready(ctx, e, readyArg{Selector: a.Selector, Hit: true}, a.limit())
	if err != nil {
		return err
	}
	if err := t.send(ctx, newMouse(at, a).move(false)); err != nil {
		return err
	}
	_, err = t.settled(ctx, e.session)
	return err
}

// sleep waits for a person's or a page's sake, never to synchronise.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
