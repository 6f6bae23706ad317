package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/sessions"
)

func TestScriptsAreShownRunRenamedAndDeleted(t *testing.T) {
	r := start(t)
	check.Must(t, r.server.Scripts.Save(recording.Script{
		Name: "find-lamps", About: []string{"from <b>a run</b>"},
		Values: []recording.ScriptValue{{Name: "search", Text: "lamp"}},
		Steps:  []string{"open shop.test", `type "{search}" into Search`, "press Enter"},
	}, false))
	_, page := r.ask("GET", "/scripts", "")
	check.Contains(t, page, "find-lamps", "from &lt;b&gt;a run", `name="search" value="lamp"`, "into Search")
	do := func(path, body string, want int, words string) string {
		t.Helper()
		status, got := r.ask("POST", "/api/scripts/"+path, body)
		if status != want || !strings.Contains(got, words) {
			t.Errorf("%s %s: %d %s, want %d with %q", path, body, status, got, want, words)
		}
		return got
	}
	do("find-lamps/run", `{"colour":"red"}`, http.StatusUnprocessableEntity, "no value")
	do("find-lamps/run", `{"search":"x\\"}`, http.StatusUnprocessableEntity, "backslash")
	do("gone/run", `{}`, http.StatusNotFound, "no such script")
	do("..%2fup/run", `{}`, http.StatusUnprocessableEntity, "small letters")
	answer := do("find-lamps/run", `{"search":"a \"desk\", red"}`, http.StatusAccepted, "session_id")
	task, err := r.manager.Task(t.Context(), decode[api.TaskStarted](t, answer).TaskID)
	if err != nil || !strings.Contains(task.Prompt, `type "a \"desk\", red" into Search`) || task.Typed {
		t.Errorf("the task: %+v, %v", task.Task, err)
	}
	do("find-lamps/rename", `{"name":"Up"}`, http.StatusUnprocessableEntity, "small letters")
	do("find-lamps/rename", `{"name":"lamps"}`, http.StatusNoContent, "")
	do("find-lamps/delete", `{}`, http.StatusNotFound, "no such script")
	check.Must(t, r.server.Scripts.Save(recording.Script{Name: "other", Steps: []string{"press Enter"}}, false))
	do("lamps/rename", `{"name":"other"}`, http.StatusUnprocessableEntity, "already")
	do("lamps/delete", `{}`, http.StatusNoContent, "")
	if names, err := r.server.Scripts.Names(); err != nil || len(names) != 1 || names[0] != "other" {
		t.Errorf("scripts are left: %v, %v", names, err)
	}
}

// said are transcripts by name.
type said map[string]api.Transcript

func (s said) Transcripts(words string) (list []api.Transcript, err error) {
	for _, t := range s {
		if strings.Contains(fmt.Sprint(t.Lines), words) {
			list = append(list, t)
		}
	}
	return list, nil
}

func (s said) Transcript(name string) (api.Transcript, error) {
	t, ok := s[name]
	if !ok {
		return t, fmt.Errorf("transcript: %w", sessions.ErrNotFound)
	}
	return t, nil
}

func (s said) RemoveTranscript(name string) error {
	_, err := s.Transcript(name)
	delete(s, name)
	return err
}

func TestTranscriptsAreFoundReadExportedAndDeleted(t *testing.T) {
	r := start(t)
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	r.said["call1"] = api.Transcript{
		Name: "call1", At: at, Guild: "5", Channel: "c", People: []string{"Ada"}, Count: 2,
		Lines: []api.TranscriptLine{{At: at, By: "Ada", Text: "find <b>lamps</b>"}, {At: at, Text: "Here they are."}},
	}
	for path, want := range map[string]string{
		"/transcripts": "Server 5", "/transcripts?q=lamps": "find &lt;b&gt;lamps",
		"/transcripts?q=zebra": "Nobody said that.", "/transcripts/call1": "Here they are.",
		"/api/transcripts/call1": "2026-05-04 10:00:00  clank: Here they are.\n",
	} {
		if status, body := r.ask("GET", path, ""); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want %q in\n%s", path, status, want, body)
		}
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if status, body := r.ask("POST", "/api/transcripts/call1/delete", "{}"); status != want {
			t.Errorf("delete: %d %s, want %d", status, body, want)
		}
	}
	if status, _ := r.ask("GET", "/transcripts/call1", ""); status != http.StatusNotFound {
		t.Errorf("after it was deleted: %d", status)
	}
}
