package frame

import (
	"context"
	"slices"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// SendInput sends input events through the session via, waits until the page has handled them and then as
// [Frame.AwaitQuiet] does. The script that waits is sent before the events: sent after them, it would run only after
// their effects are drawn.
func (f *Frame) SendInput(ctx context.Context, via *cdp.Session, events []proto.Request) (QuietState, error) {
	w, err := f.enterWorld(ctx)
	if err != nil {
		return quietStateOrError(QuietState{}, explainLost(err))
	}
	type inputArg struct {
		Input int  `json:"input"`
		Ups   int  `json:"ups"`
		Texts int  `json:"texts"`
		Edit  bool `json:"edit"`
	}
	arg, earlier := inputArg{Input: f.nextInputNumber()}, Earlier(0)
	events = slices.DeleteFunc(slices.Clone(events), func(event proto.Request) (note bool) {
		switch event := event.(type) {
		case EndEdit:
			arg.Edit, note = true, true
		case Earlier:
			earlier, note = event, true
		}
		return note
	})
	if arg.Ups = CountReleases(events); arg.Ups == 0 {
		arg.Texts = countTexts(events)
	} else {
		arg.Ups += int(earlier)
	}
	settled, err := f.callScript(w, Script{Fn: "settled", Arg: arg}, true)
	if err != nil {
		return QuietState{}, err
	}
	calls := make([]*cdp.Call, len(events))
	for i, event := range events {
		calls[i] = via.Begin(event)
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.IsDocumentGone(err) {
			settled.Abandon()
			return QuietState{}, err
		}
	}
	// The events may have gone to another frame, or the page may have hidden them from our script.
	if text, err := (Script{Fn: "taken", Arg: arg.Input}).expression(w, false); err == nil && !settled.Answered() {
		f.Post(proto.RuntimeEvaluate{Expression: "void (" + text + ")", ContextID: w.context}) // no remote object
	}
	return quietStateOrError(awaitAnswer[QuietState](ctx, f, w, settled))
}

// EndEdit marks the end of the events that change a field prepared by one of our scripts: the waiting script then
// checks whether they did; see edit in input.js. Nothing is sent to the browser for it.
type EndEdit struct{}

// ProtoReq implements [proto.Request].
func (EndEdit) ProtoReq() string { return "" }

// Earlier says how many keys and buttons were released since the last wait, so that the waiting script does not count
// them as part of these events. Nothing is sent to the browser for it.
type Earlier int

// ProtoReq implements [proto.Request].
func (Earlier) ProtoReq() string { return "" }

// countTexts counts the events that insert text.
func countTexts(events []proto.Request) int {
	n := 0
	for _, event := range events {
		if _, ok := event.(proto.InputInsertText); ok {
			n++
		}
	}
	return n
}

// CountReleases counts the events that release keys and buttons.
func CountReleases(events []proto.Request) int {
	n := 0
	for _, event := range events {
		switch event := event.(type) {
		case proto.InputDispatchKeyEvent:
			if event.Type == proto.InputDispatchKeyEventTypeKeyUp {
				n++
			}
		case proto.InputDispatchMouseEvent:
			if event.Type == proto.InputDispatchMouseEventTypeMouseReleased {
				n++
			}
		}
	}
	return n
}

// nextInputNumber returns a number for input to wait for.
func (f *Frame) nextInputNumber() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputCount++
	return f.inputCount
}

// Keyboard tracks the keys held down between actions. In the zero value none is. It is not safe for concurrent use.
type Keyboard struct{ down []keyDef }

// ModifierBits returns the held modifiers; see [Modifiers].
func (b *Keyboard) ModifierBits() int {
	bits := 0
	for _, k := range b.down {
		bits |= k.modifierBit
	}
	return bits
}

// Down returns the events that press the keys of a chord that are not held yet, in order, and records them as held.
func (b *Keyboard) Down(c Chord) []proto.Request {
	var events []proto.Request
	for _, k := range c.keys() {
		if slices.ContainsFunc(b.down, k.sameKey) {
			continue
		}
		bits := b.ModifierBits()
		events = append(events, k.shifted(bits).press(bits))
		b.down = append(b.down, k)
	}
	return events
}

// Up returns the events that release the keys of a chord, in reverse order. It includes keys that are not held: the
// page may believe they are.
func (b *Keyboard) Up(c Chord) []proto.Request {
	var events []proto.Request
	for _, k := range slices.Backward(c.keys()) {
		b.down = slices.DeleteFunc(b.down, k.sameKey)
		bits := b.ModifierBits()
		events = append(events, k.shifted(bits).event(proto.InputDispatchKeyEventTypeKeyUp, bits, ""))
	}
	return events
}

// keys returns all keys of the chord.
func (c Chord) keys() []keyDef { return append(slices.Clone(c.modifiers), c.key) }

// sameKey reports whether two keys are the same physical key.
func (k keyDef) sameKey(o keyDef) bool {
	if k.code == "" {
		return k.name == o.name
	}
	return k.code == o.code
}

// IsIdle reports whether no key is held.
func (b *Keyboard) IsIdle() bool { return len(b.down) == 0 }

// Point is a position in a viewport, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

var modifierMasks = map[string]int{
	"alt": 1, "option": 1, "control": 2, "ctrl": 2, "controlormeta": 2, "meta": 4, "cmd": 4, "command": 4, "shift": 8,
}

// ModifierBits returns the CDP bit field for names of modifier keys. The error wraps [fault.ErrInvalid].
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

// Mouse builds the events of a mouse at one position.
type Mouse struct {
	At        Point
	Button    string // left (if empty), right, middle, back, forward
	Modifiers int    // held modifiers; see [Modifiers]
}

// mouseButtons returns the names of the mouse buttons.
func mouseButtons() []string { return []string{"left", "right", "middle", "back", "forward"} }

// ButtonBit returns the button's bit in the CDP field buttons.
func (m Mouse) ButtonBit() int { return 1 << max(slices.Index(mouseButtons(), m.Button), 0) }

// Move returns a move to the position; held reports whether the button is pressed.
func (m Mouse) Move(held bool) proto.InputDispatchMouseEvent {
	ev := proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseMoved, X: m.At.X, Y: m.At.Y, Modifiers: m.Modifiers,
		Button: proto.InputMouseButtonNone,
	}
	if held {
		bits := m.ButtonBit()
		ev.Button, ev.Buttons = m.button(), &bits
	}
	return ev
}

// Press returns a press of the button, as number count of consecutive clicks.
func (m Mouse) Press(count int) proto.InputDispatchMouseEvent {
	return m.event(proto.InputDispatchMouseEventTypeMousePressed, count)
}

// Release returns a release of the button.
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

// Tap returns the events of a finger that taps the position.
func (m Mouse) Tap() []proto.Request {
	finger := []*proto.InputTouchPoint{{X: m.At.X, Y: m.At.Y}}
	return []proto.Request{
		proto.InputDispatchTouchEvent{
			Type: proto.InputDispatchTouchEventTypeTouchStart, TouchPoints: finger,
			Modifiers: m.Modifiers,
		},
		proto.InputDispatchTouchEvent{
			Type:        proto.InputDispatchTouchEventTypeTouchEnd,
			TouchPoints: []*proto.InputTouchPoint{}, Modifiers: m.Modifiers,
		},
	}
}

// Wheel returns a wheel event in CSS pixels; right and down are positive.
func (m Mouse) Wheel(dx, dy float64) proto.InputDispatchMouseEvent {
	return proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseWheel, X: m.At.X, Y: m.At.Y, DeltaX: dx, DeltaY: dy,
		Modifiers: m.Modifiers,
	}
}
