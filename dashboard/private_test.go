package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"clank/sessions"
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
