package dashboard_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/cancel"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/access"
	"clank/sessions/approval"
)

// discordPeople are Discord accounts with their roles in clank.
type discordPeople struct {
	site string // in place of Discord's

	mu     sync.Mutex
	people map[string]dashboard.Person
}

func (d *discordPeople) set(id string, p dashboard.Person) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.people[id] = p
}

// SignInURL implements [dashboard.Accounts].
func (d *discordPeople) SignInURL(redirect string) string {
	return cmp.Or(d.site, "https://discord.test") + "/oauth2/authorize?state=fresh&redirect_uri=" + redirect
}

// SignIn implements [dashboard.Accounts]. A code is the id of the account.
func (d *discordPeople) SignIn(_ context.Context, state, code, redirect string) (id, name string, err error) {
	if state != "fresh" || !strings.HasSuffix(redirect, "/login") {
		return "", "", errors.New("this sign-in was not begun here")
	}
	return code, "name of " + code, nil
}

// Person implements [dashboard.Accounts].
func (d *discordPeople) Person(_ context.Context, id string) dashboard.Person {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.people[id]
}

// Origin implements [dashboard.Accounts].
func (d *discordPeople) Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error) {
	for _, m := range d.Person(ctx, o.User).Servers {
		if role := m.Channels[o.Channel]; m.Guild == o.Guild && role >= dashboard.RoleMember {
			o.Moderator = role >= dashboard.RoleModerator
			return o, nil
		}
	}
	return o, errors.New("you may not ask for anything there")
}

// on returns a person who sees the channel c1, or another one, of a server.
func on(guild, channel string, role dashboard.Role) dashboard.Person {
	return dashboard.Person{Servers: []dashboard.Membership{
		{Guild: guild, Channels: map[string]dashboard.Role{channel: role}},
	}}
}

// startPeople starts a dashboard with people of every role; key returns the header of a signed-in person.
func startPeople(t *testing.T,
	edits ...func(*dashboard.Server),
) (r *rig, d *discordPeople, key func(id string) change) {
	t.Helper()
	moderator := on("g1", "c1", dashboard.RoleModerator)
	moderator.Servers[0].Manages = true
	d = &discordPeople{people: map[string]dashboard.Person{
		"viewer": on("g1", "c1", dashboard.RoleViewer), "member": on("g1", "c1", dashboard.RoleMember),
		"owner": on("g1", "c1", dashboard.RoleMember), "moderator": moderator,
		"other": on("g2", "c9", dashboard.RoleModerator), "boss": {Operator: true},
	}}
	r = startIn(t, t.TempDir(), "127.0.0.1:0", append([]func(*dashboard.Server){func(s *dashboard.Server) {
		s.Accounts = d
		s.Discord = onServers{servers: []api.DiscordServer{{ID: "g1", Name: "One"}, {ID: "g2", Name: "Two"}}}
	}}, edits...)...)
	return r, d, func(id string) change {
		if id == "" {
			return header("Authorization", "")
		}
		secret, err := r.tokens.SignIn(access.Token{User: id, Name: id}, time.Hour)
		check.Must(t, err)
		return header("Authorization", "Bearer "+secret)
	}
}

// from is the origin of public requests of the person "owner".
var from = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g1", Channel: "c1", User: "owner", UserName: "owner"}

var somebody = cancel.Actor{Name: "somebody", Moderator: true}

// hold starts a task that runs until it is stopped.
func (r *rig) hold(o sessions.Origin) (task, session string) {
	r.t.Helper()
	begun, ended := make(chan sessions.TaskRecord, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.manager.Run(r.t.Context(), sessions.Task{Prompt: "hold", Origin: o}, func(ev sessions.Event) {
			if ev.Step != nil && ev.Step.Kind == sessions.StepAct {
				select {
				case begun <- ev.Record:
				default:
				}
			}
		})
	}()
	r.t.Cleanup(func() { <-ended })
	rec := <-begun
	return rec.ID, rec.SessionID
}

