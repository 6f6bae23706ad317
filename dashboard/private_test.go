package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"clank/sessions"
	"clank/sessions/approval"
)

func TestWhatWasAskedPrivatelyIsNotShown(t *testing.T) {
	r := start(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", UserName: "ada", Private: true}
	rec, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "lamps at my bank", Origin: origin}, nil)
	if err != nil || rec.State != sessions.TaskDone || len(rec.Images) == 0 {
		t.Fatalf("%+v, %v", rec, err)
	}
	steps, err := r.manager.Steps(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/api/tasks?origin=discord", "/api/tasks?origin=discord&steps=1", "/api/tasks/" + rec.ID, "/api/tasks/" + rec.ID + "/events", "/api/sessions",
	} {
		status, body := r.ask(http.MethodGet, path, "")
		if status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
		for _, secret := range []string{"bank", "lamp", "Lumen", "results", "image/png"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s tells %q: %s", path, secret, body)
			}
		}
	}
	if _, body := r.ask(http.MethodGet, "/api/tasks?origin=discord", ""); !strings.Contains(body, `"user_name":"ada"`) || !strings.Contains(body, `"state":"done"`) {
		t.Errorf("that there was a task, and whose, is not told: %s", body)
	}
	pictures := []string{"/api/tasks/" + rec.ID + "/images/0"}
	for _, st := range steps {
		pictures = append(pictures, fmt.Sprintf("/api/steps/%s/%d/view", rec.ID, st.N))
	}
	for _, path := range pictures {
		if status, body := r.ask(http.MethodGet, path, ""); status != http.StatusForbidden || !strings.Contains(body, "privately") {
			t.Errorf("%s: %d %q, want a refusal", path, status, body)
		}
	}
}

func TestTheLiveStreamOfAPrivateTaskTellsNothingOfIt(t *testing.T) {
	r := start(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", UserName: "ada", Private: true}
	begun := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		_, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "hold lamps at my bank", Origin: origin}, func(ev sessions.Event) {
			if ev.Step != nil && ev.Step.Kind == sessions.StepAct && len(begun) == 0 {
				begun <- ev.Record.ID
			}
		})
		done <- err
	}()
	id := <-begun
	stream := r.read("/api/tasks/"+id+"/events", "")
	told := []event{stream.want("snapshot")}
	q := question()
	q.Task, q.Session, q.Private, q.Text, q.Detail, q.Origin = id, "s-bank", true, "Send something to the bank", "lamp", "https://bank.test"
	ctx, stop := context.WithCancelCause(t.Context())
	asked := make(chan error, 1)
	page := r.read("/api/events", "")
	page.want("snapshot")
	room := r.desk.Follow(func(approval.Question) bool { return true }) // where it was asked for
	defer room.Close()
	go func() {
		_, err := r.desk.Ask(ctx, q)
		asked <- err
	}()
	told = append(told, page.want("question"))
	stop(errors.New("the bank said no"))
	told = append(told, page.want("question"))
	if err := <-asked; err == nil {
		t.Error("the question was answered with yes")
	}
	r.backend.letGo()
	for e, ok := stream.next(); ok; e, ok = stream.next() {
		told = append(told, e)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	steps, tasks := 0, 0
	for _, e := range told {
		steps += strings.Count(e.name, "step")
		tasks += strings.Count(e.name, "task")
		for _, secret := range []string{"bank", "lamp", "Lumen", "results", "image/png", "demo shop"} {
			if strings.Contains(e.data, secret) {
				t.Errorf("the event %s tells %q: %s", e.name, secret, e.data)
			}
		}
	}
	if steps < 4 || tasks < 1 || !strings.Contains(told[len(told)-1].data, `"state":"done"`) {
		t.Errorf("told of %d steps and %d changes of the task, want the whole of it", steps, tasks)
	}
}
