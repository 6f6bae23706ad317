package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"clank/llm"
	"clank/sessions"
)

// Result is the outcome of a request, in the form that models receive.
type Result struct {
	OK            bool        `json:"ok"`
	Started       bool        `json:"started,omitempty"` // a share has begun
	AlreadyShared bool        `json:"reused,omitempty"`  // the session was shared already
	Stopped       bool        `json:"stopped,omitempty"` // a share has ended
	SessionID     string      `json:"session_id,omitempty"`
	Error         RefusalCode `json:"error,omitempty"`
	Message       string      `json:"message,omitempty"` // sentences for people; a link is not among them
}

// failedResult returns the result that describes an error.
func failedResult(id string, err error) Result {
	r := Result{SessionID: id, Error: "failed", Message: err.Error() + "."}
	if no, ok := errors.AsType[*Refusal](err); ok {
		r.Error = no.Code
	}
	return r
}

// Share shows the page of a session to a call on behalf of by: its owner, or a moderator of its server. Private
// sessions are only shown to their owner. If the call already shows another session, that share ends. The session is
// kept open meanwhile. An error is a [*Refusal], unless something failed on our side; the Result contains it as well.
func (m *Manager) Share(ctx context.Context, c CallRef, id string, by sessions.Origin) (Result, error) {
	s, err := m.acquireSlot(ctx, c)
	if err != nil {
		return failedResult(id, err), err
	}
	defer m.releaseSlot(c, s)
	session, err := m.checkRequest(ctx, c, id, by)
	if err != nil {
		return failedResult(id, err), err
	}
	if s.share != nil && s.share.session.ID == session.ID {
		st := s.share.state()
		return Result{
			OK: true, AlreadyShared: true, SessionID: session.ID,
			Message: fmt.Sprintf("It is shared already. %v", st.Location.Text),
		}, nil
	}
	message, err := m.start(ctx, s, c, session, by)
	if err != nil {
		return failedResult(id, err), err
	}
	return Result{OK: true, Started: true, SessionID: session.ID, Message: message}, nil
}

// checkRequest finds out whether a session can be shared, in the order of the contract.
func (m *Manager) checkRequest(ctx context.Context, c CallRef, id string,
	by sessions.Origin,
) (sessions.Session, error) {
	var none sessions.Session
	switch {
	case c.ID == "":
		return none, newRefusal(NoCall, "there is no call to share anything in; join one first")
	case id == "":
		return none, newRefusal(NoSessionID, "name the browser session that is to be shared")
	case len(m.targets(c)) == 0:
		return none, newRefusal(NoTarget, "there is no way to show anything to this call; switch on a viewer page in the "+
			"settings")
	}
	s, err := m.Sessions.Session(ctx, id)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return none, newRefusal(NotFound, "there is no browser session %q, or it was forgotten; browse first, then share", id)
	case err != nil:
		return none, fmt.Errorf("look up session %s: %w", id, err)
	case !s.MayUse(by) && !moderates(by, s.Origin):
		return none, newRefusal(NotOwner, "session %s belongs to %s, so only they can share it", id, s.Origin.RequesterName())
	case c.Session == "" && s.Origin.Guild != "" && s.Origin.Guild != c.Guild && (c.Guild != "" || !by.Moderator):
		return none, newRefusal(NotOwner, "session %s belongs to another server, and stays there; browse here first, "+
			"then share", id)
	case s.State == sessions.SessionClosed:
		return none, newRefusal(NotFound, "session %s is closed; browse again, then share", id)
	case c.Session != "" && cannotSee(s.Origin) && !s.MayUse(by):
		owner := s.Origin.RequesterName()
		return none, newRefusal(NotOwner, "session %s is private, so only %s can have a link to it", id, owner)
	case c.Session == "" && cannotSee(s.Origin):
		return none, newRefusal(NoSource, "session %s is private, and a share is seen by everybody in the call; browse "+
			"again without “private” in a channel of this server, then share", id)
	}
	if err := m.Host.CheckShare(by, s); err != nil {
		return none, newRefusal(NotOwner, "session %s cannot be shown: %w", id, err)
	}
	return s, nil
}

// cannotSee reports whether only one person sees what began at o: it is private or a direct message.
func cannotSee(o sessions.Origin) bool {
	return o.Private || o.Kind == sessions.FromDiscord && o.Guild == ""
}

// moderates reports whether a moderator at by may manage what began at o: on their own server only, and never what is
// private. The operator, who is on no server, may manage everything.
func moderates(by, o sessions.Origin) bool {
	return !o.Private && (by.Kind != sessions.FromDiscord || o.Kind == sessions.FromDiscord) &&
		by.Moderates(o.Guild, o.Channel)
}

