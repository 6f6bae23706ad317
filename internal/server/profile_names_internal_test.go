package server

import (
	"context"
	"testing"

	"clank/browsermgr"
	"clank/internal/test/check"
	"clank/sessions"
)

func TestATaskDoesNotCreateAMissingProfile(t *testing.T) {
	a := openTestServer(t, t.TempDir(), "")
	t.Cleanup(func() { check.Must(t, a.Close(context.WithoutCancel(t.Context()))) })
	task := sessions.Task{Prompt: "look", Origin: TerminalOrigin(), Profile: "nope"}
	_, err := a.Sessions.Run(t.Context(), task, nil)
	check.Fails(t, err, nil, "nope", "there are: clank", "clank browser create-profile --name nope")
	_, err = a.Browsers.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "nope"})
	check.Must(t, err)
	if name, err := a.SelectProfile(TerminalOrigin(), "", "nope"); name != "nope" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	for _, profile := range []string{"nope@server-1", "other"} {
		of := sessions.Session{ID: profile, Profile: profile, State: sessions.SessionParked, Origin: TerminalOrigin()}
		done := sessions.TaskRecord{Task: sessions.Task{ID: profile, SessionID: profile}, State: sessions.TaskDone}
		check.Must(t, a.Db.SaveTask(t.Context(), done, of))
	}
	check.Fails(t, a.Browsers.RenameProfile(t.Context(), "nope", "work"), browsermgr.ErrUnavailable, "1 open sessions use")
}
