package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// startActivity starts a page with tasks of every door.
func startActivity(t *testing.T) *rig {
	t.Helper()
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Discord = onServers{servers: []api.DiscordServer{{ID: "g1", Name: "Lumen & Co"}}, channel: "general"}
	})
	ada := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g1", Channel: "c1", User: "u1", UserName: "Ada"}
	bob := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g2", Channel: "c2", User: "u2", UserName: "Bob"}
	secret := ada
	secret.Private = true
	terminal := sessions.Origin{Kind: sessions.FromTerminal, Channel: api.TerminalChannel}
	for i, task := range []sessions.TaskRecord{
		{
			Task:  sessions.Task{ID: "t1", Prompt: "find a <b>lamp</b>", Origin: ada, Model: "openai:gpt"},
			State: sessions.TaskDone, Usage: llm.Usage{USD: 0.25},
		},
		{
			Task: sessions.Task{ID: "t2", Prompt: "compare trains", Origin: bob}, State: sessions.TaskFailed,
			Reason: "no route",
		},
		{
			Task: sessions.Task{ID: "t3", Prompt: "my secret", Origin: secret}, State: sessions.TaskDone, Answer: "secret",
			Usage: llm.Usage{USD: 1},
		},
		{Task: sessions.Task{ID: "t4", Prompt: "read the news", Origin: terminal}, State: sessions.TaskDone},
	} {
		task.Runtime, task.SessionID, task.Asked = "local", "s-"+task.ID, time.Now().Add(time.Duration(i-10)*time.Minute)
		s := sessions.Session{
			ID: task.SessionID, State: sessions.SessionParked, Origin: task.Origin, Created: task.Asked,
			LastUsed: task.Asked,
		}
		step := sessions.Step{
			N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "open example.com/" + task.ID, At: task.Asked,
			View: &llm.Image{MediaType: "image/png", Data: onePixel},
		}
		ended := task.State
		task.State = sessions.TaskRunning
		check.Must(t, r.store.SaveStep(t.Context(), task, s, step, 1))
		task.State = ended
		check.Must(t, r.store.SaveTask(t.Context(), task, s))
	}
	return r
}

func TestActivityIsFilteredAndNamesItsPlaces(t *testing.T) {
	r := startActivity(t)
	for query, want := range map[string]string{
		"": "t4 t3 t2 t1", "?origin=discord": "t3 t2 t1", "?server=g1": "t3 t1", "?person=u2": "t2", "?state=failed": "t2",
		"?state=done&server=g1": "t3 t1", "?model=openai:gpt": "t1", "?usd=0.3": "t3", "?q=lamp": "t1", "?q=secret": "",
		"?q=example":      "t4 t2 t1",
		"?runtime=screen": "", "?state=working": "",
	} {
		status, page := r.ask("GET", "/activity"+query, "")
		var got []string
		for _, row := range strings.Split(page, `<li class="task" data-id="`)[1:] {
			id, _, _ := strings.Cut(row, `"`)
			got = append(got, id)
		}
		if status != http.StatusOK || strings.Join(got, " ") != want {
			t.Errorf("%s: %d, tasks %q, want %q", query, status, got, want)
		}
		if strings.Contains(page, "my secret") || strings.Contains(page, "/steps/t3/") || strings.Contains(page, "/s/s-t3") {
			t.Errorf("%s shows what is private:\n%s", query, page)
		}
	}
	_, page := r.ask("GET", "/activity", "")
	check.Contains(t, page, "Lumen &amp; Co · #general", "A server that clank has left", "find a &lt;b&gt;lamp",
		"0.25 USD", "no route",
		`data-view="/api/steps/t1/1/view"`, "Asked privately", `<option value="u1">Ada</option>`)
	for _, query := range []string{"state=gone", "usd=x", "usd=-1", "usd=NaN", "before=now", "limit=0", "limit=201"} {
		for _, path := range []string{"/activity?", "/api/tasks?"} {
			if status, body := r.ask("GET", path+query, ""); status != http.StatusBadRequest {
				t.Errorf("%s%s: %d %s", path, query, status, body)
			}
		}
	}
}

func TestActivityPagesThroughOlderTasks(t *testing.T) {
	r := startActivity(t)
	_, page := r.ask("GET", "/activity?limit=3&origin=discord", "")
	_, older, found := strings.Cut(page, `<a class="ghost" href="/activity?before=`)
	address, _, _ := strings.Cut(older, `"`)
	if !found {
		t.Fatalf("there is no way to what is older:\n%s", page)
	}
	_, page = r.ask("GET", "/activity?before="+strings.ReplaceAll(address, "&amp;", "&"), "")
	check.Contains(t, page, "data-still")
	check.Lacks(t, page, `class="task"`)
}

func TestActivityShowsPrivateTasksWithoutTheirContents(t *testing.T) {
	r := start(t)
	s := r.read("/api/events?all=1", "")
	s.want("snapshot")
	origin := sessions.Origin{Kind: sessions.FromDiscord, User: "u", Private: true}
	_, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "brief secret", Origin: origin}, nil)
	check.Must(t, err)
	var told strings.Builder
	for !strings.Contains(told.String(), `"state":"done"`) {
		e, ok := s.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		told.WriteString(e.data)
	}
	if text := told.String(); strings.Contains(text, "secret") || !strings.Contains(text, api.PrivateText) {
		t.Errorf("told: %s", text)
	}
}

func TestActivityShowsEvents(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "light")
	tb.goTo(r.server.URL() + "/activity")
	task := r.startTask(`{"prompt":"hold lamps"}`)
	row := `document.querySelector('.task[data-id="` + task.TaskID + `"]')`
	tb.waitFor(row + `?.querySelector(".state.working") && ` + row +
		`.querySelector("[data-step]")?.textContent.includes("open the demo shop")`)
	tb.click(`[data-stop]`)
	tb.waitFor(row + `?.querySelector(".state").textContent === "Stopped" && !document.querySelector("[data-stop]")`)
	tb.Eval(`document.getElementById("words").value = "nothing like it"; document.querySelector("#filters .primary").click()`)
	tb.waitFor(`location.search === "?q=nothing+like+it" && document.querySelector(".none")`)
	c.clean()
}
