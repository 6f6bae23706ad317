package computeruse

import (
	"context"
	"errors"
	"maps"
	"slices"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"
)

// trackHeld records what is held down.
func (r *run) trackHeld(m screenMove) {
	h := r.state
	var up screenMove
	switch m.kind {
	case "keyDown":
		up = screenMove{"keyUp", map[string]any{"key": m.args["key"]}}
	case "pointerDown":
		up = screenMove{"pointerUp", map[string]any{"x": m.args["x"], "y": m.args["y"], "button": m.args["button"]}}
	case "keyUp", "pointerUp":
		h.releases = slices.DeleteFunc(h.releases, func(d screenMove) bool {
			return d.kind == m.kind && d.args["key"] == m.args["key"] && d.args["button"] == m.args["button"]
		})
		return
	default:
		return
	}
	h.releases = append(h.releases, up)
}

// releaseHeld releases what is still held down, the newest first.
func (r *run) releaseHeld(ctx context.Context, s sessions.Page) {
	for _, up := range slices.Backward(r.state.releases) {
		if ctx.Err() != nil {
			return
		}
		if up.kind == "pointerUp" {
			at := r.pointerPosition()
			up.args["x"], up.args["y"] = at.X, at.Y
		}
		r.screenshotCurrent = false
		if err := agent.RunWithin(ctx, r.set.StepTimeout, func(ctx context.Context) error {
			return r.release(ctx, s, up)
		}); err != nil {
			r.log.Debug("a key or button stays down", "err", err)
		}
	}
	r.state.releases = nil
}

var errReleaseActs = errors.New("letting go would set off what nobody agreed to")

// release releases a key or button without an effect that people decide about: a mouse button is then released
// elsewhere, which is no click.
func (r *run) release(ctx context.Context, s sessions.Page, up screenMove) error {
	if r.agent.Approver == nil {
		_, err := s.Act(ctx, up.kind, up.args)
		return err
	}
	_, same, err := s.ActIfUnchanged(ctx, up.kind, maps.Clone(up.args), "")
	if err != nil || same {
		return err
	}
	if up.kind != "pointerUp" {
		return errReleaseActs
	}
	up.args["x"], up.args["y"] = 0, 0
	if _, same, err = s.ActIfUnchanged(ctx, up.kind, up.args, ""); err == nil && !same {
		return errReleaseActs
	}
	return err
}

// pointerPosition returns where the mouse was last seen.
func (r *run) pointerPosition() CSSPoint {
	if r.state.pointer == (CSSPoint{}) {
		return r.screenshot.Center()
	}
	return r.state.pointer
}

// open returns the session's page. If it had to be reopened, the model and the person are told.
func (r *run) open(ctx context.Context) (sessions.Page, error) {
	before := r.state.url
	s, reopened, lost, err := r.openAt(ctx, before)
	if err != nil {
		return nil, err
	}
	r.screen = s
	if reopened == "" || before == "" {
		return s, nil
	}
	r.screenshotCurrent, r.state.pointer, r.state.releases = false, CSSPoint{}, nil
	if lost {
		r.state.url, r.state.title = "", ""
	}
	r.state.memory.Next.addUserText("About the browser:\n" + untrusted.Wrap(untrusted.CleanLine(reopened, maxNote)))
	return s, r.notice(ctx, reopened)
}

func (r *run) openAt(ctx context.Context, at string) (s sessions.Page, reopened string, lost bool, err error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	want := sessions.PageRequest{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	return agent.OpenPage(ctx, openTimeout, r.agent.Browser, want, r.notice)
}
