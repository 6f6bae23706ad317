package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
)

// linkBook is links to sessions that the operator made, by nobody else.
type linkBook struct {
	mu   sync.Mutex
	list []api.LinkView
}

func (b *linkBook) NewLink(_ context.Context, by sessions.Origin, in api.LinkRequest) (api.LinkView, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case by.User != "" || !by.Moderator || by.Kind != sessions.FromDashboard:
		return api.LinkView{}, errors.New("that was not the operator")
	case in.Session == "":
		return api.LinkView{}, errors.New("there is no open session")
	}
	v := api.LinkView{
		ID: "l1", Session: in.Session, Control: in.Control, By: "the operator",
		Until:   time.Now().Add(time.Duration(in.Seconds) * time.Second),
		Viewers: []api.LinkViewer{{From: "198.51.100.7"}, {From: "203.0.113.5"}, {From: "198.51.100.7"}},
	}
	b.list = append(b.list, v)
	v.URL = "https://view.example/#secret"
	return v, nil
}

func (b *linkBook) Links(_ context.Context, _ sessions.Origin, session string) []api.LinkView {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.list), func(v api.LinkView) bool {
		return session != "" && v.Session != session
	})
}

func (b *linkBook) RevokeLinks(_ context.Context, _ sessions.Origin, session, link string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.list)
	b.list = slices.DeleteFunc(b.list, func(v api.LinkView) bool {
		return (session == "" || v.Session == session) && (link == "" || v.ID == link)
	})
	return before - len(b.list)
}

func (*linkBook) CheckSharing(context.Context) []api.SharingCheck {
	return []api.SharingCheck{{Name: "shares: viewer", Detail: "links work on this machine only"}}
}

func TestLinksAreMadeShownAndRevokedOnThePage(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Links = new(linkBook) })
	c := launch(t)
	tb := r.arrive(c, 1280, 860, "light")
	tb.say("brief: one")
	tb.waitFor(status + ` === "Done"`)
	session := tb.Eval(`location.pathname.slice(3)`).(string)
	tb.click("#share")
	tb.waitFor(`document.getElementById("links").open`)
	tb.waitFor(`document.querySelector("#link-form [name=session]").value === "` + session + `"`)
	tb.click("#link-form [name=control]")
	tb.click("#link-form [type=submit]")
	tb.waitFor(`document.querySelector("#link-text input")?.value === "https://view.example/#secret"`)
	tb.waitFor(`/to use · made by the operator .* watched from 198.51.100.7 \(2 windows\), 203.0.113.5/
		.test(document.getElementById("link-list").textContent)`)
	list, err := r.client().Links(t.Context(), session)
	if err != nil || len(list) != 1 || !list[0].Control || list[0].URL != "" {
		t.Errorf("got %+v, error %v", list, err)
	}
	tb.click("#link-list button")
	tb.waitFor(`document.querySelectorAll("#link-list li").length === 0`)
	if status, body := r.ask("POST", "/api/links", `{}`); status != http.StatusUnprocessableEntity {
		t.Errorf("without a session: %d %s", status, body)
	}
	tb.Eval(`document.querySelector("#links [data-close]").click()`)
	tb.goTo(r.server.URL() + "/settings")
	tb.click("#check-links")
	tb.waitFor(`document.getElementById("check-result").textContent.includes("links work on this machine only")`)
	check.Must(t, check.Err(r.client().RevokeLinks(t.Context(), "")))
	c.clean()
}
