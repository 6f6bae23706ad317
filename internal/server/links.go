package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/bot"
	"clank/dashboard/api"
	"clank/sessions"
	"clank/voice/share"
)

// NewLink creates a link to a session, by default the one that by used last.
func (x *CallService) NewLink(ctx context.Context, by sessions.Origin, in api.LinkRequest) (api.LinkView, error) {
	if in.Session == "" || in.Session == "last" {
		s, err := x.lastUsed(ctx, by)
		if err != nil {
			return api.LinkView{}, err
		}
		in.Session = s.ID
	}
	if err := x.checkInvited(in.User); err != nil {
		return api.LinkView{}, err
	}
	token, link, err := x.shares.Invite(ctx, share.InviteRequest{
		Session: in.Session, By: by, Control: in.Control, User: in.User, For: time.Duration(in.Seconds) * time.Second,
	})
	if err != nil {
		return api.LinkView{}, err
	}
	view := x.linkView(ctx, link)
	view.URL = x.viewerLink(token)
	return view, nil
}

// checkInvited returns an error if links cannot be restricted to a Discord account.
func (x *CallService) checkInvited(user string) error {
	if user == "" {
		return nil
	}
	if id, _ := x.discordApplication(); id == "" {
		return errNoSignIn
	}
	if n, err := strconv.ParseUint(user, 10, 64); err != nil || n == 0 {
		return errNoAccount
	}
	return nil
}

var (
	errNoSignIn = errors.New("people cannot sign in with Discord here, as DISCORD_CLIENT_SECRET is not " +
		"set or clank is not connected; make a link for whoever opens it first")
	errNoAccount = errors.New("a Discord account is named by its id, a number: in Discord's advanced settings " +
		"switch on Developer Mode, then right-click the person and choose Copy User ID")
)

// SignInURL implements [share.SignIn].
func (x *CallService) SignInURL() string {
	state, _ := x.signIn.Begin()
	return x.signIn.URL(state, x.signedInURL())
}

// SignIn implements [share.SignIn].
func (x *CallService) SignIn(ctx context.Context, token, browser, state, code string) error {
	who, err := x.signIn.Finish(ctx, state, code, x.signedInURL())
	if err == nil {
		_, err = x.shareLinks.Admit(token, browser, who.ID, who.Name)
	}
	return err
}

// signedInURL is the redirect URI of the application, to which Discord returns people.
func (x *CallService) signedInURL() string {
	return strings.TrimSuffix(x.viewerBase(), "/") + "/signed-in"
}

// lastUsed returns the session that someone used last: in their channel or, for the operator, anywhere on this
// machine. Sessions with an open page are preferred.
func (x *CallService) lastUsed(ctx context.Context, by sessions.Origin) (sessions.Session, error) {
	q := sessions.SessionQuery{
		Limit:  maxSearchedSessions,
		States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
	}
	if by.Kind == sessions.FromDiscord {
		q.Of = &by
	}
	list, err := x.Sessions.Sessions(ctx, q)
	if err != nil {
		return sessions.Session{}, fmt.Errorf("find the last session: %w", err)
	}
	list = slices.DeleteFunc(list, func(s sessions.Session) bool {
		// A public request never selects a private session.
		return !s.MayUse(by) || s.Origin.Private && !by.Private
	})
	for _, s := range list {
		if _, open := x.Browsers.Lookup(s.ID); open {
			return s, nil
		}
	}
	if len(list) == 0 {
		return sessions.Session{}, errNoSessionYet
	}
	return list[0], nil
}

const maxSearchedSessions = 400

var errNoSessionYet = errors.New("there is no browser session of yours here yet: ask for something first, " +
	"or begin one with /clank browse")

// Links returns the links that by may control, to one session or to all.
func (x *CallService) Links(ctx context.Context, by sessions.Origin, session string) []api.LinkView {
	views := []api.LinkView{}
	for _, l := range x.shares.SessionLinks(ctx, by, session, "") {
		views = append(views, x.linkView(ctx, l))
	}
	return views
}

