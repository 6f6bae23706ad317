package share

import (
	"context"
	"errors"
	"fmt"
)

var errMoved = errors.New("the call has moved to another channel")

// Move takes the share of a call, if it has one, along to where the call is now: it ends in the channel where it was, for all who watch it
// there, and begins in the one of c, on the first stage that will have it. People are told once, in the new channel. An error is why the
// share has ended instead, which they are told as well.
func (m *Manager) Move(ctx context.Context, c CallRef) error {
	s, err := m.acquireSlot(ctx, c)
	if err != nil {
		return err
	}
	defer m.releaseSlot(c, s)
	old := s.share
	if old == nil || old.call == c {
		return nil
	}
	m.endShare(ctx, s, errMoved)
	sh, refused, err := m.restartFor(ctx, c, old)
	if err != nil {
		m.sendNotice(Notice{Call: c, Text: fmt.Sprintf("The page is not shared any more: %v, and %v.", errMoved, err)})
		return err
	}
	m.setShare(s, sh)
	m.work.Go(sh.watch)
	st := sh.state()
	m.logger().Info("a share has moved with its call", "call", c.ID, "session", st.SessionID, "stage", st.Target)
	m.sendNotice(Notice{
		Call: c, Link: st.Location.Link,
		Text: fmt.Sprintf("The call has moved, and the page that %s shares with it. %sIt is shown by %s now. %s", displayName(st.RequestedBy), refused, st.Target, st.Location.Text),
	})
	return nil
}

// restartFor begins a share that has ended, for another call.
func (m *Manager) restartFor(ctx context.Context, c CallRef, old *share) (sh *share, refused string, err error) {
	session, err := m.Sessions.Session(ctx, old.session.ID)
	if err != nil {
		return nil, "", fmt.Errorf("look up session %s: %w", old.session.ID, err)
	}
	screen, err := m.Screen(ctx, session)
	if err != nil {
		return nil, "", fmt.Errorf("session %s has no page that could be shown: %w", session.ID, err)
	}
	if err := m.Sessions.SetShared(ctx, session.ID, true); err != nil {
		return nil, "", fmt.Errorf("keep the session open: %w", err)
	}
	sh = m.newShare(context.WithoutCancel(ctx), c, session, old.requestedBy, screen)
	if refused, err = m.findTarget(ctx, sh); err != nil {
		m.unwind(ctx, sh, err)
		return nil, "", err
	}
	return sh, refused, nil
}
