package main

import (
	"context"
	"image"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"clank/computeruse"
	"clank/internal/server"
	"clank/internal/test/computerusetest"
	"clank/llm"
	"clank/sessions"
)

// lampSite returns a page whose field and button stand where points say.
func lampSite(t *testing.T) (url string, changed *atomic.Bool) {
	t.Helper()
	changed = &atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := `<!doctype html><meta charset=utf-8><title>Lamp</title><link rel=icon href=data:,><style>body > * {position:fixed;left:20px;width:200px;height:30px}</style>
<input aria-label="Your name" style="top:20px"><button style="top:80px" onclick="out.textContent='lit for '+document.querySelector('input').value"><b>Light it</b></button><p id=out style="top:140px"></p>`
		if changed.Load() {
			page = strings.Replace(page, "Light it", "Switch on", 1)
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, changed
}

// recordScreenRun has a mind that follows a script work the screen, recorded.
func recordScreenRun(t *testing.T, a *server.Server, id string, turns ...computeruse.Turn) {
	t.Helper()
	rec := a.NewRecorder()
	mind := rec.ComputerUseModel(&computerusetest.Model{Script: func(_ context.Context, n int, _ computeruse.Input) (computeruse.Turn, error) { return turns[n], nil }})
	agent := &computeruse.Agent{
		Browser:  server.WindowBrowser{Manager: a.Browsers, Settings: a.Settings.Current, OnClose: a.Approver.Approvals.ForgetSession, Ephemeral: true},
		Model:    func(context.Context, string) (computeruse.Model, error) { return mind, nil },
		Settings: func() computeruse.Settings { return computeruse.Settings{StepTimeout: patience} },
	}
	task := sessions.Task{ID: id, SessionID: "s" + id, Prompt: "light the lamp"}
	for step, err := range rec.Backend(computeruse.RuntimeOpenAI, agent).Run(t.Context(), sessions.Session{ID: "s" + id}, task) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Failed {
			t.Fatal(step.Text)
		}
	}
	if err := agent.Close(t.Context(), "s"+id); err != nil {
		t.Error(err)
	}
}

// recordLampRun lights the lamp by what is seen on the screen, recorded.
func recordLampRun(t *testing.T, a *server.Server, id, site string) {
	t.Helper()
	act := func(id string, actions ...computeruse.Action) computeruse.Turn {
		return computeruse.Turn{Calls: []computeruse.Call{{ID: id, Actions: actions}}, Stop: llm.StopTools}
	}
	recordScreenRun(t, a, id,
		act("c1", computeruse.Action{Kind: computeruse.ActNavigate, URL: site}),
		act("c2", computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 60, Y: 35}}, computeruse.Action{Kind: computeruse.ActType, Text: "Ada"}),
		act("c3", computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 60, Y: 95}}),
		computeruse.Turn{Tools: []llm.ToolCall{{ID: "f1", Name: computeruse.ToolReadText, Input: []byte(`{}`)}}, Stop: llm.StopTools},
		computeruse.Turn{Text: "it is lit", Stop: llm.StopEnd},
	)
}

// screenShownAndReplayed has the run of recordLampRun shown, replayed and saved as a script.
func screenShownAndReplayed(t *testing.T, home string, environ []string, changed *atomic.Bool) {
	t.Helper()
	_, out, _ := runInProcess(t, environ, "sessions", "show", "screen")
	for _, want := range []string{`click "Your name" at 60, 35`, `type "Ada" into "Your name"`, `click "Light it" at 60, 95`, "lit for Ada"} {
		if !strings.Contains(out, want) {
			t.Errorf("show has no %q in:\n%s", want, out)
		}
	}
	if code, out, told := runInProcess(t, environ, "sessions", "replay", "screen"); code != exitDone || !strings.Contains(out, "5 steps played: 5 as recorded") {
		t.Errorf("replay: exit %d:\n%s%s", code, out, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "script", "screen", "screen-light"); code != exitDone || !strings.Contains(out, `type "{your_name}" into "Your name"`) {
		t.Errorf("script: exit %d:\n%s%s", code, out, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "scripts", "run", "--json", "screen-light", "your_name = Eve"); code != exitDone || !strings.Contains(out, "lit for Eve") {
		t.Errorf("scripts run: exit %d:\n%s%s", code, out, told)
	}
	changed.Store(true)
	if code, out, told := runInProcess(t, environ, "sessions", "replay", "screen"); code != exitDiffers || !strings.Contains(out, `now:  click "Switch on" at 60, 95`) {
		t.Errorf("replay of a page that has changed: exit %d:\n%s%s", code, out, told)
	}
}
