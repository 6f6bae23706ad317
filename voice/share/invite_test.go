package share_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/sessions"
	"clank/voice/share"
)

const (
	adasBrowser = "the secret of ada's browser"
	bobsBrowser = "the secret of bob's browser"
)

func (h *hall) invite(
	t *testing.T, id string, by sessions.Origin, change ...func(*share.InviteRequest),
) (string, share.Link) {
	t.Helper()
	req := share.InviteRequest{Session: id, By: by}
	for _, c := range change {
		c(&req)
	}
	token, link, err := h.Invite(t.Context(), req)
	check.Must(t, err)
	return token, link
}

func TestWhoMayInviteToASession(t *testing.T) {
	for _, tc := range []struct {
		name, id string
		by       sessions.Origin
		control  bool
		lasts    time.Duration
		want     share.RefusalCode
	}{
		{name: "its owner, to watch", id: "s1", by: ada},
		{name: "its owner, to work it", id: "s1", by: ada, control: true},
		{name: "a moderator, to watch", id: "s1", by: mod},
		{name: "a moderator, to work it", id: "s1", by: mod, control: true, want: share.NotOwner},
		{name: "the operator, to work it", id: "s1", by: home, control: true},
		{name: "somebody else", id: "s1", by: bob, want: share.NotOwner},
		{name: "a moderator of another channel", id: "s1", by: memes, want: share.NotOwner},
		{name: "the owner of a private one", id: "secret", by: ada, control: true},
		{name: "the owner in a private chat", id: "chat", by: on("", false)},
		{name: "a moderator to a private one", id: "secret", by: mod, want: share.NotOwner},
		{name: "the operator to a private one", id: "secret", by: home, want: share.NotOwner},
		{name: "the operator to a private chat", id: "chat", by: home, want: share.NotOwner},
		{name: "to a closed one", id: "closed", by: ada, want: share.NotFound},
		{name: "to an unknown one", id: "s9", by: ada, want: share.NotFound},
		{name: "to one without a page", id: "bobs", by: bob, want: share.NoSource},
		{name: "for longer than links work", id: "s1", by: ada, lasts: 3 * time.Hour, want: share.NotAllowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHall(t)
			req := share.InviteRequest{Session: tc.id, By: tc.by, Control: tc.control, For: tc.lasts}
			token, link, err := h.Invite(t.Context(), req)
			no, refused := errors.AsType[*share.Refusal](err)
			if refused != (tc.want != "") || refused && no.Code != tc.want || !refused && err != nil {
				t.Fatalf("got %+v, error %v, want %q", link, err, tc.want)
			}
			if got := len(h.book.shared) > 0; got != (tc.want == "") {
				t.Errorf("the session was shared: %v", h.book.shared)
			}
			got, err := h.Links.Check(token, adasBrowser)
			if !refused && (err != nil || got.Control != tc.control || got.Session != tc.id) {
				t.Errorf("got %+v, error %v", got, err)
			}
			if len(h.news()) > 0 {
				t.Errorf("a call was told %+v", h.news())
			}
		})
	}
}

