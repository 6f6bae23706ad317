package share

import (
	"context"
	"errors"
	"slices"
	"time"

	"clank/sessions"
)

// maxSessionLinks is how many links to one session may be valid at once.
const maxSessionLinks = 20

var errNoLinks = errors.New("its links have expired or were revoked")

// InviteRequest asks for a link to the page of a session.
type InviteRequest struct {
	Session string
	By      sessions.Origin
	Control bool          // to work the page, too
	User    string        // the Discord account that it is for; "": whoever opens it first
	For     time.Duration // 0: as long as links last
}

// Invite creates a link to the page of a session, without a call. People who may share the session may invite others to
// watch; people who may control the page may invite others to control it. Only the owner of a private session may
// create and see its links. The session is kept open until its last link expires. An error is a [*Refusal], unless
// something failed on our side.
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
		link.Until = time.Now().Add(req.For)
	}
	token, link = m.Links.Issue(link)
	m.logger().Info("a link to a session was made", "session", session.ID, "link", link.ID, "control", link.Control)
	return token, link, nil
}

// SessionLinks returns the links that by created, or that lead to a session which by may manage. session and link, if
// not empty, select the links of one session, or one link.
func (m *Manager) SessionLinks(ctx context.Context, by sessions.Origin, session, link string) []Link {
	list := m.Links.List(func(l Link) bool {
		return l.Session != "" && (session == "" || l.Session == session) && (link == "" || l.ID == link)
	})
	return slices.DeleteFunc(list, func(l Link) bool {
		s, err := m.Sessions.Session(ctx, l.Session)
		return !sameUser(l.By, by) && (err != nil || !s.MayUse(by) && !moderates(by, s.Origin))
	})
}

// RevokeLinks revokes the links that [Manager.SessionLinks] returns, and returns their number.
func (m *Manager) RevokeLinks(ctx context.Context, by sessions.Origin, session, link string) int {
	list := m.SessionLinks(ctx, by, session, link)
	return m.Links.Revoke(func(l Link) bool {
		return slices.ContainsFunc(list, func(o Link) bool { return o.ID == l.ID })
	})
}

// checkLinks revokes the links to a session whose creators may no longer share it. The share ends with its last link.
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

// linksTarget shows a session to people who have a link to it.
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

// notify sends a notice to the people of a call. People with a link see it on the viewer's page.
func (m *Manager) notify(n Notice) {
	if n.Call.Session == "" {
		m.Host.SendNotice(n)
	}
}