// TestEveryRouteIsForItsRoles requests every route with every role. want contains the responses of routes for others
// than the operator about tasks of "owner": to viewer, member, owner, moderator, and a person of another server.
func TestEveryRouteIsForItsRoles(t *testing.T) {
	r, _, key := startPeople(t, func(s *dashboard.Server) {
		s.Live = paneFunc(func(w http.ResponseWriter, _ *http.Request, _ sessions.Viewer) {
			w.WriteHeader(http.StatusTeapot)
		})
	})
	people := []string{"viewer", "member", "owner", "moderator", "other"}
	want := map[string][5]int{
		"GET /{$}": {303, 200, 200, 200, 200}, "GET /s/{id}": {403, 200, 200, 200, 404},
		"POST /api/tasks": {403, 202, 202, 202, 403}, "POST /api/talk": {403, 409, 409, 409, 409},
		"GET /activity":              {200, 200, 200, 200, 200},
		"GET /settings/servers/{id}": {404, 404, 404, 200, 404}, "GET /api/servers/{id}/settings": {404, 404, 404, 200, 404},
		"PUT /api/servers/{id}/settings": {404, 404, 404, 409, 404},
		"GET /tasks/{id}":                {200, 200, 200, 200, 404}, "GET /api/tasks/{id}/export/{kind}": {
			403, 200, 200, 200,
			404,
		},
		"GET /api/tasks": {200, 200, 200, 200, 200}, "GET /api/tasks/{id}": {200, 200, 200, 200, 404},
		"GET /api/tasks/{id}/events": {200, 200, 200, 200, 404}, "GET /api/tasks/{id}/images/{i}": {404, 404, 404, 404, 404},
		"GET /api/tasks/{id}/film": {404, 404, 404, 404, 404}, "GET /api/tasks/{id}/film/clip": {404, 404, 404, 404, 404},
		"GET /api/tasks/{id}/film/chapters":    {200, 200, 200, 200, 404},
		"GET /api/steps/{task}/{n}/view":       {200, 200, 200, 200, 404},
		"GET /api/tasks/{id}/downloads/{file}": {403, 404, 404, 404, 404},
		"POST /api/tasks/{id}/stop":            {403, 403, 200, 200, 404},
		"POST /api/tasks/{id}/say":             {403, 403, 202, 202, 404},
		"POST /api/sessions/{id}/say":          {403, 403, 202, 202, 404},
		"POST /api/sessions/{id}/close":        {403, 403, 204, 204, 404},
		"GET /api/events":                      {200, 200, 200, 200, 200}, "GET /api/questions": {200, 200, 200, 200, 200},
		"POST /api/questions/{id}": {403, 403, 200, 200, 409},
		"GET /api/sessions":        {200, 200, 200, 200, 200}, "GET /api/sessions/{id}/live": {418, 418, 418, 418, 404},
		"GET /watches": {403, 200, 200, 200, 200}, "GET /api/watches": {403, 200, 200, 200, 200},
		"POST /api/watches/{id}/end": {403, 403, 200, 200, 404},
		"GET /api/sign-ins":          {200, 200, 200, 200, 200}, "POST /api/sign-ins/end": {404, 404, 404, 404, 404},
		"POST /api/logout": {204, 204, 204, 204, 204}, "GET /budget": {403, 200, 200, 200, 200},
		"GET /api/costs": {403, 200, 200, 200, 200}, "GET /api/costs.csv": {403, 200, 200, 200, 200},
	}
	bodies := map[string]string{
		"POST /api/tasks/{id}/say": `{"text":"go on"}`, "POST /api/sessions/{id}/say": `{"text":"go on"}`,
		"POST /api/tasks":          `{"prompt":"brief","place":"g1/c1"}`,
		"POST /api/questions/{id}": `{"allow":true}`, "POST /api/sign-ins/end": `{"id":"x"}`,
	}
	page := r.read("/api/events", "") // somebody who can be asked
	page.want("snapshot")
	go func() {
		for _, more := page.next(); more; _, more = page.next() {
		}
	}()
	for n, route := range r.server.Routes() {
		method, path, _ := strings.Cut(route.Pattern, " ")
		ask := func(who string) int {
			t.Helper()
			body, id := bodies[route.Pattern], "x"
			switch {
			case strings.HasPrefix(path, "/api/steps/"):
				t, err := r.manager.Run(r.t.Context(), sessions.Task{Prompt: "lamps", Origin: from}, nil)
				check.Must(r.t, err)
				id = t.ID
			case strings.HasPrefix(path, "/api/tasks/"), strings.HasPrefix(path, "/tasks/"):
				id, _ = r.hold(from)
				defer r.scopes.StopWork(id, somebody, true)
			case strings.HasPrefix(path, "/api/sessions/"), strings.HasPrefix(path, "/s/"):
				var task string
				task, id = r.hold(from)
				defer r.scopes.StopWork(task, somebody, true)
			case strings.Contains(path, "/servers/"):
				id = "g1"
			case strings.HasPrefix(path, "/api/watches/"):
				id = fmt.Sprintf("w%d-%s", n, who)
				check.Must(t, r.store.AddWatch(t.Context(), watches.Watch{ID: id, State: watches.StateActive, Origin: from}, 99,
					99))
			case strings.HasPrefix(path, "/api/questions/"):
				q := approval.Question{
					Class: approval.ClassSend, Source: "discord", Guild: "g1", Channel: "c1", User: "owner",
					Text: "Send",
				}
				q.Task = fmt.Sprint(n, who)
				answered := r.question(q)
				id = ""
				eventually(t, "the question waits", func() bool {
					for _, p := range r.desk.Pending() {
						if p.Task == q.Task {
							id = p.ID
						}
					}
					return id != ""
				})
				defer func() {
					_ = r.desk.Answer(id, approval.Answer{}) // unless it has been
					<-answered
				}()
			}
			at := strings.NewReplacer("{$}", "", "{id}", id, "{task}", id, "{n}", "2", "{i}", "0", "{file}", "f", "{name}", "x",
				"{kind}", "json").Replace(path)
			if body == "" && method != "GET" {
				body = "{}"
			}
			edits := []change{key(who)}
			if path == "/api/files" {
				edits = append(edits, header("Content-Type", "application/octet-stream"))
			}
			res := r.do(method, at, body, edits...)
			res.Body.Close()
			return res.StatusCode
		}
		if route.Least == dashboard.RoleNobody {
			continue
		}
		if got := ask(""); got != http.StatusUnauthorized && (strings.HasPrefix(path, "/api/") || got != http.StatusOK) {
			t.Errorf("%s for strangers: %d", route.Pattern, got)
		}
		statuses, forOthers := want[route.Pattern]
		if forOthers != (route.Least < dashboard.RoleOperator) {
			t.Errorf("%s: what people are answered does not stand in this test", route.Pattern)
			continue
		}
		for i, who := range people {
			if got := ask(who); forOthers && got != statuses[i] || !forOthers && got != http.StatusForbidden {
				t.Errorf("%s for %s: %d, want %d", route.Pattern, who, got, statuses[i])
			}
		}
		if !forOthers {
			continue // they are tested where they are
		}
		if got := ask("boss"); got == http.StatusUnauthorized || got == http.StatusForbidden {
			t.Errorf("%s for an operator: %d", route.Pattern, got)
		}
	}
}

