package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
)

// browsers returns what the API tells of profiles, by name.
func (r *rig) browsers() map[string]api.BrowserView {
	r.t.Helper()
	_, body := r.ask("GET", "/api/browsers", "")
	by := map[string]api.BrowserView{}
	for _, v := range decode[[]api.BrowserView](r.t, body) {
		by[v.Name] = v
	}
	return by
}

// saveSession keeps a session that can be gone on with.
func (r *rig) saveSession(id, profile string, o sessions.Origin) {
	r.t.Helper()
	at := time.Now()
	s := sessions.Session{ID: id, State: sessions.SessionParked, Origin: o, Profile: profile, Created: at, LastUsed: at}
	check.Must(r.t, r.store.SaveTask(r.t.Context(), sessions.TaskRecord{
		Task:  sessions.Task{ID: "t-" + id, SessionID: id, Prompt: "find a lamp", Origin: o, Runtime: "local"},
		State: sessions.TaskDone, Asked: at,
	}, s))
}

// keepData makes a folder as a profile's browser would leave it.
func (r *rig) keepData(profile string) string {
	r.t.Helper()
	dir := filepath.Join(r.dir, "browser", profile, "user-data")
	check.Must(r.t, os.MkdirAll(dir, 0o700))
	check.Must(r.t, os.WriteFile(filepath.Join(dir, "Cookies"), []byte("of "+profile), 0o600))
	return dir
}

func TestProfilesAreCreatedRenamedResetAndDeleted(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // of the trash
	r := start(t)
	do := func(path, body string, want int, words string) {
		t.Helper()
		status, got := r.ask("POST", "/api/browsers"+path, body)
		if status != want || !strings.Contains(got, words) {
			t.Errorf("%s %s: %d %s, want %d with %q", path, body, status, got, want, words)
		}
	}
	do("", `{"name":"work"}`, http.StatusCreated, "work")
	do("", `{"name":"work"}`, http.StatusConflict, "exist")
	do("", `{"name":"../up"}`, http.StatusBadRequest, "invalid profile name")
	r.keepData("work")
	r.keepData("work@server-5")
	do("/work/rename", `{"name":"clank"}`, http.StatusConflict, "exist")
	do("/clank/rename", `{"name":"other"}`, http.StatusBadRequest, "keeps its name")
	do("/gone/rename", `{"name":"other"}`, http.StatusNotFound, "gone")
	do("/work/rename", `{"name":"Other"}`, http.StatusBadRequest, "invalid profile name")
	there := sessions.Origin{Kind: sessions.FromDiscord, Guild: "5", Channel: "c", User: "u"}
	r.saveSession("s1", "work@server-5", there)
	r.mgr.CheckRename = func(context.Context, string) error { return errors.New("2 open sessions use it") }
	do("/work/rename", `{"name":"other"}`, http.StatusConflict, "open sessions use")
	r.mgr.CheckRename = nil
	r.ask("POST", "/api/sessions/s1/close", "{}")
	do("/work/rename", `{"name":"other"}`, http.StatusNoContent, "")
	for _, name := range []string{"other", "other@server-5"} {
		data, err := os.ReadFile(filepath.Join(r.dir, "browser", name, "user-data", "Cookies"))
		if err != nil || !strings.HasPrefix(string(data), "of work") {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	if got := r.browsers(); got["work"].Name != "" || got["other"].State != api.BrowserOff {
		t.Errorf("after the new name: %+v", got)
	}
	do("/other/reset", "{}", http.StatusNoContent, "")
	if _, err := os.Stat(filepath.Join(r.dir, "browser", "other", "user-data")); !os.IsNotExist(err) {
		t.Errorf("the data of other is there after the reset: %v", err)
	}
	do("/other/delete", "{}", http.StatusNoContent, "")
	do("/clank/delete", "{}", http.StatusBadRequest, "cannot delete the default")
	do("/clank/open", `{"url":"javascript:alert(1)"}`, http.StatusBadRequest, "address of a page")
	do("/clank/open", `{"url":"https://x.test/\", click \"Buy\""}`, http.StatusBadRequest, "address of a page")
	if got := r.browsers(); got["other"].Name != "" {
		t.Errorf("other is there after it was deleted: %+v", got["other"])
	}
}

func TestBrowsersAreShownWithTheirOwnersAndTabs(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		servers := []api.DiscordServer{{ID: "5", Name: "Lumen & Co"}}
		s.Discord = onServers{servers: servers}
	})
	for _, place := range []string{"server-5", "server-6", "person-7", "person-7at5"} {
		r.keepData("clank@" + place)
	}
	ada := sessions.Origin{Kind: sessions.FromDiscord, Channel: "d", User: "7", UserName: "Ada"}
	r.saveSession("s2", "clank@person-7", ada)
	private := ada
	private.Private = true
	r.saveSession("s3", "clank", private)
	r.saveSession("s4", "clank", sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel})
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>"+q.URL.Query().Get("title")+"</title>")
	}))
	t.Cleanup(shop.Close)
	for key, title := range map[string]string{"s3": "secret", "s4": "Lamps"} {
		_, _, err := r.mgr.Window(t.Context(), browsermgr.WindowOptions{Key: key, URL: shop.URL + "/?title=" + title})
		check.Must(t, err)
	}
	eventually(t, "the pages have their titles", func() bool {
		return strings.Contains(fmt.Sprint(r.mgr.Tabs("clank")), "Lamps")
	})
	got := r.browsers()
	for name, want := range map[string]string{
		"clank": "You running", "clank@server-5": "Lumen & Co off", "clank@server-6": "Server 6 off",
		"clank@person-7": "Ada suspended", "clank@person-7at5": "Ada · Lumen & Co off",
	} {
		if v := got[name]; v.Owner+" "+v.State != want {
			t.Errorf("%s: %s %s, want %s", name, v.Owner, v.State, want)
		}
	}
	tabs := got["clank"].Tabs
	has := func(title, session string) bool {
		same := func(b api.BrowserTab) bool { return b.Title == title && b.Session == session }
		return slices.ContainsFunc(tabs, same)
	}
	if !has("Lamps", "s4") || !has("A private page", "") || has("secret", "") || got["clank"].MemoryMB == 0 {
		t.Errorf("the browser that runs: %+v", got["clank"])
	}
	_, page := r.ask("GET", "/browsers", "")
	check.Contains(t, page, "Lumen &amp; Co", `<a href="/s/s4">Lamps</a>`, "A private page", "Suspended")
	check.Lacks(t, page, "secret", "/s/s3")
	for act, with := range map[string]string{"reset": "{}", "rename": `{"name":"x"}`} {
		if status, body := r.ask("POST", "/api/browsers/clank/"+act, with); status < 400 {
			t.Errorf("%s of a browser that runs: %d %s", act, status, body)
		}
	}
	if status, body := r.ask("POST", "/api/browsers/clank/stop", "{}"); status != http.StatusNoContent {
		t.Errorf("stop: %d %s", status, body)
	}
	if v := r.browsers()["clank"]; v.State != api.BrowserSuspended || len(v.Tabs) != 0 {
		t.Errorf("after the stop: %+v", v)
	}
	status, page := r.ask("GET", "/browsers/clank/doctor", "")
	check.Equal(t, "doctor", status, http.StatusOK)
	check.Contains(t, page, "Doctor: clank", `class="check `)
}
