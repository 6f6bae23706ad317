package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"clank/browsermgr"
	"clank/internal/liveview"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/sessions/approval"
	"clank/voice/share"

	"github.com/coder/websocket"
)

// openLive creates the live view server.
func (a *Server) openLive() {
	a.Live = &liveview.Server{
		Sessions: a.Sessions, Scopes: &a.scopes, Window: a.liveWindow,
		OpenEncoder: a.Browsers.OpenEncoder,
	}
	a.onClose(a.Live.Close)
	// People who watch a page see there that they are asked to take over.
	watched := a.Approver.Approvals.Follow(func(q approval.Question) bool {
		return q.Class == approval.ClassTakeOver && len(a.Live.Viewers(q.Session)) > 0
	})
	a.onClose(func(context.Context) error { watched.Close(); return nil })
}

// liveWindow returns the window of a session. If it is not open, it is opened if open is set; otherwise the result is
// nil.
func (a *Server) liveWindow(ctx context.Context, s sessions.Session, open bool) (*browsermgr.Window, error) {
	if w, ok := a.Browsers.Lookup(s.ID); ok || !open {
		return w, nil
	}
	want := sessions.PageRequest{Key: s.ID, Profile: s.Profile, URL: s.URL}
	if _, _, err := a.WindowBrowser(false).Open(ctx, want); err != nil {
		return nil, err
	}
	w, _ := a.Browsers.Lookup(s.ID)
	return w, nil
}

// takeOverWait bounds waiting for a person who has agreed to take over.
const takeOverWait = 5 * time.Minute

var (
	errNoTakeOver = errors.New("not done: whoever said that they would take over has not")
	errTaken      = errors.New("somebody has taken over")

	errNoDashboard = errors.New("not done: nobody can take over while the dashboard is not served (clank serve)")
)

// askToTakeOver asks the people of a task to control its page, and returns when one of them starts to; it implements
// [agent.TakeOverAsker]. Taking over without answering counts as an answer.
func (a *Server) askToTakeOver(ctx context.Context, s sessions.Session, t sessions.Task, reason string) error {
	q := questionFor(t.Origin)
	q.Class, q.Task, q.Session, q.Profile = approval.ClassTakeOver, t.ID, s.ID, s.Profile
	q.Text, q.Detail = "Take over the page", reason
	board := a.boardURL.Load()
	switch {
	case board == nil:
		return errNoDashboard
	case t.Origin.Kind != sessions.FromDiscord:
		q.Link = *board + "/s/" + s.ID
	}
	watching, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	taken := make(chan struct{})
	go func() { // ends with this call
		for held := a.Sessions.Control(s.ID); ; held = a.Sessions.Control(s.ID) {
			if held.Holder != "" {
				answer := approval.Answer{Allowed: true, By: held.Holder}
				a.Approver.Approvals.AnswerFor(s.ID, approval.ClassTakeOver, answer)
				close(taken)
				stop(errTaken) // in case the question is still open
				return
			}
			select {
			case <-held.Changed:
			case <-watching.Done():
				return
			}
		}
	}()
	if _, err := a.Approver.Approvals.Ask(watching, q); err != nil && !errors.Is(err, errTaken) {
		return err
	}
	select {
	case <-taken:
		return nil
	case <-time.After(takeOverWait):
		return errNoTakeOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askPerson asks the person of a task a question from its model; it implements [agent.PersonAsker].
func (a *Server) askPerson(ctx context.Context, s sessions.Session, t sessions.Task,
	words agent.PersonQuestion,
) (string, error) {
	q := questionFor(t.Origin)
	q.Class, q.Task, q.Session, q.Profile = approval.ClassAnswer, t.ID, s.ID, s.Profile
	q.Text, q.Detail, q.Choices = "Answer what the model asks", words.Question, words.Choices
	answer, err := a.Approver.Approvals.Ask(ctx, q)
	return answer.Text, err
}

// livePane is the live pane of the dashboard; it implements [dashboard.LivePane].
type livePane struct{ *Server }

// ServeLive implements [dashboard.LivePane].
func (a livePane) ServeLive(w http.ResponseWriter, r *http.Request, v sessions.Viewer) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{"clank.live"}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return // the response has been written
	}
	a.Live.Serve(r.Context(), conn, r.PathValue("id"), v)
}

// serveGuest shows a session to a person with a link that allows control. The link authenticates them; the origin is
// not checked, because the page may be framed by another site.
func (x *CallService) serveGuest(w http.ResponseWriter, r *http.Request, s share.ViewerShare) {
	opts := &websocket.AcceptOptions{
		Subprotocols: []string{"clank.live"}, CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true,
	}
	conn, err := websocket.Accept(w, r, opts)
	if err != nil {
		return // the response has been written
	}
	name := cmp.Or(s.Name, "a guest")
	x.Live.Serve(r.Context(), conn, s.Session, sessions.Viewer{
		Name: name, From: sessions.Origin{Kind: "link", User: s.Link, UserName: name},
		Invited: true, May: sessions.Rights{Control: true},
	})
}
