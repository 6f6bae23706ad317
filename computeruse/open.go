package computeruse

import (
	"context"
	"fmt"

	"clank/computeruse/picture"
	"clank/sessions"
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
	note := fmt.Sprintf("the page had been closed and was opened again at %s; what was entered on it may be lost", before)
	if lost != nil {
		note = fmt.Sprintf("the page had been closed and could not be opened again at %s (%v); the browser starts empty", before, lost)
		r.held.url, r.held.title = "", ""
	}
	r.held.memory.Next.say("About the browser:\n" + untrusted.Wrap(untrusted.Line(note, maxNote)))
	return s, r.notice(ctx, note)
}

// openAt opens the page at the URL, or empty if that cannot be opened any more;
// lost says why not.
func (r *run) openAt(ctx context.Context, at string) (s Screen, restored bool, lost, err error) {
	r.held.page.Lock()
	defer r.held.page.Unlock()
	if ctx.Err() != nil {
		return nil, false, nil, context.Cause(ctx)
	}
	opening, cancel := context.WithTimeoutCause(ctx, r.set.OpenTimeout, errLateOpen)
	defer cancel()
	want := sessions.Opening{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	s, restored, err = r.agent.Browser.Open(opening, want)
	if err != nil && at != "" && opening.Err() == nil {
		lost = err
		want.URL = ""
		s, restored, err = r.agent.Browser.Open(opening, want)
	}
	if err != nil {
		return nil, false, nil, ended(ctx, fmt.Errorf("open the browser: %w", ended(opening, err)))
	}
	return s, restored || lost != nil, lost, nil
}
