package sessions_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

// The store rejects every write from the middle of a task on, as if another program had locked it.
func TestWhatTheStoreDidNotTakeInMidTaskIsWrittenDownLater(t *testing.T) {
	for name, wait := range map[string]func(*testing.T, *rig){
		"once it takes it again": func(_ *testing.T, _ *rig) { pass(10 * time.Second) },
		"at the end":             func(t *testing.T, r *rig) { t.Helper(); check.Must(t, r.Close(t.Context())) },
		"after the next task": func(t *testing.T, r *rig) {
			t.Helper()
			if rec := r.run(goOn("s", "ada", "q")); rec.State != sessions.TaskDone {
				t.Errorf("the next task of the session: %s, %q", rec.State, rec.Reason)
			}
			pass(10 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
				t.Helper()
				check.Must(t, r.store.SaveSession(t.Context(), sessions.Session{
					ID: "s", Origin: discord("g", "ada"), Runtime: "script", State: sessions.SessionParked,
				}))
				var locked atomic.Bool
				r.store.Fail = func(string) error {
					if locked.Load() {
						return &sessions.StoreError{Text: "another program locks the database", Err: errors.New("5")}
					}
					return nil
				}
				r.backend.Script = func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
					locked.Store(task.Prompt == "p")
					return []sessionstest.ScriptStep{sessionstest.Act("look"), sessionstest.Answer("done")}
				}
				task := goOn("s", "ada", "p")
				task.ID = "t"
				rec := r.run(task)
				if rec.State != sessions.TaskFailed || !strings.Contains(rec.Reason, "another program locks the database") {
					t.Errorf("told: %s, %q", rec.State, rec.Reason)
				}
				locked.Store(false)
				wait(t, r)
				kept, err := r.Task(t.Context(), "t")
				check.Must(t, err)
				if kept.State != rec.State || kept.Reason != rec.Reason || kept.Ended.IsZero() {
					t.Errorf("kept: %s, %q, ended %v", kept.State, kept.Reason, kept.Ended)
				}
				session, err := r.Session(t.Context(), "s")
				check.Must(t, err)
				if session.State == sessions.SessionRunning {
					t.Errorf("the session is %s", session.State)
				}
			})
		})
	}
}
