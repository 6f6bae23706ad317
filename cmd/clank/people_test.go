package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// TestPeopleOfDiscordUseTheDashboard has people of a server sign in as far as the settings let them.
func TestPeopleOfDiscordUseTheDashboard(t *testing.T) {
	r := newServerFixture(t)
	board, err := r.server.OpenDashboard(t.Context(), "127.0.0.1:0")
	check.Must(t, err)
	r.discord.SetUpOAuth(r.bot, clientSecret, board.URL()+"/login")
	bob, eve, mallory := r.discord.CreateUser("bob"), r.discord.CreateUser("eve"), r.discord.CreateUser("mallory")
	r.discord.AddMember(r.guild, bob, r.discord.CreateRole(r.guild, "staff", discordtest.ManageMessages))
	r.discord.AddMember(r.guild, eve)
	hc := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, at, body, key string) (*http.Response, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
		check.Must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := hc.Do(req)
		check.Must(t, err)
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		check.Must(t, err)
		var answer map[string]any
		_ = json.Unmarshal(data, &answer) // a list, or none
		return res, answer
	}
	signIn := func(who discordtest.User) (status int, key string) {
		t.Helper()
		r.discord.VisitAs(who)
		res, begun := ask("POST", board.URL()+"/api/login/discord/begin", "{}", "")
		if res.StatusCode != http.StatusOK {
			return res.StatusCode, ""
		}
		res, _ = ask("GET", begun["url"].(string), "", "")
		back, err := url.Parse(res.Header.Get("Location"))
		check.Must(t, err)
		proof, _ := json.Marshal(map[string]string{"state": back.Query().Get("state"), "code": back.Query().Get("code")})
		res, answer := ask("POST", board.URL()+"/api/login/discord", string(proof), "")
		key, _ = answer["key"].(string)
		return res.StatusCode, key
	}
	settings := "/api/servers/" + r.guild.ID + "/settings"
	for _, tc := range []struct {
		signIn, people, operators string
		who                       discordtest.User
		want                      map[string]int // by path; none: nobody signs in
	}{
		{"", "", bob.ID, bob, nil},
		{"operators", "", eve.ID, bob, nil},
		{"operators", "", bob.ID, bob, map[string]int{"/api/settings": 200, settings: 200}},
		{"moderators", "", "", eve, nil},
		{"moderators", "", "", bob, map[string]int{"/api/tasks": 200, settings: 404, "/api/settings": 403}},
		{"members", "", "", eve, map[string]int{"/api/tasks": 200, "/api/watches": 200, "/api/settings": 403}},
		{"members", bob.ID, "", eve, nil},
		{"viewers", bob.ID, "", eve, map[string]int{"/api/tasks": 200, "/api/watches": 403}},
		// who owns the server
		{"viewers", bob.ID, "", r.ada, map[string]int{"/api/tasks": 200, settings: 200, "/api/watches": 403}},
		{"viewers", "", "", mallory, nil},
		{"viewers", "", "", discordtest.User{}, nil},
	} {
		r.updateSettings(map[string]any{
			"interaction.dashboard.signIn": tc.signIn, "interaction.dashboard.operators": tc.operators,
			"interaction.access.people": tc.people,
		})
		status, key := signIn(tc.who)
		if (status == http.StatusOK) != (tc.want != nil) || (key == "") != (tc.want == nil) {
			t.Errorf("%s signs in with %q: %d", tc.who.Username, tc.signIn, status)
		}
		for path, want := range tc.want {
			if res, _ := ask("GET", board.URL()+path, "", key); res.StatusCode != want {
				t.Errorf("%s with %q asks for %s: %d, want %d", tc.who.Username, tc.signIn, path, res.StatusCode, want)
			}
		}
	}

	r.updateSettings(map[string]any{
		"interaction.dashboard.signIn": "members", "interaction.access.people": "",
		"agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour": 1,
	})
	_, key := signIn(eve)
	for _, tc := range []struct {
		more   string
		status int
		says   string
	}{
		{`,"headed":true`, 400, "only an operator"},
		{`,"model":"openai:other"`, 400, "not one to choose"},
		{`,"profile":"work"`, 403, "profile"},
		{"", 202, ""},
		{"", 429, "within an hour"},
	} {
		body := `{"prompt":"read","place":"` + r.guild.ID + "/" + r.room.ID + `"` + tc.more + `}`
		res, answer := ask("POST", board.URL()+"/api/tasks", body, key)
		why, _ := answer["error"].(string)
		if res.StatusCode != tc.status || !strings.Contains(why, tc.says) {
			t.Errorf("eve asks with %s: %d %v", tc.more, res.StatusCode, answer)
		}
		if id, _ := answer["task_id"].(string); id != "" {
			task, err := r.server.Sessions.Task(t.Context(), id)
			check.Must(t, err)
			if o := task.Origin; o.User != eve.ID || o.Guild != r.guild.ID || o.Channel != r.room.ID || o.Private {
				t.Errorf("eve asked as %+v", o)
			}
		}
	}
}
