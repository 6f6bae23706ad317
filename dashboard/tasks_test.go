package dashboard_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/llm"
	"clank/sessions"
)

var taskQueryAll = sessions.TaskQuery{}

func TestATaskOutlivesTheRequestThatStartedIt(t *testing.T) {
	r := start(t)
	started := r.startTask(`{"prompt":"hold the line"}`)
	if started.TaskID == "" || started.SessionID == "" {
		t.Fatalf("started = %+v", started)
	}
	r.backend.letGo()
	rec, err := r.client().Follow(t.Context(), started.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskDone || !strings.HasPrefix(rec.Answer, "Six lamps") {
		t.Fatalf("task = %+v, %v", rec, err)
	}
	if len(rec.Images) != 1 || len(rec.Images[0].Data) == 0 {
		t.Errorf("pictures = %d", len(rec.Images))
	}
	_, body := r.ask("GET", "/api/tasks/"+started.TaskID, "")
	view := decode[api.TaskView](t, body)
	if len(view.Steps) != 6 || view.Steps[1].View == nil || view.Steps[1].View.Data != nil || view.Task.Images[0].Data != nil {
		t.Errorf("steps and pictures: %s", body)
	}
	if view.Task.Origin.Kind != sessions.FromDashboard || view.Task.Origin.Channel != api.PageChannel {
		t.Errorf("origin = %+v", view.Task.Origin)
	}
}

func TestPicturesAreServedAsPicturesOnly(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	for _, path := range []string{"/api/steps/" + rec.ID + "/2/view", "/api/tasks/" + rec.ID + "/images/0"} {
		res := r.do("GET", path, "")
		res.Body.Close()
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != "image/png" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
	}
	if got, _ := r.ask("GET", "/api/tasks/"+rec.ID+"/images/1", ""); got != http.StatusNotFound {
		t.Errorf("a picture that is not there: %d", got)
	}
	if got, _ := r.ask("GET", "/api/steps/"+rec.ID+"/1/view", ""); got != http.StatusNotFound {
		t.Errorf("a step without a picture: %d", got)
	}
	session, err := r.store.Session(t.Context(), rec.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	page := llm.Image{MediaType: "text/html", Data: []byte("<script>alert(1)</script>")}
	step := sessions.Step{N: 2, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "open", View: &page}
	if err := r.store.SaveStep(t.Context(), rec, session, step, 20); err != nil {
		t.Fatal(err)
	}
	if got, body := r.ask("GET", "/api/steps/"+rec.ID+"/2/view", ""); got != http.StatusNotFound || strings.Contains(body, "alert") {
		t.Errorf("a page in place of a picture: %d %s", got, body)
	}
}

func TestASessionGoesOnAndIsListedUnderItsFirstWords(t *testing.T) {
	r := start(t)
	first := r.finish(`{"prompt":"brief first"}`)
	second := r.finish(`{"prompt":"brief second","session_id":"` + first.SessionID + `"}`)
	terminal := r.finish(`{"prompt":"brief from a terminal","origin":"terminal"}`)
	if second.SessionID != first.SessionID || terminal.SessionID == first.SessionID {
		t.Errorf("sessions: %s, %s, %s", first.SessionID, second.SessionID, terminal.SessionID)
	}
	_, body := r.ask("GET", "/api/sessions", "")
	list := decode[[]api.SessionView](t, body)
	if len(list) != 2 || list[0].Prompt != "brief from a terminal" || list[1].Prompt != "brief first" || list[0].Origin.Kind != sessions.FromTerminal {
		t.Errorf("sessions = %s", body)
	}
	_, body = r.ask("GET", "/api/tasks?steps=1&session="+first.SessionID, "")
	tasks := decode[[]api.TaskView](t, body)
	if len(tasks) != 2 || tasks[0].Task.ID != second.ID || len(tasks[1].Steps) != 1 {
		t.Errorf("tasks = %s", body)
	}
	_, body = r.ask("GET", "/api/tasks?limit=1&origin=dashboard&before="+second.Asked.Format(time.RFC3339Nano), "")
	if tasks = decode[[]api.TaskView](t, body); len(tasks) != 1 || tasks[0].Task.ID != first.ID {
		t.Errorf("tasks before = %s", body)
	}
}

func TestAClosedSessionCannotBeContinued(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"brief"}`)
	if got, body := r.ask("POST", "/api/sessions/"+rec.SessionID+"/close", "{}"); got != http.StatusNoContent {
		t.Fatalf("close = %d %s", got, body)
	}
	got, body := r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"`+rec.SessionID+`"}`)
	if got != http.StatusConflict || !strings.Contains(body, "closed") {
		t.Errorf("going on = %d %s", got, body)
	}
}

