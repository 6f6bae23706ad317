package dashboard_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// talker is an assistant that does what the last line names:
//
//	"… look …" starts a task
//	"… hold …" starts one that runs until it is stopped
//	"… fail …" has no answer
//	"… ask …"  asks which one
type talker struct {
	manager *sessions.Manager

	mu    sync.Mutex
	turns []assistant.Turn
}

func (a *talker) heard() []assistant.Turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turns
}

func (a *talker) Reply(ctx context.Context, t assistant.Turn,
	watch func(assistant.Progress),
) (assistant.Answer, error) {
	a.mu.Lock()
	a.turns = append(a.turns, t)
	a.mu.Unlock()
	said := t.Lines[len(t.Lines)-1].Text
	if strings.Contains(said, "fail") {
		return assistant.Answer{}, &llm.Error{
			Kind: llm.ErrAuth, Model: "openai:gpt", Message: "the key is refused",
			Hint: "enter another",
		}
	}
	for _, word := range []string{"look", "hold"} {
		if !strings.Contains(said, word) {
			continue
		}
		t.OnText(assistant.TextChunk{Text: "I look."})
		t.OnText(assistant.TextChunk{Complete: true})
		task := sessions.Task{Prompt: word + " for " + said, Origin: t.Origin}
		if _, err := a.manager.Run(ctx, task, func(ev sessions.Event) {
			watch(assistant.Progress{Call: 1, Event: ev})
		}); err != nil {
			return assistant.Answer{}, err
		}
	}
	if ctx.Err() != nil {
		return assistant.Answer{}, context.Cause(ctx)
	}
	t.OnText(assistant.TextChunk{Text: "There are **two**"})
	t.OnText(assistant.TextChunk{Text: " <img src=x onerror=window.pwned=1> lamps."})
	answer := assistant.Answer{Text: "There are **two** <img src=x onerror=window.pwned=1> lamps."}
	if strings.Contains(said, "ask") {
		answer.Asks, answer.Choices = true, []string{"the silver one", "the red one"}
	}
	return answer, nil
}

// startTalk starts a page with people, and an assistant that they can talk with.
func startTalk(t *testing.T) (r *rig, a *talker, d *discordPeople, key func(string) change) {
	t.Helper()
	a = new(talker)
	r, d, key = startPeople(t, func(s *dashboard.Server) { s.Assistant, s.Recheck = a, 10*time.Millisecond })
	a.manager = r.manager
	state := r.server.Settings.State().Version
	status, body := r.ask("PUT", "/api/settings", `{"version":"`+state+
		`","changes":{"interaction.brain.model":"openai:gpt"}}`)
	if status != http.StatusOK {
		t.Fatalf("choose a model: %d %s", status, body)
	}
	return r, a, d, key
}

// talk says something and returns the stream of the answer.
func (r *rig) talk(body string, changes ...change) *reading {
	r.t.Helper()
	res := r.do("POST", "/api/talk", body, changes...)
	return r.readFrom(res)
}

func TestTheAssistantActsOnBehalfOfTheRequester(t *testing.T) {
	r, a, _, key := startTalk(t)
	lines := `"lines":[{"text":"hello"},{"from_assistant":true,"text":"Hello."}]`
	for _, c := range []struct {
		who, body string
		want      sessions.Origin
	}{
		{"", "", sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel}},
		{"", `,"private":true`, sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel, Private: true}},
		{"owner", `,"place":"g1/c1"`, from},
	} {
		changes := []change{key("boss")}[:0]
		if c.who != "" {
			changes = append(changes, key(c.who))
		}
		s := r.talk(`{"text":"look for lamps",`+lines+c.body+`}`, changes...)
		var told []string
		for e, ok := s.next(); ok; e, ok = s.next() {
			told = append(told, e.name)
			if e.name != "task" {
				continue
			}
			task, err := r.manager.Task(t.Context(), decode[sessions.TaskRecord](t, e.data).ID)
			check.Must(t, err)
			if o := task.Origin; o.Kind != c.want.Kind || o.User != c.want.User || o.Channel != c.want.Channel ||
				o.Private != c.want.Private || task.Typed {
				t.Errorf("%q asks: the task is from %+v", c.who, o)
			}
		}
		check.Equal(t, c.who+" is told", strings.Join(told, " "), "text text task text text answer")
		turns := a.heard()
		turn := turns[len(turns)-1]
		if len(turn.Lines) != 3 || !turn.Lines[1].FromAssistant || turn.Lines[2].SpeakerID != c.want.User || !turn.Typed {
			t.Errorf("%q says: %+v", c.who, turn.Lines)
		}
	}
	for _, c := range []struct {
		body   string
		who    change
		status int
		text   string
	}{
		{`{"text":" "}`, header("Accept", ""), http.StatusBadRequest, "say something"},
		{`{"text":"` + strings.Repeat("a", 8001) + `"}`, header("Accept", ""), http.StatusBadRequest, "8000"},
		{`{"text":"hi"}`, key("owner"), http.StatusForbidden, "choose a channel"},
		{`{"text":"hi","place":"g2/c9"}`, key("owner"), http.StatusForbidden, "choose a channel"},
	} {
		if status, body := r.ask("POST", "/api/talk", c.body, c.who); status != c.status || !strings.Contains(body, c.text) {
			t.Errorf("%.40s: %d %s", c.body, status, body)
		}
	}
}

