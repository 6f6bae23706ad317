package dashboard_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"

	gocmp "github.com/google/go-cmp/cmp"
)

// put changes a setting of a server as the operator.
func (r *rig) put(guild, change string) {
	r.t.Helper()
	path := "/api/servers/" + guild + "/settings"
	_, now := r.ask("GET", path, "")
	version := decode[api.SettingsView](r.t, now).Version
	status, answer := r.ask("PUT", path, `{"changes":{`+change+`},"version":"`+version+`"}`)
	if status != http.StatusOK {
		r.t.Fatalf("set %s: %d %s", change, status, answer)
	}
}

func TestAMemberAsksAsThemselves(t *testing.T) {
	r, d, key := startPeople(t)
	r.manager.Policy = &sessionstest.Policy{
		Access: func(o sessions.Origin) error {
			if o.User == "other" {
				return errors.New("you may not use clank on this server")
			}
			return nil
		},
		RouteTo: func(task sessions.Task) (string, string, error) {
			if task.Headed && task.Origin.Kind == sessions.FromDiscord {
				return "", "", errors.New("only an operator has a window shown")
			}
			return task.Runtime, task.Model, nil
		},
	}
	owner := key("owner")
	status, answer := r.ask("POST", "/api/tasks", `{"prompt":"brief","place":"g1/c1","typed":true,"max_steps":4}`, owner)
	begun := decode[api.TaskStarted](t, answer)
	if status != http.StatusAccepted {
		t.Fatalf("a member asks: %d %s", status, answer)
	}
	task, err := r.manager.Task(t.Context(), begun.TaskID)
	check.Must(t, err)
	if diff := gocmp.Diff(from, task.Origin); diff != "" || task.MaxSteps != 4 {
		t.Errorf("asked from %s, with %d steps", diff, task.MaxSteps)
	}
	status, answer = r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"`+begun.SessionID+`"}`, owner)
	if next := decode[api.TaskStarted](t, answer); status != http.StatusAccepted || next.SessionID != begun.SessionID {
		t.Errorf("a member goes on: %d %s", status, answer)
	}

	secretly := from
	secretly.Private = true
	hidden, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "brief", Origin: secretly}, nil)
	check.Must(t, err)
	onPage := sessions.Origin{Kind: sessions.FromDashboard}
	operators, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "brief", Origin: onPage}, nil)
	check.Must(t, err)
	member, other := key("member"), key("other")
	for _, tc := range []struct {
		who    change
		body   string
		status int
		text   string
	}{
		{member, `"place":"g2/c9"`, 403, "choose a channel"},
		{member, `"place":"g1/c2"`, 403, "choose a channel"},
		{member, `"place":"g1"`, 403, "choose a channel"},
		{member, `"place":""`, 403, "choose a channel"},
		{other, `"place":"g2/c9"`, 403, "may not use clank on this server"},
		{member, `"place":"g1/c1","origin":"terminal"`, 403, "terminal"},
		{member, `"place":"g1/c1","files":["f"]`, 403, "send files"},
		{member, `"place":"g1/c1","allow":["send"]`, 403, "needs no question"},
		{member, `"place":"g1/c1","asks":true`, 403, "needs no question"},
		{member, `"place":"g1/c1","headed":true`, 400, "window"},
		{member, `"session_id":"` + begun.SessionID + `"`, 403, "belongs to owner"},
		{member, `"session_id":"` + hidden.SessionID + `"`, 404, ""},
		{owner, `"session_id":"` + begun.SessionID + `","private":true`, 409, "begin a new one"},
		{owner, `"session_id":"` + operators.SessionID + `"`, 404, ""},
		{owner, `"session_id":"none"`, 404, ""},
		{key("boss"), `"place":"g1/c1"`, 400, "the operator asks at the dashboard"},
	} {
		status, answer := r.ask("POST", "/api/tasks", `{"prompt":"brief",`+tc.body+`}`, tc.who)
		if status != tc.status || !strings.Contains(answer, tc.text) {
			t.Errorf("%s: %d %s", tc.body, status, answer)
		}
	}

	idle := func() {
		t.Helper()
		eventually(t, "no task is left", func() bool { return len(r.scopes.Scopes()) == 0 })
	}
	idle()
	held, session := r.hold(from)
	stop := func(who change, path, body string) []string {
		t.Helper()
		status, answer := r.ask("POST", path, body, who)
		if status != http.StatusOK {
			t.Errorf("stop at %s: %d %s", path, status, answer)
		}
		return decode[api.TasksStopped](t, answer).Stopped
	}
	moderator := key("moderator") // who has a say there, but asked for nothing
	for _, who := range []change{member, moderator} {
		if got := stop(who, "/api/tasks", `{"prompt":"stop","place":"g1/c1"}`); len(got) > 0 {
			t.Errorf("the word of somebody else stopped %v", got)
		}
	}
	if got := stop(owner, "/api/tasks", `{"prompt":"stop","place":"g1/c1"}`); len(got) != 1 || got[0] != held {
		t.Errorf("stopped %v, want %s", got, held)
	}
	idle()
	held, _ = r.hold(from)
	if got := stop(owner, "/api/tasks/"+held+"/say", `{"text":"stop"}`); len(got) != 1 || got[0] != held {
		t.Errorf("stopped %v, want %s", got, held)
	}

	r.put("g1", `"server.privacy":true`)
	status, answer = r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"`+session+`"}`, owner)
	if status != 409 || !strings.Contains(answer, "not private") {
		t.Errorf("goes on in the open where all is private: %d %s", status, answer)
	}
	status, answer = r.ask("POST", "/api/tasks", `{"prompt":"brief","place":"g1/c1"}`, owner)
	task, err = r.manager.Task(t.Context(), decode[api.TaskStarted](t, answer).TaskID)
	if check.Must(t, err); status != http.StatusAccepted || !task.Origin.Private {
		t.Errorf("asks where all is private: %d %s", status, answer)
	}
	if _, page := r.ask("GET", "/", "", owner); !strings.Contains(page, `value="g1/c1" data-private`) {
		t.Error("the chat does not say that all is private there")
	}
	d.set("owner", dashboard.Person{})
	status, _ = r.ask("POST", "/api/tasks", `{"prompt":"brief","place":"g1/c1"}`, owner)
	check.Equal(t, "who is nobody any more asks", status, http.StatusUnauthorized)
}