func TestStoppingOneTaskLeavesTheOthers(t *testing.T) {
	r := start(t)
	one, two := r.startTask(`{"prompt":"hold one"}`), r.startTask(`{"prompt":"hold two"}`)
	if stopped, err := r.client().Stop(t.Context(), one.TaskID); err != nil || !stopped {
		t.Fatalf("stop = %v, %v", stopped, err)
	}
	rec, err := r.client().Follow(t.Context(), one.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskStopped || rec.Reason != "stopped by you" {
		t.Errorf("stopped task = %s %q, %v", rec.State, rec.Reason, err)
	}
	if stopped, err := r.client().Stop(t.Context(), one.TaskID); err != nil || stopped {
		t.Errorf("stopping it again = %v, %v", stopped, err)
	}
	if v, err := r.client().Task(t.Context(), two.TaskID); err != nil || v.Task.State.Final() {
		t.Errorf("the other task = %+v, %v", v.Task, err)
	}
}

func TestSayingStopStopsThePagesWorkAndNothingElse(t *testing.T) {
	r := start(t)
	mine, terminal := r.startTask(`{"prompt":"hold mine"}`), r.startTask(`{"prompt":"hold terminal","origin":"terminal"}`)
	status, body := r.ask("POST", "/api/tasks", `{"prompt":"ok, stop please!"}`)
	if got := decode[api.TasksStopped](t, body); status != 200 || len(got.Stopped) != 1 || got.Stopped[0] != mine.TaskID {
		t.Errorf("stop = %d %s", status, body)
	}
	rec, err := r.client().Follow(t.Context(), mine.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskStopped {
		t.Errorf("task = %s, %v", rec.State, err)
	}
	if v, _ := r.client().Task(t.Context(), terminal.TaskID); v.Task.State.Final() {
		t.Errorf("the terminal's task is %s", v.Task.State)
	}
	if _, body := r.ask("POST", "/api/stop", "{}"); strings.TrimSpace(body) != `{"stopped":[]}` {
		t.Errorf("stopping nothing = %s", body)
	}
	if _, err := r.client().Start(t.Context(), api.TaskRequest{Prompt: "stop"}); err == nil {
		t.Error("a client that starts a stop is not told")
	}
	if got := r.startTask(`{"prompt":"stop","origin":"terminal"}`); got.TaskID == "" {
		t.Error("a terminal's words were taken as a wish to stop")
	}
}

func TestClosingEndsTasksAndStreams(t *testing.T) {
	r := start(t)
	started := r.startTask(`{"prompt":"hold"}`)
	for _, path := range []string{"/api/events", "/api/tasks/" + started.TaskID + "/events"} {
		res := r.do("GET", path, "")
		defer res.Body.Close()
	}
	began := time.Now()
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if err := r.server.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("closing took %v", took)
	}
	rec, err := r.manager.Task(t.Context(), started.TaskID)
	if err != nil || !rec.State.Final() || !strings.Contains(rec.Reason, "shutting down") {
		t.Errorf("task = %s %q, %v", rec.State, rec.Reason, err)
	}
}

func TestATaskIsTypedOnlyIfTheFrontEndSaysSo(t *testing.T) {
	r := start(t)
	for _, body := range []string{`{"prompt":"brief"}`, `{"prompt":"brief","origin":"terminal"}`, `{"prompt":"brief","typed":true}`, `{"prompt":"brief","origin":"terminal","typed":true}`} {
		r.finish(body)
	}
	if got, want := r.backend.typed(), []bool{false, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("typed: %v, want %v", got, want)
	}
}
