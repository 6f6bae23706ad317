package action

import (
	"context"

	"clank/browsermgr/page/frame"
)

// moveToTarget moves the mouse to its point and sees to it that what follows arrives in the frame that shows the point, and where; it
// returns both. Chromium routes input to a frame of another process by what was last drawn of it: where that is too old, as
// just after the frame was laid out or the scale of the screen was changed, the page around it would get the click, or
// another place in the frame. So the frame is asked whether it has noticed the mouse there, and given time to be drawn if it
// has not. One that never notices is clicked all the same: its page may keep the event to itself.
func (d *performer) moveToTarget(ctx context.Context, m frame.Mouse) (*frame.Frame, frame.Point, error) {
	f, at, err := FrameAtPoint(ctx, d.tab.Frames(), m.At)
	if err != nil || f.Parent() == nil || d.state.button != "" { // a button that is down keeps its frame
		return f, at, err
	}
	return f, at, d.moveIntoFrame(ctx, f, at, m)
}

func (d *performer) moveIntoFrame(ctx context.Context, f *frame.Frame, at frame.Point, m frame.Mouse) error {
	for try := range maxLostClicks {
		if _, err := frame.CallFunction[bool](ctx, f, watchMoveScript, nil, at); err != nil {
			return context.Cause(ctx) // the action finds out what is the matter with the frame
		}
		if try > 0 { // a mouse that stays where it is moves nothing
			away := m
			away.At.X++
			if err := d.sendInput(ctx, away.Move(false)); err != nil {
				return err
			}
		}
		if err := d.sendInput(ctx, m.Move(false)); err != nil {
			return err
		}
		if noticed, err := frame.CallFunction[bool](ctx, f, moveSeenScript, nil, nil); noticed || err != nil {
			return context.Cause(ctx)
		}
		if _, err := f.Parent().AwaitQuiet(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// watchMoveScript begins to watch for the mouse at a point of a frame, or in the documents of its process below it.
const watchMoveScript = `(_, at) => {
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

// moveSeenScript reports whether the mouse has come, or comes in a moment: moves are told with the next drawing.
const moveSeenScript = `() => Promise.race([globalThis.clankMouse, new Promise((late) => setTimeout(late, 150, false))])`
