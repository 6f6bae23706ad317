package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/dashboard/api"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/llm/plain"
	"clank/sessions"
)

// postLink sends a link's secret to the viewer's page, as another browser.
func postLink(t *testing.T, base, link string) int {
	t.Helper()
	at, err := url.Parse(link)
	check.Must(t, err)
	body := strings.NewReader(fmt.Sprintf(`{"token":%q,"browser":"the secret of another browser"}`, at.Fragment))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"check", body)
	check.Must(t, err)
	res, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer res.Body.Close()
	return res.StatusCode
}

// sessionIsWatchedByLink goes from a task to a link, to a viewer, and to the end of the link.
func sessionIsWatchedByLink(t *testing.T, r *serverFixture) {
	t.Helper()
	ctx := testDeadline(t)
	client := &api.Client{
		Base: r.openDashboard(t).URL(), Token: r.server.LocalSecret,
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	colours := newColourSite(t)
	done, err := r.server.Sessions.Run(ctx, sessions.Task{
		Prompt: "open " + colours.URL, Model: plain.ModelName,
		Origin: sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel},
	}, nil)
	check.Must(t, err)
	link, err := client.NewLink(ctx, api.LinkRequest{Seconds: 600}) // of the session that was used last
	check.Must(t, err)
	if link.Session != done.SessionID || link.Control || link.URL == "" {
		t.Fatalf("got %+v", link)
	}
	tab := browsertest.Tab(t, browsertest.Connect(t, browsertest.Launch(t), page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, link.URL)
	colours.awaitOn(t, tab, viewerProbe())
	list, err := client.Links(ctx, "")
	if err != nil || len(list) != 1 || list[0].Opened.IsZero() || len(list[0].Viewers) != 1 || list[0].URL != "" {
		t.Errorf("got %+v, error %v, want one viewer", list, err)
	}
	check.Equal(t, "another browser gets", postLink(t, r.server.CallService.ViewerURL(), link.URL), http.StatusNotFound)
	if n, err := client.RevokeLinks(ctx, link.Session); n != 1 || err != nil {
		t.Errorf("%d were revoked, error %v", n, err)
	}
	awaitPageState(t, tab, "ended")

	viewer := r.server.CallService.ViewerURL()
	for _, tc := range []struct{ args, want string }{
		{"share", viewer + "#"},
		{"share " + link.Session + " --for 15m --control", viewer + "#"},
		{"share --list", "control"},
		{"share --for 25h", "120 minutes at most"},
		{"share --for -1m", "--for takes a duration such as 15m or 2h, not -1m0s"},
		{"share nosuchsession", "there is no browser session"},
		{"share nosuchsession --revoke", `no link shows a session "nosuchsession"`},
		{"share --revoke", "revoked 2 links"},
		{"share --check", "links work on this machine only"},
		{"config set interaction.share.publicUrl " + viewer, "saved"},
		{"share --check", "✓  shares: viewer"},
		{"config set interaction.share.publicUrl " + r.site.URL, "saved"},
		{"doctor", "does not lead to the viewer's page"},
		{"config unset interaction.share.publicUrl", "saved"},
	} {
		got := runCommand(t.Context(), r.env, strings.Fields(tc.args)...)
		if said := got.stdout + got.stderr; !strings.Contains(said, tc.want) {
			t.Errorf("clank %s says %s, want %q", tc.args, said, tc.want)
		}
	}
	if checks, err := client.CheckSharing(ctx); err != nil || len(checks) != 3 || checks[0].Ready {
		t.Errorf("got %+v, error %v, want no public address", checks, err)
	}
}

func TestAnAddressThatWatchesMoreThanOnceIsListedOnce(t *testing.T) {
	views := []api.LinkViewer{{From: "10.0.0.7"}, {From: "10.0.0.5"}, {From: "10.0.0.7"}}
	check.Equal(t, "watching from", watchingFrom(views), "10.0.0.5, 10.0.0.7 (2)")
}