func TestLinksAreRefusedToAllButTheOneTheyAreFor(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, h *hall, token string, l share.Link) (tried, browser string)
		want error
	}{
		{"the same browser again", func(_ *testing.T, _ *hall, token string, _ share.Link) (string, string) {
			return token, adasBrowser
		}, nil},
		{"another browser", func(_ *testing.T, _ *hall, token string, _ share.Link) (string, string) {
			return token, bobsBrowser
		}, share.ErrLinkTaken},
		{"a browser without a secret", func(_ *testing.T, _ *hall, token string, _ share.Link) (string, string) {
			return token, ""
		}, share.ErrLinkTaken},
		{"expired", func(_ *testing.T, _ *hall, token string, _ share.Link) (string, string) {
			pass(time.Hour)
			return token, adasBrowser
		}, share.ErrLinkExpired},
		{"revoked by its maker", func(t *testing.T, h *hall, token string, l share.Link) (string, string) {
			t.Helper()
			check.Equal(t, "were revoked", h.RevokeLinks(t.Context(), ada, "", l.ID), 1)
			return token, adasBrowser
		}, share.ErrLinkRevoked},
		{"revoked by a moderator", func(t *testing.T, h *hall, token string, _ share.Link) (string, string) {
			t.Helper()
			h.invite(t, "s1", ada)
			check.Equal(t, "were revoked", h.RevokeLinks(t.Context(), mod, "s1", ""), 2)
			return token, adasBrowser
		}, share.ErrLinkRevoked},
		{"not revoked by a stranger", func(t *testing.T, h *hall, token string, _ share.Link) (string, string) {
			t.Helper()
			n, seen := h.RevokeLinks(t.Context(), bob, "s1", ""), h.SessionLinks(t.Context(), bob, "", "")
			if n != 0 || len(seen) != 0 {
				t.Errorf("%d were revoked, %d seen", n, len(seen))
			}
			return token, adasBrowser
		}, nil},
		{"the session was closed", func(_ *testing.T, h *hall, token string, _ share.Link) (string, string) {
			h.book.set(sessions.Session{ID: "s1", Origin: ada, State: sessions.SessionClosed})
			pass(3 * time.Second)
			return token, adasBrowser
		}, share.ErrLinkRevoked},
		{"its maker was shut out", func(_ *testing.T, h *hall, token string, _ share.Link) (string, string) {
			h.forbid(errors.New("they may not use clank here"))
			pass(3 * time.Second)
			return token, adasBrowser
		}, share.ErrLinkRevoked},
		{"turned into another session's", func(t *testing.T, h *hall, token string, _ share.Link) (string, string) {
			t.Helper()
			other, _ := h.invite(t, "s2", ada)
			a, _ := base64.RawURLEncoding.DecodeString(token)
			b, _ := base64.RawURLEncoding.DecodeString(other)
			return base64.RawURLEncoding.EncodeToString(append(b[:len(b)-16], a[len(a)-16:]...)), adasBrowser
		}, share.ErrLinkInvalid},
		{"turned into one to work the page", func(_ *testing.T, _ *hall, token string, _ share.Link) (string, string) {
			raw, _ := base64.RawURLEncoding.DecodeString(token)
			raw[8] = 'c'
			return base64.RawURLEncoding.EncodeToString(raw), adasBrowser
		}, share.ErrLinkInvalid},
		{"10,000 guesses", func(t *testing.T, h *hall, token string, _ share.Link) (string, string) {
			t.Helper()
			raw, _ := base64.RawURLEncoding.DecodeString(token)
			guess := ""
			for range 10_000 {
				_, _ = rand.Read(raw[len(raw)-16:])
				guess = base64.RawURLEncoding.EncodeToString(raw)
				if _, err := h.Links.Check(guess, adasBrowser); !errors.Is(err, share.ErrLinkInvalid) {
					t.Fatalf("%s: %v", guess, err)
				}
			}
			return guess, adasBrowser
		}, share.ErrLinkInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHall(t)
				token, link := h.invite(t, "s1", ada, func(r *share.InviteRequest) { r.For = time.Hour })
				_, err := h.Links.Check(token, adasBrowser)
				check.Must(t, err)
				tried, browser := tc.do(t, h, token, link)
				if err := check.Err(h.Links.Check(tried, browser)); !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
				select {
				case <-link.Done:
				default:
					if errors.Is(tc.want, share.ErrLinkRevoked) {
						t.Error("whoever watches goes on to")
					}
				}
				check.Must(t, h.Close(context.Background()))
			})
		})
	}
}