// TestPeopleSeeTheirsAlone looks for other people's tasks in every list and event stream.
func TestPeopleSeeTheirsAlone(t *testing.T) {
	r, _, key := startPeople(t)
	streams := map[string]*reading{}
	for _, who := range []string{"viewer", "owner", "other"} {
		streams[who] = r.read("/api/events?all=1", "", key(who))
		streams[who].want("snapshot")
	}
	places := map[string]sessions.Origin{"amber": from, "birch": from, "cedar": from, "dune": from, "elder": from}
	edit := func(name string, change func(*sessions.Origin)) {
		o := places[name]
		change(&o)
		places[name] = o
	}
	edit("birch", func(o *sessions.Origin) { o.Channel = "c2" }) // which nobody here sees but who asked
	edit("cedar", func(o *sessions.Origin) { o.Private = true })
	edit("dune", func(o *sessions.Origin) { o.Guild, o.Channel, o.User, o.UserName = "g2", "c9", "sb", "somebody" })
	edit("elder", func(o *sessions.Origin) { *o = sessions.Origin{Kind: sessions.FromDashboard} })
	for _, word := range []string{"birch", "cedar", "dune", "elder", "amber"} {
		_, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "brief " + word, Origin: places[word]}, nil)
		check.Must(t, err)
		w := watches.Watch{
			ID: word[:1], What: word, URL: "https://shop.test/" + word, State: watches.StateActive,
			Origin: places[word],
		}
		check.Must(t, r.store.AddWatch(t.Context(), w, 99, 99))
	}
	wanted := map[string]string{"viewer": "amber", "member": "amber", "owner": "amber birch cedar", "other": "dune"}
	words := func(text string) string {
		var found []string
		for _, word := range []string{"amber", "birch", "cedar", "dune", "elder"} {
			if strings.Contains(text, word) {
				found = append(found, word)
			}
		}
		return strings.Join(found, " ")
	}
	for who, want := range wanted {
		signed := key(who)
		for _, path := range []string{
			"/activity", "/api/tasks", "/api/tasks?steps=1&q=brief", "/activity?q=brief",
			"/api/sessions", "/api/watches",
		} {
			status, body := r.ask("GET", path, "", signed)
			if path == "/api/watches" && who == "viewer" {
				continue
			}
			want := want
			if strings.Contains(path, "q=") {
				want = strings.TrimSuffix(want, " cedar") // what is private is not searched
			}
			if got := words(body); status != http.StatusOK || got != want {
				t.Errorf("%s for %s tells of %q, want %q (%d)", path, who, got, want, status)
			}
		}
		snapshot := r.read("/api/events", "", signed).want("snapshot").data
		check.Equal(t, "the snapshot for "+who+" tells of", words(snapshot), want)
		if _, page := r.ask("GET", "/activity", "", signed); strings.Contains(page, "Left: ") ||
			strings.Contains(page, `value="openai`) ||
			strings.Contains(page, ">somebody<") != (who == "other") {
			t.Errorf("the filters for %s: %s", who, page)
		}
	}
	check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "brief last", Origin: from}, nil)))
	check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "brief last", Origin: places["dune"]}, nil)))
	for who, s := range streams {
		var told strings.Builder
		for e, ok := s.next(); !strings.Contains(e.data, "brief last") || !strings.Contains(e.data, `"state":"done"`); e, ok = s.next() {
			if !ok {
				t.Fatalf("the stream of %s ended", who)
			}
			told.WriteString(e.data)
		}
		check.Equal(t, "the stream of "+who+" tells of", words(told.String()), wanted[who])
	}
}

