package act

import (
	"context"

	"clank/browsermgr/frame"
	"clank/browsermgr/input"
)

// aim moves the mouse to its point and sees to it that what follows arrives in the frame that shows the point, and where; it
// returns both. Chromium routes input to a frame of another process by what was last drawn of it: where that is too old, as
// just after the frame was laid out or the scale of the screen was changed, the page around it would get the click, or
// another place in the frame. So the frame is asked whether it has noticed the mouse there, and given time to be drawn if it
// has not. One that never notices is clicked all the same: its page may keep the event to itself.
func (d *doer) aim(ctx context.Context, m input.Mouse) (*frame.Frame, input.Point, error) {
	f, at, err := UnderPoint(ctx, d.tab.Frames(), m.At)
	if err != nil || f.Parent() == nil || d.hands.button != "" { // a button that is down keeps its frame
		return f, at, err
	}
	return f, at, d.aimInto(ctx, f, at, m)
}

func (d *doer) aimInto(ctx context.Context, f *frame.Frame, at input.Point, m input.Mouse) error {
	for try := range maxLost {
		if _, err := frame.Apply[bool](ctx, f, watchScript, nil, at); err != nil {
			return context.Cause(ctx) // the action finds out what is the matter with the frame
		}
		if try > 0 { // a mouse that stays where it is moves nothing
			away := m
			away.At.X++
			if err := d.send(ctx, away.Move(false)); err != nil {
				return err
			}
		}
		if err := d.send(ctx, m.Move(false)); err != nil {
			return err
		}
		if noticed, err := frame.Apply[bool](ctx, f, noticedScript, nil, nil); noticed || err != nil {
			return context.Cause(ctx)
		}
		if _, err := f.Parent().Quiet(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// watchScript begins to watch for the mouse at a point of a frame, or in the documents of its process below it.
const watchScript = `(_, at) => {
  globalThis.clankWatch?.abort();
  const end = globalThis.clankWatch = new AbortController();
  globalThis.clankMouse = new Promise((seen) => {
    const watch = (root, there) => {
      root.addEventListener('pointermove', (e) => {
        if (!there(e)) return;
        end.abort();
        seen(true);
      }, { capture: true, signal: end.signal });
      for (const el of root.querySelectorAll('iframe, frame')) if (el.contentDocument) watch(el.contentDocument, () => true);
    };
    const near = (a, b) => Math.abs(a - b) < 4;
    watch(document, (e) => near(e.clientX, at.x + (visualViewport?.offsetLeft ?? 0)) && near(e.clientY, at.y + (visualViewport?.offsetTop ?? 0)));
  });
  return true;
}`

// noticedScript reports whether the mouse has come, or comes in a moment: moves are told with the next drawing.
const noticedScript = `() => Promise.race([globalThis.clankMouse, new Promise((late) => setTimeout(late, 150, false))])`