// RevokeLinks revokes such links, or one of them, and returns their number.
func (x *CallService) RevokeLinks(ctx context.Context, by sessions.Origin, session, link string) int {
	return x.shares.RevokeLinks(ctx, by, session, link)
}

func (x *CallService) linkView(ctx context.Context, l share.Link) api.LinkView {
	v := api.LinkView{
		ID: l.ID, Session: l.Session, Control: l.Control, User: l.User, Name: l.Name,
		By: cmp.Or(l.By.UserName, "the operator"), Until: l.Until, Opened: l.Opened, Viewers: []api.LinkViewer{},
	}
	if s, err := x.Sessions.Session(ctx, l.Session); err == nil && !s.Origin.Private {
		v.Title = s.Title
	}
	for _, w := range x.viewerPage.Viewers(l.ID) {
		v.Viewers = append(v.Viewers, api.LinkViewer(w))
	}
	return v
}

// Link implements bot.Links.
func (x *CallService) Link(ctx context.Context, o sessions.Origin, in bot.LinkRequest) (string, error) {
	v, err := x.NewLink(ctx, o, api.LinkRequest{
		Session: in.Session, Control: in.Control, User: in.User, Seconds: in.Minutes * 60,
	})
	if err != nil {
		return "", err
	}
	right := o.Locale.T("watch the page")
	if v.Control {
		right = o.Locale.T("watch the page, and work it")
	}
	until := fmt.Sprintf("<t:%d:t>", v.Until.Unix())
	text := o.Locale.T("Whoever opens this link first can %s, until %s: open it yourself, or give it to one person. "+
		"`/clank unlink` makes it void.", right, until)
	if v.User != "" {
		text = o.Locale.T("With this link <@%s> can %s, once they have signed in with Discord, until %s. "+
			"`/clank unlink` makes it void.", v.User, right, until)
	}
	return text + "\n" + v.URL, nil
}

// Unlink implements bot.Links.
func (x *CallService) Unlink(ctx context.Context, o sessions.Origin, session string) (string, error) {
	switch n := x.RevokeLinks(ctx, o, session, ""); n {
	case 0:
		return "", errors.New("there is no link of yours that still works")
	case 1:
		return o.Locale.T("The link does not work any more."), nil
	default:
		return o.Locale.T("%d links do not work any more.", n), nil
	}
}

// CheckSharing tests whether people elsewhere can reach the viewer's page: it requests the page at its public
// address, and asks the TURN servers for a relay address.
func (x *CallService) CheckSharing(ctx context.Context) []api.SharingCheck {
	s := x.Settings.Current().Share
	viewer := viewerCapability(s)
	if s.PublicURL != "" {
		if err := askViewerPage(ctx, s.PublicURL); err != nil {
			viewer.Ready = false
			viewer.Detail = fmt.Sprintf("%s does not lead to the viewer's page: %v", s.PublicURL, err)
		}
	}
	relay := relayCapability(s, x.hasSecret)
	if relay.Ready {
		if err := x.webrtcEngine.CheckRelays(ctx); err != nil {
			relay.Ready, relay.Detail = false, fmt.Sprintf("%s: %v", s.TURN, err)
		}
	}
	var list []api.SharingCheck
	for _, c := range []Capability{viewer, relay, udpPortCapability(ctx, s, false)} {
		list = append(list, api.SharingCheck{Name: c.Name, Ready: c.Ready, Detail: c.Detail})
	}
	return list
}

// askViewerPage requests a link that does not exist: the refusal identifies the viewer's page.
func askViewerPage(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, viewerCheckTimeout, errors.New("it does not answer"))
	defer cancel()
	at := strings.TrimSuffix(base, "/") + "/check"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct{ Error string }
	err = json.NewDecoder(http.MaxBytesReader(nil, res.Body, 4<<10)).Decode(&answer)
	if err != nil || res.StatusCode != http.StatusNotFound || answer.Error != share.IncompleteLink {
		return fmt.Errorf("status %d comes from elsewhere; forward everything below it to clank serve --watch-addr",
			res.StatusCode)
	}
	return nil
}

// viewerCheckTimeout bounds the test of the public address.
const viewerCheckTimeout = 10 * time.Second