// TestAMemberUsesTheChat asks, goes on and adds something, beside what others and the operator asked for.
func TestAMemberUsesTheChat(t *testing.T) {
	c := launch(t)
	r, d, _ := startPeople(t, func(s *dashboard.Server) {
		servers := []api.DiscordServer{{ID: "g1", Name: "One"}, {ID: "g2", Name: "Two"}}
		s.Discord = onServers{servers: servers, channel: "room"}
	})
	two := on("g2", "c9", dashboard.RoleMember).Servers[0]
	d.set("owner", dashboard.Person{Servers: append(on("g1", "c1", dashboard.RoleMember).Servers, two)})
	theirs := from
	theirs.User, theirs.UserName = "member", "Bea"
	for _, o := range []sessions.Origin{theirs, {Kind: sessions.FromDashboard}} {
		check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "brief", Origin: o}, nil)))
	}
	_, answer := r.ask("POST", "/api/login/discord", `{"state":"fresh","code":"owner"}`, header("Authorization", ""))
	tb := c.open(r.server.URL()+"/login", 360, 740, "light")
	tb.Eval(`localStorage.setItem("clank-key", "` + decode[map[string]string](t, answer)["key"] + `")`)
	tb.goTo(r.server.URL() + "/")
	tb.waitFor(`!document.getElementById("welcome").hidden`)
	got := tb.Eval(`[...document.querySelectorAll("[name=place] option")].map((o) => o.value + " " + o.text).join()`)
	check.Equal(t, "places to ask in", got, "g1/c1 One · #room,g2/c9 Two · #room")
	tb.waitFor(`!document.querySelector("#attach, [name=profile], .session, [href='/setup'], [href='/scripts']")`)
	tb.waitFor(`document.documentElement.scrollWidth <= innerWidth`)
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(t, os.WriteFile(dir+"/member-narrow.png", tb.Screenshot(), 0o600))
	}
	tb.Eval(`(() => {
		const p = document.querySelector("[name=place]");
		p.value = "g2/c9";
		p.dispatchEvent(new Event("change"));
	})()`)
	tb.reload()
	tb.waitFor(`document.querySelector("[name=place]").value === "g2/c9"`)
	tb.say("hold: find a lamp")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.say("brief, but silver")
	tb.waitFor(`document.getElementById("hint-text").textContent.startsWith("Passed on")`)
	r.backend.letGo()
	tb.waitFor(`document.querySelectorAll(".turn").length === 2 && ` + status + ` === "Done"`)
	tb.waitFor(`document.querySelectorAll(".session").length === 1 && document.getElementById("share").hidden`)
	tb.waitFor(`document.querySelector("[name=place]").closest("p").hidden`)
	tb.waitFor(`!document.querySelector("button.record, .filming")`)
	tasks, err := r.manager.Tasks(t.Context(), sessions.TaskQuery{User: "owner"})
	check.Must(t, err)
	for _, task := range tasks {
		if o := task.Origin; o.Guild != "g2" || o.Channel != "c9" || task.SessionID != tasks[0].SessionID {
			t.Errorf("asked in %+v", o)
		}
	}
	check.Equal(t, "tasks", len(tasks), 2)
	if dir := os.Getenv("SHOTS"); dir != "" {
		wide := c.open(r.server.URL()+"/", 1400, 900, "dark")
		wide.waitFor(`document.querySelector(".session") && !document.getElementById("welcome").hidden`)
		check.Must(t, os.WriteFile(dir+"/member-wide.png", wide.Screenshot(), 0o600))
	}
	tb.click("#close-session")
	tb.click("#confirm-yes")
	tb.waitFor(`!document.querySelector("[name=place]").closest("p").hidden`)
	c.clean()
}

