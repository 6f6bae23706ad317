package action

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// mouseAt returns the mouse at the action's point, with the action's modifiers and those held.
func (d *performer) mouseAt(a Action) frame.Mouse {
	m := newMouse(frame.Point{X: a.X, Y: a.Y}, a)
	m.Modifiers |= d.state.keys.ModifierBits()
	return m
}

// frameAt returns the frame at the point of an action.
func (d *performer) frameAt(ctx context.Context, at frame.Point) (*frame.Frame, error) {
	f, _, err := FrameAtPoint(ctx, d.tab.Frames(), at)
	return f, err
}

// viewSizeScript returns the size of what is visible, which is a part of the viewport if the page is pinched.
const viewSizeScript = `() => visualViewport?.scale > 1 ? { x: visualViewport.width, y: visualViewport.height } :
  { x: innerWidth, y: innerHeight }`

// checkInView fails if a point is not in the visible part of the page, since no element gets an event there.
func (d *performer) checkInView(ctx context.Context, points ...frame.Point) error {
	size, err := frame.CallFunction[frame.Point](ctx, d.mainFrame(), viewSizeScript, nil, nil)
	// If the page is navigating, ask its next document.
	for tries := 100; cdp.IsDocumentGone(err) && tries > 0 && cancel.Sleep(ctx, 10*time.Millisecond) == nil; tries-- {
		size, err = frame.CallFunction[frame.Point](ctx, d.mainFrame(), viewSizeScript, nil, nil)
	}
	if err != nil {
		return d.explainUnanswered(ctx, err)
	}
	for _, at := range points {
		if at.X < 0 || at.Y < 0 || at.X >= size.X || at.Y >= size.Y {
			return fmt.Errorf("the point %g, %g is outside of the visible page, which is %g wide and %g high: scroll, or "+
				"resize the page, and count in CSS pixels from its top left corner (%w)", at.X, at.Y, size.X, size.Y,
				fault.ErrNotInteractable)
		}
	}
	return nil
}

func (d *performer) pointerMove(ctx context.Context, a Action) error {
	m := d.mouseAt(a)
	if d.state.button == "" { // with a button pressed, the page also gets moves outside
		if err := d.checkInView(ctx, m.At); err != nil {
			return err
		}
	}
	if err := d.moveTo(ctx, m); err != nil {
		return err
	}
	f, err := d.frameAt(ctx, m.At)
	if err != nil {
		return err
	}
	return d.settle(ctx, f)
}

// moveTo moves the mouse with the pressed button, if any.
func (d *performer) moveTo(ctx context.Context, m frame.Mouse) error {
	d.state.position = m.At
	if d.state.button == "" {
		return d.sendInput(ctx, m.Move(false))
	}
	m.Button = d.state.button
	return d.dragMove(ctx, m)
}

func (d *performer) pointerDown(ctx context.Context, a Action) error {
	if held := d.state.button; held != "" {
		return fault.Invalidf("the %s button is down already: let it go with pointerUp", held)
	}
	m := d.mouseAt(a)
	if err := d.checkInView(ctx, m.At); err != nil {
		return err
	}
	f, _, err := d.moveToTarget(ctx, m)
	if err != nil {
		return err
	}
	if err := d.awaitDrag(ctx, m.At); err != nil {
		d.endDrag()
		return err
	}
	d.state.position, d.state.button = m.At, string(m.Press(1).Button)
	defer d.recordDocument()
	if err := d.sendInput(ctx, m.Move(false), m.Press(1)); err != nil {
		return err
	}
	return d.settle(ctx, f)
}

// pointerUp releases the pressed button, if any, at the point.
func (d *performer) pointerUp(ctx context.Context, a Action) error {
	m := d.mouseAt(a)
	if d.state.button != "" {
		m.Button = d.state.button
		if err := d.moveTo(ctx, m); err != nil {
			return err
		}
	}
	f, err := d.frameAt(ctx, m.At)
	if err != nil {
		return err
	}
	events := append(d.state.dropEvents(m.At), m.Release(1))
	d.state.position, d.state.button = m.At, ""
	defer d.endDrag()
	_, err = d.sendAndWait(ctx, f, events...)
	return err
}

// wheel turns the wheel at a point and waits until scrolling has ended.
func (d *performer) wheel(ctx context.Context, a Action) error {
	m := d.mouseAt(a)
	if err := d.checkInView(ctx, m.At); err != nil {
		return err
	}
	d.state.position = m.At
	f, at, err := d.moveToTarget(ctx, m)
	if err != nil {
		return err
	}
	if err := d.sendInput(ctx, m.Wheel(a.DeltaX, a.DeltaY)); err != nil {
		return err
	}
	if _, err := frame.CallFunction[bool](ctx, f, awaitScrollScript, nil, at); err != nil && !cdp.IsDocumentGone(err) {
		return err
	}
	return d.settle(ctx, f)
}

