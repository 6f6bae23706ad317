package computeruse

import (
	"context"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"
)

// open returns the session's screen. If it had to be opened again, the model and
// the person are told.
func (r *run) open(ctx context.Context) (sessions.Page, error) {
	before := r.state.url
	s, restored, lost, err := r.openAt(ctx, before)
	if err != nil {
		return nil, err
	}
	r.screen = s
	if !restored || before == "" {
		return s, nil
	}
	r.screenshotCurrent, r.state.pointer, r.state.releases = false, CSSPoint{}, nil
	note := agent.ReopenedNotice(before, lost)
	if lost != nil {
		r.state.url, r.state.title = "", ""
	}
	r.state.memory.Next.addUserText("About the browser:\n" + untrusted.Wrap(untrusted.CleanLine(note, maxNote)))
	return s, r.notice(ctx, note)
}

func (r *run) openAt(ctx context.Context, at string) (s sessions.Page, restored bool, lost, err error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	want := sessions.PageRequest{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	return agent.OpenPage(ctx, openTimeout, r.agent.Browser, want)
}
