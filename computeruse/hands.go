package computeruse

import (
	"context"
	"errors"
	"maps"
	"slices"

	"clank/computeruse/picture"

	"clank/sessions/working"
)

// note remembers what is held down.
func (r *run) note(m move) {
	h := r.held
	var up move
	switch m.kind {
	case "keyDown":
		up = move{"keyUp", map[string]any{"key": m.args["key"]}}
	case "pointerDown":
		up = move{"pointerUp", map[string]any{"x": m.args["x"], "y": m.args["y"], "button": m.args["button"]}}
	case "keyUp", "pointerUp":
		h.down = slices.DeleteFunc(h.down, func(d move) bool {
			return d.kind == m.kind && d.args["key"] == m.args["key"] && d.args["button"] == m.args["button"]
		})
		return
	default:
		return
	}
	h.down = append(h.down, up)
}

// letGo lets go of what is still held down, the newest first.
func (r *run) letGo(ctx context.Context, s Screen) {
	for _, up := range slices.Backward(r.held.down) {
		if ctx.Err() != nil {
			return
		}
		if up.kind == "pointerUp" {
			at := r.mouse()
			up.args["x"], up.args["y"] = at.X, at.Y
		}
		r.fresh = false
		if err := working.Timed(ctx, r.set.StepTimeout, func(ctx context.Context) error { return r.release(ctx, s, up) }); err != nil {
			r.log.Debug("a key or button stays down", "err", err)
		}
	}
	r.held.down = nil
}

var errSetsOff = errors.New("letting go would set off what nobody agreed to")

// release lets go of a key or button without setting off what people decide about:
// a button of the mouse is let go elsewhere then, which is no click.
func (r *run) release(ctx context.Context, s Screen, up move) error {
	j, judges := s.(working.Judge)
	if !judges || r.agent.Consent == nil {
		_, err := s.Act(ctx, up.kind, up.args)
		return err
	}
	_, same, err := j.ActIf(ctx, up.kind, maps.Clone(up.args), "")
	if err != nil || same {
		return err
	}
	if up.kind != "pointerUp" {
		return errSetsOff
	}
	up.args["x"], up.args["y"] = 0, 0
	if _, same, err = j.ActIf(ctx, up.kind, up.args, ""); err == nil && !same {
		return errSetsOff
	}
	return err
}

// mouse is where the mouse was last seen.
func (r *run) mouse() picture.Point {
	if r.held.mouse == (picture.Point{}) {
		return r.photo.Middle()
	}
	return r.held.mouse
}
