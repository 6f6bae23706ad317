package act

import (
	"context"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"

	"github.com/go-rod/rod/lib/proto"
)

// mouse is the mouse at the action's point, with the modifiers that it names and those that are held.
func (d *doer) mouse(a Action) input.Mouse {
	m := mouse(input.Point{X: a.X, Y: a.Y}, a)
	m.Bits |= d.hands.keys.Bits()
	return m
}

// under is the frame that an action at a point is done in.
func (d *doer) under(ctx context.Context, at input.Point) (*frame.Frame, error) {
	f, _, err := UnderPoint(ctx, d.tab.Frames(), at)
	return f, err
}

func (d *doer) pointerMove(ctx context.Context, a Action) error {
	m := d.mouse(a)
	if err := d.moveTo(ctx, m); err != nil {
		return err
	}
	f, err := d.under(ctx, m.At)
	if err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// moveTo moves the mouse with whatever button is down.
func (d *doer) moveTo(ctx context.Context, m input.Mouse) error {
	d.hands.at = m.At
	if d.hands.button == "" {
		return d.send(ctx, m.Move(false))
	}
	m.Button = d.hands.button
	return d.pull(ctx, m)
}

func (d *doer) pointerDown(ctx context.Context, a Action) error {
	if held := d.hands.button; held != "" {
		return fault.Invalidf("the %s button is down already: let it go with pointerUp", held)
	}
	m := d.mouse(a)
	f, _, err := d.aim(ctx, m)
	if err != nil {
		return err
	}
	if err := d.awaitDrag(ctx); err != nil {
		d.endDrag()
		return err
	}
	d.hands.at, d.hands.button = m.At, string(m.Press(1).Button)
	defer d.keep()
	if err := d.send(ctx, m.Move(false), m.Press(1)); err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// pointerUp lets go of the button that is down, if any, at the point.
func (d *doer) pointerUp(ctx context.Context, a Action) error {
	m := d.mouse(a)
	if d.hands.button != "" {
		m.Button = d.hands.button
		if err := d.moveTo(ctx, m); err != nil {
			return err
		}
	}
	f, err := d.under(ctx, m.At)
	if err != nil {
		return err
	}
	events := append(d.hands.drop(m.At), m.Release(1))
	d.hands.at, d.hands.button = m.At, ""
	defer d.endDrag()
	_, err = d.finish(ctx, f, events...)
	return err
}

// wheel turns the wheel at a point and waits until what it scrolled has come to rest.
func (d *doer) wheel(ctx context.Context, a Action) error {
	m := d.mouse(a)
	d.hands.at = m.At
	f, at, err := d.aim(ctx, m)
	if err != nil {
		return err
	}
	if err := d.send(ctx, m.Wheel(a.DeltaX, a.DeltaY)); err != nil {
		return err
	}
	if _, err := frame.Apply[bool](ctx, f, restScript, nil, at); err != nil && !cdp.DocumentGone(err) {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// restScript resolves when nothing around a point scrolls any more.
const restScript = `async (_, at) => {
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

// keyDown presses keys and keeps them down for the actions to come.
func (d *doer) keyDown(ctx context.Context, a Action) error {
	return d.keyed(ctx, a, d.hands.keys.Down)
}

func (d *doer) keyUp(ctx context.Context, a Action) error {
	return d.keyed(ctx, a, d.hands.keys.Up)
}

func (d *doer) keyed(ctx context.Context, a Action, build func(input.Chord) []proto.Request) error {
	c, err := input.ParseChord(a.Key)
	if err != nil {
		return err
	}
	f, err := Focused(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	defer d.keep()
	events := build(c)
	if err := d.send(ctx, events...); err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// longText is the number of characters from which a text is inserted as a whole.
const longText = 2000

// insertText types at the focus: with keys where the layout has them, and what has none is inserted. With Clear it takes the
// place of what the field holds. Held keys are not felt: text is text.
func (d *doer) insertText(ctx context.Context, a Action) error {
	f, err := Focused(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	var events []proto.Request
	if a.Clear {
		if c, err := input.ParseChord("Control+a"); err == nil {
			events = append(events, c.Events()...)
		}
		if a.Text == "" {
			events = append(events, input.Delete().Events()...)
		}
	}
	events = append(events, typing(a.Text)...)
	if len(events) == 0 {
		return nil
	}
	_, err = d.finish(ctx, f, events...)
	return err
}

// typing is what a keyboard sends for a text.
func typing(text string) []proto.Request {
	runes := []rune(strings.ReplaceAll(text, "\r\n", "\n"))
	keyed := func(r rune) bool {
		return strings.ContainsRune("\r\n\t", r) || len(runes) <= longText && input.Typed(r)
	}
	var events []proto.Request
	var rest []rune // is inserted
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
		events = append(events, input.Rune(r).Events()...)
	}
	flush()
	return events
}