func TestAMemberSeesTheirOwnCosts(t *testing.T) {
	r, _, key := startPeople(t)
	for user, usd := range map[string]float64{"owner": 1.25, "member": 0.5, "zoe": 7} {
		o := from
		o.User, o.UserName = user, "Name of "+user
		check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "brief", Origin: o}, nil)))
		r.spend(llm.Account{Guild: "g1", User: "discord:" + user}, usd, budget.StateSettled)
	}
	for who, want := range map[string]float64{"owner": 1.25, "member": 0.5, "moderator": 0, "boss": 8.75} {
		for _, by := range []string{"model", "server", "runtime"} {
			_, body := r.ask("GET", "/api/costs?by="+by, "", key(who))
			sum := 0.0
			for _, c := range decode[api.CostReport](t, body).Costs {
				sum += c.Amount.Money.USD()
			}
			if sum != want {
				t.Errorf("by %s %s sees %v USD, want %v: %s", by, who, sum, want, body)
			}
		}
	}
	owner := key("owner")
	for _, path := range []string{"/api/costs?by=person", "/api/costs.csv?by=person"} {
		if status, body := r.ask("GET", path, "", owner); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, page := r.ask("GET", "/budget", "", owner)
	check.Contains(t, page, "1.25", "1 call (no limit)", `href="/budget"`)
	_, table := r.ask("GET", "/api/costs.csv", "", owner)
	for _, others := range []string{
		"Name of", "zoe", "member", "8.75", "0.50", "7.00", "discord:", `value="person"`, `href="/settings"`,
	} {
		if strings.Contains(page, others) || strings.Contains(table, others) {
			t.Errorf("a member is told %q", others)
		}
	}
}
