package frame

import (
	"slices"
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

// ModifierBits returns the bit field that CDP uses for modifier keys. The error wraps [fault.ErrInvalid].
func ModifierBits(names []string) (int, error) {
	bits := 0
	for _, name := range names {
		bit, ok := modifierMasks[normalizeName(name)]
		if !ok {
			return 0, fault.Invalidf("modifier %q: use Alt, Control, ControlOrMeta, Meta or Shift", name)
		}
		bits |= bit
	}
	return bits, nil
}

func normalizeName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Mouse builds the events of a mouse at one place.
type Mouse struct {
	At        Point
	Button    string // left (if empty), right, middle, back, forward
	Modifiers int    // modifiers held, see [Modifiers]
}

// MouseButtons returns the names of a mouse's buttons.
func MouseButtons() []string { return []string{"left", "right", "middle", "back", "forward"} }

// buttonBit returns the bit by which CDP tells that a button is down.
func (m Mouse) buttonBit() int { return 1 << max(slices.Index(MouseButtons(), m.Button), 0) }

// Move returns a move to the place; held says that the button is down meanwhile.
func (m Mouse) Move(held bool) proto.InputDispatchMouseEvent {
	ev := proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseMoved, X: m.At.X, Y: m.At.Y, Modifiers: m.Modifiers, Button: proto.InputMouseButtonNone,
	}
	if held {
		bits := m.buttonBit()
		ev.Button, ev.Buttons = m.button(), &bits
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
	return proto.InputDispatchMouseEvent{
		Type: kind, X: m.At.X, Y: m.At.Y, Button: m.button(), ClickCount: count, Modifiers: m.Modifiers,
	}
}

func (m Mouse) button() proto.InputMouseButton {
	if m.Button == "" {
		return proto.InputMouseButtonLeft
	}
	return proto.InputMouseButton(m.Button)
}

// Wheel turns the wheel by CSS pixels, right and down being positive.
func (m Mouse) Wheel(dx, dy float64) proto.InputDispatchMouseEvent {
	return proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseWheel, X: m.At.X, Y: m.At.Y, DeltaX: dx, DeltaY: dy, Modifiers: m.Modifiers,
	}
}