// TestAnAnswerEndsWhenItsClientDisconnects ends answers, and the tasks that they wait for, in each way.
func TestAnAnswerEndsWhenItsClientDisconnects(t *testing.T) {
	r, _, d, key := startTalk(t)
	owner := key("owner")
	for name, end := range map[string]func(s *reading){
		"who asked goes": func(s *reading) { check.Must(t, s.body.Close()) },
		"who asked says stop": func(*reading) {
			_, body := r.ask("POST", "/api/talk", `{"text":"stop","place":"g1/c1"}`, owner)
			if len(decode[api.TasksStopped](t, body).Stopped) == 0 {
				t.Errorf("stop: %s", body)
			}
		},
		"who asked loses the role": func(*reading) { d.set("owner", on("g1", "c1", dashboard.RoleViewer)) },
	} {
		d.set("owner", on("g1", "c1", dashboard.RoleMember))
		s := r.talk(`{"text":"hold it","place":"g1/c1"}`, owner)
		id := ""
		for id == "" {
			e, ok := s.next()
			if !ok {
				t.Fatalf("%s: the answer ended", name)
			}
			if e.name == "task" {
				id = decode[sessions.TaskRecord](t, e.data).ID
			}
		}
		end(s)
		eventually(t, name+" ends the task", func() bool {
			task, err := r.manager.Task(t.Context(), id)
			return err == nil && task.State == sessions.TaskStopped
		})
	}
}

func TestTheChatTalksWithTheAssistant(t *testing.T) {
	r, a, _, _ := startTalk(t)
	c := launch(t)
	tb := r.arrive(c, 360, 740, "light")
	tb.waitFor(`!document.querySelector("[name=whom][value=assistant]").disabled`)
	tb.click("[name=whom][value=assistant]")
	tb.say("look for lamps")
	tb.waitFor(`document.querySelector("#talk > .turn > .answer:last-of-type strong")?.textContent === "two" && !document.querySelector(".talk-state")`)
	tb.waitFor(`document.querySelectorAll(".talk-tasks .turn").length === 1 && document.querySelectorAll(".session").length === 1`)
	tb.waitFor(`document.documentElement.scrollWidth <= innerWidth && !("pwned" in window) && !document.querySelector("#talk img[src=x]")`)
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(t, os.WriteFile(dir+"/talk-narrow.png", tb.Screenshot(), 0o600))
	}
	tb.say("ask me")
	tb.waitFor(`document.querySelectorAll(".talk-choices button").length === 2`)
	tb.click(".talk-choices button")
	tb.waitFor(`document.querySelectorAll("#talk > .turn").length === 3 && !document.querySelector(".talk-state")`)
	turns := a.heard()
	if lines := turns[len(turns)-1].Lines; len(lines) != 5 || lines[4].Text != "the silver one" ||
		!lines[3].FromAssistant {
		t.Errorf("the assistant is told %+v", lines)
	}
	tb.say("fail")
	tb.waitFor(`document.querySelector(".talk-state.bad")?.textContent.includes("the key is refused")`)
	tb.say("hold on")
	tb.waitFor(`document.querySelector(".talk-tasks .sign.spin") && document.getElementById("send").classList.contains("stops")`)
	tb.click("#send")
	tb.waitFor(`[...document.querySelectorAll(".talk-state")].at(-1).textContent === "Stopped"`)
	eventually(t, "its task is stopped", func() bool {
		list, err := r.manager.Tasks(t.Context(), sessions.TaskQuery{Words: "hold"})
		return err == nil && len(list) == 1 && list[0].State == sessions.TaskStopped
	})
	tb.click("#new")
	tb.waitFor(`!document.querySelector("#talk .turn") && !document.getElementById("welcome").hidden`)
	c.clean()
}

func TestTheChatExplainsAMissingAssistant(t *testing.T) {
	r, d, key := startPeople(t, func(s *dashboard.Server) { s.Assistant = new(talker) })
	d.set("owner", on("g1", "c1", dashboard.RoleMember))
	_, page := r.ask("GET", "/", "")
	check.Contains(t, page, `value="assistant" disabled`, "No assistant model is chosen.")
	_, page = r.ask("GET", "/", "", key("owner"))
	check.Contains(t, page, `value="assistant" disabled`, "The operator of this clank has not chosen an "+
		"assistant model.")
	status, body := r.ask("POST", "/api/talk", `{"text":"hi"}`)
	if status != http.StatusConflict || !strings.Contains(body, "No assistant model") {
		t.Errorf("without a model: %d %s", status, body)
	}
}