// TestWhoLosesARoleLosesThePage takes a role away from people who read streams and watch.
func TestWhoLosesARoleLosesThePage(t *testing.T) {
	watched, gone := make(chan sessions.Viewer, 1), make(chan error, 1)
	r, d, key := startPeople(t, func(s *dashboard.Server) {
		s.Recheck = 10 * time.Millisecond
		s.Live = paneFunc(func(w http.ResponseWriter, r *http.Request, v sessions.Viewer) {
			watched <- v
			w.WriteHeader(http.StatusOK)
			<-r.Context().Done()
			gone <- context.Cause(r.Context())
		})
	})
	task, session := r.hold(from)
	defer r.scopes.StopWork(task, somebody, true)
	signed := key("moderator")
	streams := []*reading{r.read("/api/events", "", signed), r.read("/api/tasks/"+task+"/events", "", signed)}
	watch := func(ctx context.Context, signed change) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL()+"/api/sessions/"+session+"/live", nil)
		check.Must(t, err)
		signed(req)
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil { // else it was left
				_ = res.Body.Close()
			}
		}()
	}
	watch(t.Context(), signed)
	v := <-watched
	if v.Name != "moderator" || !v.Invited || v.May != (sessions.Rights{Stop: true, Note: true}) || !v.Actor.Moderator ||
		!v.From.Moderator {
		t.Errorf("a moderator watches as %+v", v)
	}
	d.set("moderator", on("g1", "c2", dashboard.RoleModerator)) // and sees another channel alone
	select {
	case err := <-gone:
		check.Fails(t, err, nil, "may not see this any more")
	case <-time.After(10 * time.Second):
		t.Error("the page is watched on")
	}
	d.set("moderator", dashboard.Person{})
	for _, s := range streams {
		for _, more := s.next(); more; _, more = s.next() {
		}
	}
	if status, _ := r.ask("GET", "/api/tasks", "", signed); status != http.StatusUnauthorized {
		t.Errorf("who is nobody any more: %d", status)
	}
	for who, want := range map[string]sessions.Rights{
		"viewer": {}, "member": {}, "owner": {Control: true, Stop: true, Note: true},
		"boss": {Control: true, Stop: true, Note: true},
	} {
		ctx, leave := context.WithCancel(t.Context())
		watch(ctx, key(who))
		if v := <-watched; v.May != want || v.Invited != (who == "viewer" || who == "member") {
			t.Errorf("%s watches as %+v", who, v)
		}
		leave()
		<-gone
	}
}

