package frame

import (
	"context"
	"slices"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// SendInput sends input events to the session that takes them for the frame, waits until the page has handled them and then as
// [Frame.AwaitQuiet] does. The script that waits goes out before the events: behind them it would have to wait until what they
// changed is drawn.
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
	// The events may have gone to another frame, or the page may have kept them from us.
	if text, err := (Script{Fn: "taken", Arg: arg.Input}).expression(w, false); err == nil && !settled.Answered() {
		f.Post(proto.RuntimeEvaluate{Expression: "void (" + text + ")", ContextID: w.context}) // no object is left there
	}
	return quietStateOrError(awaitAnswer[QuietState](ctx, f, w, settled))
}

// EndEdit stands with the events that change a field which one of our scripts has prepared: the script that waits for them then
// sees whether they did, see edit in input.js. The browser gets nothing for it.
type EndEdit struct{}

// ProtoReq makes it one of the events.
func (EndEdit) ProtoReq() string { return "" }

// Earlier stands with events and says how many keys and buttons were let go since the page was last waited for: the script that
// waits is not to take them for those of the events.
type Earlier int

// ProtoReq makes it one of the events.
func (Earlier) ProtoReq() string { return "" }

// countTexts counts the texts that are put in as a whole.
func countTexts(events []proto.Request) int {
	n := 0
	for _, event := range events {
		if _, ok := event.(proto.InputInsertText); ok {
			n++
		}
	}
	return n
}

// CountReleases counts the keys and buttons that are let go.
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

// nextInputNumber numbers input that is waited for.
func (f *Frame) nextInputNumber() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputCount++
	return f.inputCount
}

// Keyboard knows which keys are held down from one action to the next. Its zero value is one that nobody touches. It is
// not safe for concurrent use.
type Keyboard struct{ down []keyDef }

// ModifierBits returns the modifiers that are held, see [Modifiers].
func (b *Keyboard) ModifierBits() int {
	bits := 0
	for _, k := range b.down {
		bits |= k.modifierBit
	}
	return bits
}

// Down presses the keys of a chord that are not down yet, in order, and keeps them down.
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

// Up lets the keys of a chord go, the last first. One that is not down is let go all the same: a page may think it is.
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

// sameKey reports whether two keys are one on the keyboard.
func (k keyDef) sameKey(o keyDef) bool {
	if k.code == "" {
		return k.name == o.name
	}
	return k.code == o.code
}

// IsIdle reports whether no key is down.
func (b *Keyboard) IsIdle() bool { return len(b.down) == 0 }

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

// ButtonBit returns the bit by which CDP tells that a button is down.
func (m Mouse) ButtonBit() int { return 1 << max(slices.Index(MouseButtons(), m.Button), 0) }

// Move returns a move to the place; held says that the button is down meanwhile.
func (m Mouse) Move(held bool) proto.InputDispatchMouseEvent {
	ev := proto.InputDispatchMouseEvent{
		Type: proto.InputDispatchMouseEventTypeMouseMoved, X: m.At.X, Y: m.At.Y, Modifiers: m.Modifiers, Button: proto.InputMouseButtonNone,
	}
	if held {
		bits := m.ButtonBit()
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