// awaitScrollScript resolves when nothing at a point scrolls any more.
const awaitScrollScript = `async (_, at) => {
  const around = [];
  for (let root = document, x = at.x + (visualViewport?.offsetLeft ?? 0), y = at.y + (visualViewport?.offsetTop ?? 0), n = 0; root && n < 64; n++) {
    const el = root.elementFromPoint(x, y);
    for (let e = el; e; e = e.parentElement ?? e.getRootNode().host) around.push(e);
    if (el?.contentDocument) {
      const box = el.getBoundingClientRect();
      x -= box.left; y -= box.top;
      root = el.contentDocument;
    } else {
      root = el?.shadowRoot === root ? null : el?.shadowRoot;
    }
  }
  const where = () => scrollX + ',' + scrollY + around.map((e) => e.scrollLeft + ',' + e.scrollTop);
  const end = performance.now() + 600;
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 50); });
  for (let last = where(), same = 0; same < 2 && performance.now() < end;) {
    await frame();
    const now = where();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return true;
}`

// keyDown presses keys and holds them for later actions.
func (d *performer) keyDown(ctx context.Context, a Action) error {
	edit := ClipboardEdit(a, d.state.keys.ModifierBits())
	if edit == "" {
		return d.sendKeys(ctx, a, d.state.keys.Down)
	}
	f, err := FocusedFrame(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	return d.useClipboard(ctx, f, edit, func() error { return d.sendKeys(ctx, a, d.state.keys.Down) })
}

func (d *performer) keyUp(ctx context.Context, a Action) error {
	return d.sendKeys(ctx, a, d.state.keys.Up)
}

func (d *performer) sendKeys(ctx context.Context, a Action, build func(frame.Chord) []proto.Request) error {
	c, err := frame.ParseChord(a.Key)
	if err != nil {
		return err
	}
	f, err := FocusedFrame(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	defer d.recordDocument()
	events := build(c)
	if err := d.sendInput(ctx, events...); err != nil {
		return err
	}
	return d.settle(ctx, f)
}

// longText is the number of characters from which a text is inserted at once.
const longText = 2000

// insertText types at the focus: with keys where the layout has them, inserting other characters. With Clear it
// replaces the field's value. Held keys are ignored.
func (d *performer) insertText(ctx context.Context, a Action) error {
	f, err := FocusedFrame(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	var events []proto.Request
	if a.Clear {
		if c, err := frame.ParseChord(selectAll); err == nil {
			events = append(events, c.Events()...)
		}
		if a.Text == "" {
			events = append(events, frame.DeleteChord().Events()...)
		}
	}
	events = append(events, typingEvents(a.Text)...)
	if len(events) == 0 {
		return nil
	}
	_, err = d.sendAndWait(ctx, f, events...)
	return err
}

// typingEvents returns the events of a keyboard for a text.
func typingEvents(text string) []proto.Request {
	runes := []rune(strings.ReplaceAll(text, "\r\n", "\n"))
	keyed := func(r rune) bool {
		return strings.ContainsRune("\r\n\t", r) || len(runes) <= longText && frame.HasKey(r)
	}
	var events []proto.Request
	var rest []rune // to be inserted
	flush := func() {
		if len(rest) > 0 {
			events, rest = append(events, proto.InputInsertText{Text: string(rest)}), nil
		}
	}
	for _, r := range runes {
		if !keyed(r) {
			rest = append(rest, r)
			continue
		}
		flush()
		events = append(events, frame.RuneChord(r).Events()...)
	}
	flush()
	return events
}

//go:embed under.js
var frameAtScript string

// maxFrameDepth bounds the nesting of out-of-process frames to follow.
const maxFrameDepth = 16

// FrameAtPoint returns the frame at a point of the tab's viewport, and the point in that frame's viewport. frames are
// the tab's, parents first.
func FrameAtPoint(ctx context.Context, frames []*frame.Frame, at frame.Point) (*frame.Frame, frame.Point, error) {
	return descendFrames(ctx, frames, &at)
}

// FocusedFrame returns the frame that receives typed text. frames are the tab's, parents first.
func FocusedFrame(ctx context.Context, frames []*frame.Frame) (*frame.Frame, error) {
	f, _, err := descendFrames(ctx, frames, nil)
	return f, err
}

// descendFrames descends from the main frame into out-of-process frames that contain the point or, if it is nil, the
// focus. It ends at a frame that goes away meanwhile.
func descendFrames(ctx context.Context, frames []*frame.Frame, at *frame.Point) (*frame.Frame, frame.Point, error) {
	f, point := frames[0], frame.Point{}
	if at != nil {
		point = *at
	}
	for range maxFrameDepth {
		var inner []*frame.Frame
		var owners []frame.Locator
		for _, child := range frames {
			if child.Parent() != f {
				continue
			}
			ref, err := child.FindOwner(ctx)
			if ctx.Err() != nil {
				return f, point, context.Cause(ctx)
			}
			if err == nil { // it is going away
				inner, owners = append(inner, child), append(owners, frame.Locator{Ref: ref})
			}
		}
		if len(inner) == 0 {
			return f, point, nil
		}
		var arg any
		if at != nil {
			arg = point
		}
		in, err := frame.CallFunction[struct {
			Owner int `json:"owner"`
			frame.Point
		}](ctx, f, frameAtScript, owners, arg)
		if errors.Is(err, cdp.ErrDocumentGone) || err == nil && in.Owner < 0 {
			return f, point, nil
		}
		if err != nil {
			return f, point, err
		}
		f, point = inner[in.Owner], in.Point
	}
	return f, point, nil
}
