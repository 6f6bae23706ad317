package computeruse

import (
	"context"

	"clank/computeruse/picture"
	"clank/sessions"
	"clank/sessions/working"
	"clank/untrusted"
)

// open returns the session's screen. If it had to be opened again, the model and
// the person are told.
func (r *run) open(ctx context.Context) (Screen, error) {
	before := r.held.url
	s, restored, lost, err := r.openAt(ctx, before)
	if err != nil {
		return nil, err
	}
	r.screen = s
	if !restored || before == "" {
		return s, nil
	}
	r.fresh, r.held.mouse, r.held.down = false, picture.Point{}, nil
	note := working.Reopened(before, lost)
	if lost != nil {
		r.held.url, r.held.title = "", ""
	}
	r.held.memory.Next.say("About the browser:\n" + untrusted.Wrap(untrusted.Line(note, maxNote)))
	return s, r.notice(ctx, note)
}

func (r *run) openAt(ctx context.Context, at string) (s Screen, restored bool, lost, err error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	want := sessions.Opening{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	return working.Open(ctx, r.set.OpenTimeout, r.agent.Browser.Open, want)
}
