package act

import (
	"context"

	"clank/browsermgr/frame"
	"clank/browsermgr/input"
)

// aim moves the mouse to its point and sees to it that what follows arrives in the frame that shows the point. Chromium
// routes input to a frame of another process by what was last drawn of it: where that is too old, as just after the frame was
// laid out, the page around it would get the click. So the frame is asked whether it has noticed the mouse, and given time to
// be drawn if it has not. One that never notices is clicked all the same: its page may keep the event to itself.
func (d *doer) aim(ctx context.Context, f *frame.Frame, m input.Mouse) error {
	if f.Parent() == nil || d.hands.button != "" { // a button that is down keeps its frame
		return nil
	}
	for try := range maxLost {
		if _, err := frame.Apply[bool](ctx, f, watchScript, nil, nil); err != nil {
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

// watchScript begins to watch for the mouse in a frame and the documents of its process below it.
const watchScript = `() => {
  globalThis.clankMouse = new Promise((seen) => {
    const watch = (root) => {
      root.addEventListener('pointermove', () => seen(true), { capture: true, once: true });
      for (const el of root.querySelectorAll('iframe, frame')) if (el.contentDocument) watch(el.contentDocument);
    };
    watch(document);
  });
  return true;
}`

// noticedScript reports whether the mouse has come, or comes in a moment: moves are told with the next drawing.
const noticedScript = `() => Promise.race([globalThis.clankMouse, new Promise((late) => setTimeout(late, 150, false))])`
