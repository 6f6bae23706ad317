package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/sessions"
)

func TestARunningTaskIsToldSomething(t *testing.T) {
	r := start(t)
	c := r.client()
	started, err := c.Start(t.Context(), api.TaskRequest{Prompt: "hold: find a lamp"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/tasks/" + started.TaskID, "/api/sessions/" + started.SessionID} {
		got, body := r.ask("POST", path+"/say", `{"text":"the red one"}`)
		if said := decode[api.NoteAccepted](t, body); got != http.StatusAccepted || said.TaskID != started.TaskID {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	if id, err := c.SendNote(t.Context(), started.TaskID, api.NoteRequest{Text: "from a terminal", Origin: sessions.FromTerminal}); err != nil || id != started.TaskID {
		t.Errorf("over the client: %q, %v", id, err)
	}
	for body, want := range map[string]int{`{"text":" "}`: 400, `{"text":"x","origin":"discord"}`: 400, `{"word":"x"}`: 400} {
		if got, answer := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", body); got != want {
			t.Errorf("%s: %d %s", body, got, answer)
		}
	}
	if got, body := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", `{"text":"stop"}`); got != http.StatusOK || !strings.Contains(body, started.TaskID) {
		t.Errorf("stop: %d %s", got, body)
	}
	if rec, err := c.Follow(t.Context(), started.TaskID, func(sessions.Event) {}); err != nil || rec.State != sessions.TaskStopped {
		t.Fatalf("after the stop: %s, %v", rec.State, err)
	}
	got, body := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", `{"text":"too late"}`)
	if got != http.StatusNotFound || !strings.Contains(body, "has ended (stopped); to go on, start a task in its session "+started.SessionID) {
		t.Errorf("after its end: %d %s", got, body)
	}
}

func TestTheChatTellsTheRunningTask(t *testing.T) {
	r := start(t)
	tb := r.arrive(launch(t), 1280, 860, "light")
	tb.say("hold: find a lamp")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.waitFor(`document.getElementById("prompt").placeholder === "Tell the running task"`)
	tb.say("the red one")
	tb.waitFor(`document.getElementById("hint-text").textContent.startsWith("Passed on")`)
	if got := tb.eval(`document.querySelectorAll(".turn").length`); got != 1.0 {
		t.Errorf("what was said began another task: %v turns", got)
	}
	r.backend.letGo()
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`document.body.textContent.includes("the red one")`)
	tb.waitFor(`document.getElementById("prompt").placeholder === "What should be done?"`)
}

func TestADraftOutlivesWhatSomebodyElseSaves(t *testing.T) {
	r := start(t)
	tb := r.arrive(launch(t), 1280, 860, "light")
	tb.eval(`location.href = "/settings"`)
	field := `document.querySelector("[data-key='interaction.tasks.maxAtOnce'] input")`
	tb.waitFor(`location.pathname === "/settings" && document.readyState === "complete" && ` + field)
	tb.eval(field + `.focus(); ` + field + `.value = "9"; ` + field + `.dispatchEvent(new Event("input", { bubbles: true }))`)
	tb.waitFor(`!document.getElementById("save-bar").hidden`)
	preset := `document.querySelector("[data-key='agentStack.preset'] select")`
	tb.eval(preset + `.value = "openai_api"; ` + preset + `.dispatchEvent(new Event("input", { bubbles: true }))`)
	tb.waitFor(`document.querySelector(".preview").textContent.includes("Assistant model: openai:gpt-5.6")`)

	r.change(`{"version":"","changes":{"interaction.tasks.maxAtOnce":6,"interaction.sessions.maxConcurrentSessions":33}}`)
	tb.eval(`document.dispatchEvent(new Event("visibilitychange"))`)
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Somebody else saved")`)
	if got := tb.eval(field + `.value + " " + document.querySelector("[data-key='interaction.sessions.maxConcurrentSessions'] input").value`); got != "9 33" {
		t.Errorf("the draft and theirs = %v, want 9 33", got)
	}
	tb.eval(`document.getElementById("save").click()`)
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Saved")`)
	if now := r.server.Settings.Current(); now.MaxTasks != 9 || now.MaxSessions != 33 || now.AssistantModel != "openai:gpt-5.6" {
		t.Errorf("saved: %d tasks, %d sessions, brain %q", now.MaxTasks, now.MaxSessions, now.AssistantModel)
	}
}