func TestPeopleSignInWithDiscord(t *testing.T) {
	r, d, _ := startPeople(t)
	stranger := header("Authorization", "")
	status, begun := r.ask("POST", "/api/login/discord/begin", "{}", stranger)
	if to := decode[map[string]string](t, begun)["url"]; status != http.StatusOK ||
		!strings.HasSuffix(to, r.server.URL()+"/login") {
		t.Errorf("begin: %d %s", status, begun)
	}
	for body, want := range map[string]int{
		`{"state":"fresh","code":"nobody"}`: http.StatusForbidden,
		`{"state":"stale","code":"member"}`: http.StatusUnauthorized, `{}`: http.StatusUnauthorized,
	} {
		if status, answer := r.ask("POST", "/api/login/discord", body, stranger); status != want ||
			strings.Contains(answer, "key") {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	in := func(id string) change {
		status, answer := r.ask("POST", "/api/login/discord", `{"state":"fresh","code":"`+id+`"}`, stranger,
			header("User-Agent", "Browser of "+id))
		if status != http.StatusOK {
			t.Fatalf("%s signs in: %d %s", id, status, answer)
		}
		return header("Authorization", "Bearer "+decode[map[string]string](t, answer)["key"])
	}
	member, other, boss := in("member"), in("other"), in("boss")
	for _, who := range []change{member, boss} {
		if status, _ := r.ask("POST", "/api/login-link", "{}", who); status != http.StatusForbidden {
			t.Errorf("a browser makes a link that signs in: %d", status)
		}
	}
	list := func(who change) (ids []string, names []string) {
		_, body := r.ask("GET", "/api/sign-ins", "", who)
		for _, s := range decode[[]api.SignIn](t, body) {
			ids, names = append(ids, s.ID), append(names, s.Name)
			if s.From != "127.0.0.1" || s.Browser != "Browser of "+s.User || s.Until.Sub(s.Since) < time.Hour {
				t.Errorf("sign-in %+v", s)
			}
		}
		return ids, names
	}
	mine, names := list(member)
	check.Diff(t, "names", names, []string{"name of member"})
	_, names = list(boss)
	check.Diff(t, "names", names, []string{"name of boss", "name of other", "name of member"})
	for _, tc := range []struct {
		who    change
		body   string
		status int
	}{
		{other, `{"id":"` + mine[0] + `"}`, 404},
		{other, `{}`, 400},
		{other, `{"id":"x","all":true}`, 400},
		{other, `{"all":true}`, 204},
		{other, `{"all":true}`, 401},
		{boss, `{"id":"` + mine[0] + `"}`, 204},
		{member, `{"all":true}`, 401},
		{boss, `{"id":"` + mine[0] + `"}`, 404},
	} {
		if status, body := r.ask("POST", "/api/sign-ins/end", tc.body, tc.who); status != tc.status {
			t.Errorf("revoke %s: %d %s, want %d", tc.body, status, body, tc.status)
		}
	}
	_, records := r.ask("GET", "/api/records?kind=signed_out", "", boss)
	check.Contains(t, records, `"whose":"name of member","whoseIDs":["member"]`)
	d.set("boss", dashboard.Person{}) // an operator who is none any more
	if status, _ := r.ask("GET", "/api/settings", "", boss); status != http.StatusUnauthorized {
		t.Errorf("a former operator: %d", status)
	}
	_, page := r.ask("GET", "/login", "", stranger)
	check.Contains(t, page, "Sign in with Discord")
	if _, page = start(t).ask("GET", "/login", "", stranger); strings.Contains(page, "Discord") {
		t.Error("the page offers to sign in with Discord where nobody can")
	}
}

func TestAManagerChangesTheSettingsThatTheOperatorAllows(t *testing.T) {
	r, _, key := startPeople(t)
	signed := key("moderator")
	_, now := r.ask("GET", "/api/settings", "")
	status, body := r.ask("PUT", "/api/settings",
		`{"changes":{"interaction.access.serverSettings":"language"},"version":"`+
			decode[api.SettingsView](t, now).Version+`"}`)
	if status != http.StatusOK {
		t.Fatalf("the operator: %d %s", status, body)
	}
	put := func(key string) int {
		_, view := r.ask("GET", "/api/servers/g1/settings", "", signed)
		version := decode[api.SettingsView](t, view).Version
		status, _ := r.ask("PUT", "/api/servers/g1/settings", `{"changes":{"`+key+`":"de"},"version":"`+version+`"}`, signed)
		return status
	}
	check.Equal(t, "the language", put("server.language"), http.StatusOK)
	check.Equal(t, "what the operator sets", put("server.model"), http.StatusForbidden)
	_, page := r.ask("GET", "/settings/servers/g1", "", signed)
	check.Contains(t, page, `data-key="server.language"`)
	check.Lacks(t, page, `data-key="server.model"`, `href="/settings"`, `href="/call"`)
}

// TestASignInWithDiscordInABrowser follows the redirects to the sign-in site and back.
func TestASignInWithDiscordInABrowser(t *testing.T) {
	c := launch(t)
	r, d, _ := startPeople(t)
	back := "&code=viewer"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?state="+r.FormValue("state")+back, http.StatusFound)
	}))
	defer site.Close()
	d.site = strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "lamps", Origin: from}, nil)))

	tb := c.open(r.server.URL()+"/login?state=fresh&code=owner", 360, 740, "light")
	tb.waitFor(`document.getElementById("login-text").textContent.includes("not begun in this tab")`)
	back = "&error=access_denied"
	tb.click("#login-discord button")
	tb.waitFor(`document.getElementById("login-text")?.textContent === "Discord did not sign you in."`)
	back = "&code=viewer"
	tb.click("#login-discord button")
	tb.waitFor(`location.pathname === "/activity" && document.querySelector(".task .thumb img")`)
	tb.waitFor(`![...document.querySelectorAll("nav a")].some((a) => a.pathname !== "/activity") && !document.querySelector("[data-stop]")`)
	tb.click(".task a.label")
	tb.waitFor(`location.pathname.startsWith("/tasks/") && document.querySelector("#steps li")`)
	tb.waitFor(`!document.getElementById("retry") && !document.getElementById("console") && !document.getElementById("tell")`)
	tb.goTo(r.server.URL() + "/")
	tb.waitFor(`location.pathname === "/activity"`)
	tb.click("[data-logout]")
	tb.waitFor(`location.pathname === "/login" && document.getElementById("login-discord")?.hidden === false`)
	c.clean()
}

