package page

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// PersonInput is mouse, keyboard or touch input of a person looking at the page. Kind is move, down, up, wheel,
// keydown, keyup, text (pasted, or from a dead key), compose and commit (of an input method), or touch. Coordinates are
// CSS pixels of the viewport, keys those of the UI Events specification.
type PersonInput struct {
	Kind   string  `json:"kind"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	DX     float64 `json:"dx"` // of the wheel
	DY     float64 `json:"dy"`
	Button string  `json:"button"` // left (if empty), right, middle, back or forward
	Clicks int     `json:"clicks"` // consecutive clicks, from 1
	Mods   int     `json:"mods"`   // Alt 1, Control 2, Meta 4, Shift 8

	Key      string `json:"key"`
	Code     string `json:"code"`
	KeyCode  int    `json:"keyCode"`
	Location int    `json:"location"`
	Repeat   bool   `json:"repeat"`
	Text     string `json:"text"`
	Caret    int    `json:"caret"` // in UTF-16 units of the composed text

	Phase  string       `json:"phase"`  // start, move, end or cancel
	Points [][3]float64 `json:"points"` // id, x and y of each finger
}

// maxPlace bounds coordinates and wheel movements, in CSS pixels.
const maxPlace = 1 << 20

// maxPersonText bounds the text of one input, in bytes.
const maxPersonText = 1 << 20

const ctrlBit, metaBit, altBit = 2, 4, 1

// Typed returns the text that the event types, or "".
func (ev PersonInput) Typed() string {
	switch ev.Kind {
	case "text", "commit":
		return ev.Text
	case "keydown":
		r, n := utf8.DecodeRuneInString(ev.Key)
		letter := strings.EqualFold(ev.Code, "Key"+ev.Key) || ev.Code == "Digit"+ev.Key
		switch {
		case n == 0 || n != len(ev.Key) || r == utf8.RuneError:
		case ev.Mods&altBit != 0 && !letter: // AltGr, which some systems report as Control and Alt
			return ev.Key
		case ev.Mods&(ctrlBit|metaBit|altBit) == 0:
			return ev.Key
		}
	}
	return ""
}

func (ev PersonInput) validate() error {
	for _, v := range []float64{ev.X, ev.Y, ev.DX, ev.DY} {
		if math.IsNaN(v) || math.Abs(v) > maxPlace {
			return fault.Invalidf("input lies out of every page")
		}
	}
	if len(ev.Text) > maxPersonText || len(ev.Key) > 64 || len(ev.Code) > 64 || len(ev.Points) > 16 {
		return fault.Invalidf("input of kind %q is too long", ev.Kind)
	}
	return nil
}

// Person sends a person's mouse and keyboard input to a tab during a takeover. It is not safe for concurrent use.
type Person struct {
	tab     *Tab
	buttons int // pressed buttons, as in UI Events
	at      frame.Point
	drags   chan proto.InputDragData
	dragged *proto.InputDragData
}

// NewPerson returns a Person for the tab. The caller calls Leave.
func (t *Tab) NewPerson() *Person {
	p := &Person{tab: t, drags: make(chan proto.InputDragData, 1)}
	actionTab{tab: t}.ReportDrags(p.drags)
	t.main.Post(proto.InputSetInterceptDrags{Enabled: true})
	return p
}

// Leave releases the left button, if it is pressed, and stops intercepting drags.
func (p *Person) Leave() {
	actionTab{tab: p.tab}.ReportDrags(nil)
	if p.buttons&1 != 0 {
		p.tab.main.Post(frame.Mouse{At: p.at}.Release(1))
	}
	p.tab.main.Post(proto.InputSetInterceptDrags{})
}

// Post sends input to the page, in order, without waiting for its outcome. The error wraps [ErrInvalid].
func (p *Person) Post(ev PersonInput) error {
	if err := ev.validate(); err != nil {
		return err
	}
	if ev.Mods&metaBit != 0 && len(ev.Key) == 1 {
		ev.Mods = ev.Mods&^metaBit | ctrlBit // the Command key of a remote Mac keyboard
	}
	switch ev.Kind {
	case "move", "down", "up", "wheel":
		p.postMouse(ev)
	case "keydown", "keyup":
		if frame.ClipboardEdit(ev.Key, ev.Mods) == "" { // the browser's clipboard is shared with others
			p.tab.main.Post(ev.keyEvent())
		}
	case "text":
		p.tab.main.Post(proto.InputInsertText{Text: ev.Text})
	case "commit": // preceded by an empty composition, which the text replaces
		p.tab.main.Post(proto.InputImeSetComposition{}, proto.InputInsertText{Text: ev.Text})
	case "compose":
		p.tab.main.Post(proto.InputImeSetComposition{Text: ev.Text, SelectionStart: ev.Caret, SelectionEnd: ev.Caret})
	case "touch":
		return p.postTouch(ev)
	default:
		return fault.Invalidf("unknown kind of input %q", ev.Kind)
	}
	return nil
}

// postMouse sends a mouse event, or drag events while a native drag is in progress.
func (p *Person) postMouse(ev PersonInput) {
	m := frame.Mouse{At: frame.Point{X: ev.X, Y: ev.Y}, Button: ev.Button, Modifiers: ev.Mods}
	p.at = m.At
	bit := m.ButtonBit()
	drag := func(kinds ...proto.InputDispatchDragEventType) {
		for _, kind := range kinds {
			event := proto.InputDispatchDragEvent{Type: kind, X: ev.X, Y: ev.Y, Data: p.dragged, Modifiers: ev.Mods}
			p.tab.main.Post(event)
		}
	}
	select {
	case data := <-p.drags:
		if p.dragged = &data; p.buttons != 0 {
			drag(proto.InputDispatchDragEventTypeDragEnter)
		}
	default:
	}
	var event proto.InputDispatchMouseEvent
	switch ev.Kind {
	case "wheel":
		event = m.Wheel(ev.DX, ev.DY)
	case "move":
		if p.dragged != nil {
			drag(proto.InputDispatchDragEventTypeDragOver)
			return
		}
		event = m.Move(false)
		if p.buttons&1 != 0 {
			event.Button = proto.InputMouseButtonLeft
		}
	case "down":
		event, p.buttons = m.Press(max(ev.Clicks, 1)), p.buttons|bit
	case "up":
		if p.dragged != nil {
			drag(proto.InputDispatchDragEventTypeDragOver, proto.InputDispatchDragEventTypeDrop)
			p.dragged = nil
		}
		event, p.buttons = m.Release(max(ev.Clicks, 1)), p.buttons&^bit
	}
	event.Buttons = &p.buttons
	p.tab.main.Post(event)
}

// keyEvent returns the CDP command for a key event, with the person's keyboard layout.
func (ev PersonInput) keyEvent() proto.Request {
	e := proto.InputDispatchKeyEvent{
		Type: proto.InputDispatchKeyEventTypeKeyUp, Key: ev.Key, Code: ev.Code, Modifiers: ev.Mods,
		AutoRepeat: ev.Repeat, WindowsVirtualKeyCode: ev.KeyCode, NativeVirtualKeyCode: ev.KeyCode,
		IsKeypad: ev.Location == 3,
	}
	if ev.Location == 1 || ev.Location == 2 {
		e.Location = &ev.Location
	}
	if ev.Kind == "keydown" {
		if ev.Typed() != "" {
			e.Modifiers &^= ctrlBit | altBit
		}
		e.Type, e.Text = proto.InputDispatchKeyEventTypeRawKeyDown, ev.Typed()
		if ev.Key == "Enter" {
			e.Text = "\r"
		}
		if e.Text != "" {
			e.Type, e.UnmodifiedText = proto.InputDispatchKeyEventTypeKeyDown, e.Text
		}
	}
	return e
}

func (p *Person) postTouch(ev PersonInput) error {
	kinds := map[string]proto.InputDispatchTouchEventType{
		"start": proto.InputDispatchTouchEventTypeTouchStart, "move": proto.InputDispatchTouchEventTypeTouchMove,
		"end": proto.InputDispatchTouchEventTypeTouchEnd, "cancel": proto.InputDispatchTouchEventTypeTouchCancel,
	}
	e := proto.InputDispatchTouchEvent{
		Type: kinds[ev.Phase], TouchPoints: []*proto.InputTouchPoint{}, Modifiers: ev.Mods,
	}
	if e.Type == "" {
		return fault.Invalidf("unknown touch phase %q", ev.Phase)
	}
	if ev.Phase == "start" || ev.Phase == "move" {
		for _, at := range ev.Points {
			if !actiontable.IsCoordinate(at[1]) || !actiontable.IsCoordinate(at[2]) {
				return fault.Invalidf("input lies out of every page")
			}
			e.TouchPoints = append(e.TouchPoints, &proto.InputTouchPoint{ID: &at[0], X: at[1], Y: at[2]})
		}
	}
	p.tab.main.Post(e)
	return nil
}

// CopySelection returns the selected text of the page without changing the clipboard of the tab's context. While the
// page holds a secret it returns an error.
func (t *Tab) CopySelection(ctx context.Context) (string, error) {
	clipboard := t.browser.clipboardOf(t.contextID)
	before := clipboard.Swap(action.Copied{})
	_, err := t.Act(ctx, action.Action{Kind: actiontable.KindPress, Key: "Control+C"})
	return clipboard.Swap(before).Text, err
}

// HideTyped marks the time in which a person may type into fields of the page, beginning (done is false) and ending
// (true). Values of fields that changed meanwhile are omitted from later snapshots and texts.
func (t *Tab) HideTyped(ctx context.Context, done bool) error {
	fn := map[bool]string{false: "beginHold", true: "endHold"}[done]
	for _, f := range t.Frames() {
		if _, err := frame.RunScript[bool](ctx, f, frame.Script{Fn: fn}); err != nil {
			return err
		}
	}
	return nil
}
