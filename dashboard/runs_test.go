package dashboard_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/sessions"
)

// records has the record of every task but one.
type records struct {
	none   string
	broken bool
}

func (r *records) Has(task string) bool { return task != r.none }

func (r *records) Export(w io.Writer, task string) error {
	if _, err := io.WriteString(w, "record of "+task); err != nil {
		return err
	}
	if r.broken {
		return errors.New("the disk is gone")
	}
	return nil
}

func TestRecordOfATaskIsDownloaded(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	path := "/api/tasks/" + rec.ID + "/run"
	if status, body := r.ask(http.MethodGet, path, ""); status != http.StatusNotFound || !strings.Contains(body, "not recorded") {
		t.Errorf("without records: %d %s", status, body)
	}
	have := &records{}
	r.server.Runs = have
	res := r.do(http.MethodGet, path, "")
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(body) != "record of "+rec.ID || res.Header.Get("Content-Type") != "application/zip" || !strings.Contains(res.Header.Get("Content-Disposition"), "run-"+rec.ID+".zip") {
		t.Errorf("%s %v %v", body, res.Header, err)
	}
	if status, body := r.ask(http.MethodHead, path, ""); status != http.StatusOK || body != "" {
		t.Errorf("HEAD: %d %q", status, body)
	}
	have.none = rec.ID
	if status, _ := r.ask(http.MethodHead, path, ""); status != http.StatusNotFound {
		t.Errorf("a task that was not recorded: %d", status)
	}
	if status, _ := r.ask(http.MethodGet, "/api/tasks/nonsense/run", ""); status != http.StatusNotFound {
		t.Errorf("no such task: %d", status)
	}
}

func TestRecordOfAPrivateTaskIsNotGivenOut(t *testing.T) {
	r := start(t)
	r.server.Runs = &records{}
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	rec, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "lamps", Origin: origin}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := r.ask(http.MethodGet, "/api/tasks/"+rec.ID+"/run", ""); status != http.StatusForbidden || !strings.Contains(body, "privately") {
		t.Errorf("%d %s", status, body)
	}
}

func TestRecordThatCannotBeReadWholeIsBrokenOff(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	r.server.Runs = &records{broken: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL()+"/api/tasks/"+rec.ID+"/run", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	if err == nil {
		t.Error("a part passed for the whole")
	}
}