// start ends the current share of the call and begins another; the caller holds the turn of s. The text is for people.
func (m *Manager) start(ctx context.Context, s *callSlot, c CallRef, session sessions.Session,
	by sessions.Origin,
) (string, error) {
	screen, err := m.Host.Screenshotter(ctx, session)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", newRefusal(NoSource, "session %s has no page that could be shown: %w", session.ID, err)
	}
	if s.share != nil {
		m.endShare(ctx, s, errReplaced)
	}
	if err := m.Sessions.SetShared(ctx, session.ID, true); err != nil {
		if errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrSessionClosed) {
			return "", newRefusal(NotFound, "%w; browse again, then share", err)
		}
		return "", fmt.Errorf("keep the session open: %w", err)
	}
	sh := m.newShare(context.WithoutCancel(ctx), c, session, by, screen)
	ctx, found := m.startSearch(ctx, s, by)
	refused, err := m.findTarget(ctx, sh)
	found()
	if err != nil {
		m.unwind(ctx, sh, err)
		return "", err
	}
	m.setShare(s, sh)
	m.work.Go(sh.watch)
	m.work.Go(sh.playSound)
	st := sh.state()
	m.logger().Info("a session is shared", "call", c.ID, "session", session.ID, "target", st.Target)
	text := refused.before(st.Location.Text)
	notice := fmt.Sprintf("%s shares a browser page. %v", by.RequesterName(), text)
	m.notify(Notice{Call: c, Text: notice, Link: st.Location.Link})
	return text, nil
}

// Stop ends the share of a call on behalf of by: the person who began it, the owner of the session or a moderator.
func (m *Manager) Stop(ctx context.Context, c CallRef, by sessions.Origin) (Result, error) {
	ended := fmt.Errorf("%s has ended the share", by.RequesterName())
	moderator := by.Moderates(c.Guild, c.Channel)
	gave := m.cancelSearch(c, func(of sessions.Origin) bool { return moderator || sameUser(of, by) }, ended)
	s, err := m.acquireSlot(ctx, c)
	if err != nil {
		return failedResult("", err), err
	}
	defer m.releaseSlot(c, s)
	if s.share == nil && gave {
		return Result{OK: true, Stopped: true, Message: "The page is not shared."}, nil
	}
	if s.share == nil {
		err := newRefusal(Inactive, "nothing is shared in this call")
		return failedResult("", err), err
	}
	sh := s.share
	if !moderator && !sameUser(sh.requestedBy, by) && !sh.session.MayUse(by) {
		err := newRefusal(NotAllowed, "%s shares the page, so only they or a moderator can end that",
			sh.requestedBy.RequesterName())
		return failedResult(sh.session.ID, err), err
	}
	m.endShare(ctx, s, ended)
	m.notify(Notice{Call: c, Text: fmt.Sprintf( //nolint:perfsprint // the catalogue of texts knows the format
		"%s has ended the share.",
		by.RequesterName())})
	return Result{OK: true, Stopped: true, SessionID: sh.session.ID, Message: "The page is not shared any more."}, nil
}

// EndCall ends the share of a call that has ended, if it has one, and waits for that. After Close, which ends all of
// them, it does nothing.
func (m *Manager) EndCall(ctx context.Context, c CallRef) error {
	m.cancelSearch(c, func(sessions.Origin) bool { return true }, errCallEnded)
	s, err := m.acquireSlot(ctx, c)
	if no, ok := errors.AsType[*Refusal](err); ok && no.Code == ShuttingDown {
		return nil
	}
	if err != nil {
		return err
	}
	defer m.releaseSlot(c, s)
	if s.share != nil {
		m.endShare(ctx, s, errCallEnded)
	}
	return nil
}

// sameUser reports whether two wishes are one person's.
func sameUser(a, b sessions.Origin) bool { return a.Kind == b.Kind && a.User == b.User }

// Tools returns share_browser_session and stop_video_share for the people of a call.
func (m *Manager) Tools(c CallRef) []sessions.Tool {
	return []sessions.Tool{
		{
			Tool: llm.Tool{
				Name: "share_browser_session",
				Description: "Show the live page of a browser session to the people in the call. Use it when somebody wants to " +
					"see the page or to watch. Where they see it is told to them; tell them what the result's message says in a " +
					"few words.",
				Schema: json.RawMessage(`{"type":"object","properties":{"session_id":{"type":"string","description":"the session_id of an earlier browse"}},"required":["session_id"],"additionalProperties":false}`),
			},
			Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
				var in struct {
					ID string `json:"session_id"`
				}
				if err := json.Unmarshal(input, &in); err != nil {
					return "", nil, fmt.Errorf("read the arguments of share_browser_session: %w", err)
				}
				return toolAnswer(m.Share(ctx, c, in.ID, o))
			},
		},
		{
			Tool: llm.Tool{
				Name:        "stop_video_share",
				Description: "End what is shown to the people in the call.",
				Schema:      json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				return toolAnswer(m.Stop(ctx, c, o))
			},
		},
	}
}

// toolAnswer returns the tool result for a model: a refusal is a result, a failure on our side is an error.
func toolAnswer(r Result, err error) (string, []llm.Image, error) {
	if _, refused := errors.AsType[*Refusal](err); err != nil && !refused {
		return "", nil, err
	}
	text, err := json.Marshal(r)
	return string(text), nil, err
}
