package share

import (
	"context"
	"errors"
	"slices"
	"time"

	"clank/sessions"
)

// maxSessionLinks is how many links to one session may be good at once.
const maxSessionLinks = 20

var errNoLinks = errors.New("its links have expired or were revoked")

// InviteRequest asks for a link to the page of a session.
type InviteRequest struct {
	Session string
	By      sessions.Origin
	Control bool          // to work the page, too
	User    string        // the Discord account that it is for; "": whoever opens it first
	For     time.Duration // 0: as long as links work
}

// Invite makes a link to the page of a session, without a call. Who may watch may be invited by whoever may share the
// session, who may work the page by whoever may do so themselves. A private session's links are its owner's alone. The
// session is kept open until its last link is over. An error is a [*Refusal], unless something of ours failed.
func (m *Manager) Invite(ctx context.Context, req InviteRequest) (token string, link Link, err error) {
	c := CallRef{ID: "links:" + req.Session, Session: req.Session}
	s, err := m.acquireSlot(ctx, c)
	if err != nil {
		return "", Link{}, err
	}
	defer m.releaseSlot(c, s)
	session, err := m.checkRequest(ctx, c, req.Session, req.By)
	if err != nil {
		return "", Link{}, err
	}
	longest := m.Links.MaxLifetime()
	switch {
	case req.Control && !session.MayControl(req.By):
		return "", Link{}, newRefusal(NotOwner, "session %s belongs to %s, so only they can let others work its page; "+
			"ask for a link to watch", session.ID, session.Origin.RequesterName())
	case req.For < 0 || req.For > longest:
		return "", Link{}, newRefusal(NotAllowed, "a link works for %d minutes at most", int(longest/time.Minute))
	case s.share != nil && len(m.Links.List(ofShare(s.share.id))) >= maxSessionLinks:
		return "", Link{}, newRefusal(NotAllowed, "there are %d links to this session already; revoke some first",
			maxSessionLinks)
	}
	if s.share == nil {
		if _, err := m.start(ctx, s, c, session, req.By); err != nil {
			return "", Link{}, err
		}
	}
	link = Link{Share: s.share.id, Session: session.ID, Control: req.Control, User: req.User, By: req.By}
	if req.For > 0 {
		link.Until = m.Links.now().Add(req.For)
	}
	token, link = m.Links.Issue(link)
	m.logger().Info("a link to a session was made", "session", session.ID, "link", link.ID, "control", link.Control)
	return token, link, nil
}

// SessionLinks returns the links that were made from by, or to a session about which by has a say; session and link
// leave only those to one session, or one link.
func (m *Manager) SessionLinks(ctx context.Context, by sessions.Origin, session, link string) []Link {
	list := m.Links.List(func(l Link) bool {
		return l.Session != "" && (session == "" || l.Session == session) && (link == "" || l.ID == link)
	})
	return slices.DeleteFunc(list, func(l Link) bool {
		s, err := m.Sessions.Session(ctx, l.Session)
		return !sameUser(l.By, by) && (err != nil || !s.MayUse(by) && !moderates(by, s.Origin))
	})
}

// RevokeLinks makes such links void, and returns how many.
func (m *Manager) RevokeLinks(ctx context.Context, by sessions.Origin, session, link string) int {
	list := m.SessionLinks(ctx, by, session, link)
	return m.Links.Revoke(func(l Link) bool {
		return slices.ContainsFunc(list, func(o Link) bool { return o.ID == l.ID })
	})
}

// checkLinks revokes those links to a session whose makers may not show it any more. With the last one the share ends.
func (m *Manager) checkLinks(sh *share, s sessions.Session) error {
	for _, l := range m.Links.List(ofShare(sh.id)) {
		if err := m.Host.CheckShare(l.By, s); err != nil {
			m.logger().Info("a link was revoked", "link", l.ID, "error", err)
			m.Links.Revoke(func(o Link) bool { return o.ID == l.ID })
		}
	}
	if len(m.Links.List(ofShare(sh.id))) == 0 {
		return errNoLinks
	}
	return nil
}

// linksTarget shows a session to those who have a link to it.
type linksTarget struct{ links *Links }

func (linksTarget) Name() string { return "links" }

func (linksTarget) Begin(context.Context, Presentation) (ViewLocation, error) {
	return ViewLocation{}, nil
}

func (t linksTarget) End(_ context.Context, show Presentation) error {
	t.links.Revoke(ofShare(show.ID))
	return nil
}

// targets returns the ways to show something: of links to a session, these alone.
func (m *Manager) targets(c CallRef) []Target {
	if c.Session != "" {
		return []Target{linksTarget{m.Links}}
	}
	return m.Host.ShareTargets(c)
}

// notify tells the people of a call something. Those who have a link see it on the viewer's page.
func (m *Manager) notify(n Notice) {
	if n.Call.Session == "" {
		m.Host.SendNotice(n)
	}
}
