package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"clank/sessions"
)

func TestWhoMayNotEnterIsRefusedBeforeAnythingHappens(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		r.CheckAccess = func(o sessions.Origin) error {
			if o.User == "ada" {
				return nil
			}
			return errors.New("you are not on the list")
		}
		r.run(ask("ada", "lamps"))
		_, err := r.Run(t.Context(), ask("eve", "secrets"), nil)
		if !errors.Is(err, sessions.ErrForbidden) || err.Error() != "you are not on the list" {
			t.Errorf("got %v, want the refusal in its own words", err)
		}
		if all, err := r.Tasks(t.Context(), sessions.TaskQuery{}); err != nil || len(all) != 1 {
			t.Errorf("written down: %d tasks, %v; want ada's alone", len(all), err)
		}
	})
}

// profiles gives everybody a profile of their own name, and "shared" to all who ask for it.
func profiles(o sessions.Origin, want string) (string, error) {
	switch want {
	case "", o.User:
		return o.User, nil
	case "shared":
		return want, nil
	}
	return "", errors.New("that profile is not yours")
}

func TestASessionKeepsTheProfileItBeganWith(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		r.SelectProfile = profiles
		profile := func(id string) string {
			s, err := r.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return s.Profile
		}
		own := r.run(ask("ada", "one"))
		if got := profile(own.SessionID); got != "ada" {
			t.Errorf("without a wish: got %q, want ada's own", got)
		}
		task := ask("ada", "two")
		task.Profile = "shared"
		shared := r.run(task)
		if got := profile(shared.SessionID); got != "shared" {
			t.Errorf("with a wish: got %q, want it", got)
		}
		task = goOn(shared.SessionID, "ada", "three")
		r.run(task)
		if got := profile(shared.SessionID); got != "shared" {
			t.Errorf("gone on with: got %q, want the profile it began with", got)
		}
		task.Profile = "ada"
		if _, err := r.Run(t.Context(), task, nil); !errors.Is(err, sessions.ErrBadTask) || !strings.Contains(err.Error(), "start a new one") {
			t.Errorf("another profile for a session: got %v, want a refusal with the way out", err)
		}
		task = ask("ada", "four")
		task.Profile = "bob"
		if _, err := r.Run(t.Context(), task, nil); !errors.Is(err, sessions.ErrForbidden) {
			t.Errorf("somebody else's profile: got %v, want ErrForbidden", err)
		}
	})
}

func TestAProfileThatWasTakenAwayEndsItsSessions(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		r.SelectProfile = profiles
		task := ask("ada", "one")
		task.Profile = "shared"
		task.SessionID = r.run(task).SessionID
		task.Profile = ""
		r.SelectProfile = func(_ sessions.Origin, want string) (string, error) {
			return "", errors.New("the profile " + want + " is not yours")
		}
		if _, err := r.Run(t.Context(), task, nil); !errors.Is(err, sessions.ErrForbidden) || !strings.Contains(err.Error(), "shared") {
			t.Errorf("got %v, want a refusal that names the profile", err)
		}
	})
}

func TestAPrivateSessionIsNotGoneOnWithInPublic(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		task := ask("ada", "my bank")
		task.Origin.Private = true
		task.SessionID = r.run(task).SessionID
		r.run(task)
		if last, err := r.LastSession(t.Context(), task.Origin); err != nil || last.ID != task.SessionID {
			t.Errorf("the last session, asked privately: %q, %v", last.ID, err)
		}
		task.Origin.Private = false
		if last, err := r.LastSession(t.Context(), task.Origin); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("the last session, asked in public: %q, %v; want none", last.ID, err)
		}
		if _, err := r.Run(t.Context(), task, nil); !errors.Is(err, sessions.ErrBadTask) || !strings.Contains(err.Error(), "private") {
			t.Errorf("got %v, want a refusal that says it is private", err)
		}
	})
}