func TestALinkForAnAccountIsForWhoeverSignsInWithIt(t *testing.T) {
	h := newHall(t)
	token, link := h.invite(t, "s1", ada, func(r *share.InviteRequest) { r.User = bob.User })
	for _, tc := range []struct {
		name, browser, user string
		want                error
	}{
		{"nobody has signed in", bobsBrowser, "", share.ErrLinkSignIn},
		{"its maker", adasBrowser, ada.User, share.ErrLinkOthers},
		{"whom it is for", bobsBrowser, bob.User, nil},
		{"the same browser, later", bobsBrowser, "", nil},
		{"another of theirs", "the secret of bob's phone", bob.User, nil},
		{"the first, still", bobsBrowser, "", nil},
		{"another person's, later", adasBrowser, "", share.ErrLinkSignIn},
		{"a browser without a secret", "", bob.User, share.ErrLinkTaken},
	} {
		got, err := h.Links.Admit(token, tc.browser, tc.user, tc.user)
		if !errors.Is(err, tc.want) || err == nil && (got.ID != link.ID || got.Name != bob.User || got.Opened.IsZero()) {
			t.Errorf("%s: got %+v, error %v, want %v", tc.name, got, err, tc.want)
		}
	}
	for i := range 8 { // the first makes room
		check.Must(t, check.Err(h.Links.Admit(token, fmt.Sprint("the secret of bob's browser ", i), bob.User, "bob")))
	}
	check.Fails(t, check.Err(h.Links.Check(token, bobsBrowser)), share.ErrLinkSignIn)
	token, _ = h.invite(t, "s1", ada)
	check.Must(t, check.Err(h.Links.Admit(token, adasBrowser, ada.User, "")))
	check.Fails(t, check.Err(h.Links.Admit(token, bobsBrowser, ada.User, "")), share.ErrLinkTaken)
}

// signInDesk signs in whoever shows the code of this run.
type signInDesk struct{ links *links }

func (signInDesk) SignInURL() string { return "https://discord.test/authorize?state=s" }

func (d signInDesk) SignIn(_ context.Context, token, _, state, code string) error {
	if state != "s" || code != "c" {
		return share.ErrLinkOthers
	}
	d.links.mu.Lock()
	defer d.links.mu.Unlock()
	delete(d.links.unsigned, token)
	return nil
}

func TestThePageHasPeopleSignInForALink(t *testing.T) {
	r := start(t, nil)
	l := r.Links.(*links)
	l.unsigned = map[string]bool{token: true}
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusNotFound) // there is nowhere to sign in
	r.SignIn = signInDesk{l}
	status, answer := r.post(t, "/check", share.WatchRequest{Token: token})
	if status != http.StatusUnauthorized || answer["sign_in"] != "https://discord.test/authorize?state=s" {
		t.Errorf("got %d %v", status, answer)
	}
	r.wantStatus(t, "/watch", share.WatchRequest{Token: token}, http.StatusUnauthorized)
	r.wantStatus(t, "/signin", share.WatchRequest{Token: "wrong", State: "s", Code: "c"}, http.StatusNotFound)
	r.wantStatus(t, "/signin", share.WatchRequest{Token: token, State: "s", Code: "d"}, http.StatusForbidden)
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusUnauthorized)
	for range 2 {
		r.wantStatus(t, "/signin", share.WatchRequest{Token: token, State: "s", Code: "c"}, http.StatusOK)
	}
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusOK)
}

func TestASessionIsKeptOpenUntilItsLastLinkIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		_, first := h.invite(t, "s1", ada, func(r *share.InviteRequest) { r.For = time.Minute })
		h.invite(t, "s1", mod, func(r *share.InviteRequest) { r.For = time.Hour })
		pass(2 * time.Minute)
		if _, ok := h.Watch(first.Share); !ok || len(h.SessionLinks(t.Context(), home, "", "")) != 1 {
			t.Error("the share ended with the first link")
		}
		pass(time.Hour)
		if _, ok := h.Watch(first.Share); ok || strings.Join(h.book.shared, ",") != "s1 true,s1 false" {
			t.Errorf("got %v, want the session to be let go", h.book.shared)
		}
		h.invite(t, "s1", ada)
		check.Must(t, h.Close(context.Background()))
	})
}

func TestWhoTriesManyLinksIsNotListenedTo(t *testing.T) {
	r := start(t, nil)
	r.Links = &guessed{LinkChecker: r.Links}
	status := 0
	for range 50 {
		status, _ = r.post(t, "/check", share.WatchRequest{Token: "wrong"})
	}
	check.Equal(t, "the last answer was", status, http.StatusTooManyRequests)
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusTooManyRequests)
	conn := r.dial(t, token, "198.51.100.7") // from elsewhere it works
	check.Must(t, check.Err(receive(t, conn)))
}

// guessed knows no link but those of another checker.
type guessed struct{ share.LinkChecker }

func (g *guessed) CheckLink(token, browser string) (share.ViewerShare, error) {
	s, err := g.LinkChecker.CheckLink(token, browser)
	if err != nil {
		err = share.ErrLinkInvalid
	}
	return s, err
}