// TestAMemberWatchesATaskThatRuns opens the live pane on the page of a task.
func TestAMemberWatchesATaskThatRuns(t *testing.T) {
	c := launch(t)
	l := &livePage{t: t, heard: make(chan map[string]any, 1000), state: map[string]any{}}
	l.tell(`{"type":"state", "session":"s", "title":"Lamps", "url":"http://shop.test/lamps", "viewers":["member"],
		"tabs":[{"id":"1", "title":"Lamps", "current":true}], "may":{"control":false, "stop":false, "note":false}}`)
	r, _, _ := startPeople(t, func(s *dashboard.Server) { s.Live = l })
	l.rig = r
	task, _ := r.hold(from)
	defer r.scopes.StopWork(task, somebody, true)
	_, answer := r.ask("POST", "/api/login/discord", `{"state":"fresh","code":"member"}`, header("Authorization", ""))
	tb := c.open(r.server.URL()+"/login", 360, 740, "light")
	tb.Eval(`localStorage.setItem("clank-key", "` + decode[map[string]string](t, answer)["key"] + `")`)
	tb.goTo(r.server.URL() + "/tasks/" + task)
	tb.click("#watch")
	tb.waitFor(`document.querySelector("#live .pane")?.innerText.includes("Lamps")`)
	tb.waitFor(`document.documentElement.scrollWidth <= innerWidth`)
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(t, os.WriteFile(dir+"/live.png", tb.Screenshot(), 0o600))
	}
	c.clean()
}
