package input

import (
	"strings"

	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// Point is a place in a viewport, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

var modifierMasks = map[string]int{
	"alt": 1, "option": 1, "control": 2, "ctrl": 2, "controlormeta": 2, "meta": 4, "cmd": 4, "command": 4, "shift": 8,
}

// Modifiers is the bit field that CDP uses for modifier keys. The error wraps [fault.ErrInvalid].
func Modifiers(names []string) (int, error) {
	bits := 0
	for _, name := range names {
		bit, ok := modifierMasks[tidy(name)]
		if !ok {
			return 0, fault.Invalidf("modifier %q: use Alt, Control, ControlOrMeta, Meta or Shift", name)
		}
		bits |= bit
	}
	return bits, nil
}

func tidy(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Mouse builds the events of a mouse at one place.
type Mouse struct {
	At     Point
	Button string // left (if empty), right, middle
	Bits   int    // modifiers held, see [Modifiers]
}

// Move is a move to the place; held says that the left button is down meanwhile.
func (m Mouse) Move(held bool) proto.InputDispatchMouseEvent {
	ev := proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseMoved, X: m.At.X, Y: m.At.Y, Modifiers: m.Bits, Button: proto.InputMouseButtonNone,
	}
	if held {
		one := 1
		ev.Button, ev.Buttons = proto.InputMouseButtonLeft, &one
	}
	return ev
}

// Press presses the button, for the count-th click in a row.
func (m Mouse) Press(count int) proto.InputDispatchMouseEvent {
	return m.event(proto.InputDispatchMouseEventTypeMousePressed, count)
}

// Release lets go of the button.
func (m Mouse) Release(count int) proto.InputDispatchMouseEvent {
	return m.event(proto.InputDispatchMouseEventTypeMouseReleased, count)
}

func (m Mouse) event(kind proto.InputDispatchMouseEventType, count int) proto.InputDispatchMouseEvent {
	button := proto.InputMouseButton(m.Button)
	if button == "" {
		button = proto.InputMouseButtonLeft
	}
	return proto.InputDispatchMouseEvent{
		Type: kind, X: m.At.X, Y: m.At.Y, Button: button, ClickCount: count, Modifiers: m.Bits,
	}
}

// Click are the events of one click, or two for a double click.
func (m Mouse) Click(double bool) []proto.Request {
	events := []proto.Request{m.Move(false), m.Press(1), m.Release(1)}
	if double {
		events = append(events, m.Press(2), m.Release(2))
	}
	return events
}

// Wheel turns the wheel by CSS pixels, right and down being positive.
func (m Mouse) Wheel(dx, dy float64) proto.InputDispatchMouseEvent {
	return proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseWheel, X: m.At.X, Y: m.At.Y, DeltaX: dx, DeltaY: dy,
	}
}
