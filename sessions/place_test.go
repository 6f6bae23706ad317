package sessions_test

import (
	"errors"
	"testing"

	"clank/internal/test/check"
	"clank/sessions"
)

func TestWhoseBrowserStateItIs(t *testing.T) {
	direct := sessions.Origin{Kind: sessions.FromDiscord, Channel: "d", User: "ada"}
	for name, c := range map[string]struct {
		origin  sessions.Origin
		private bool
		place   sessions.Place
		profile string
	}{
		"on a server":           {discord("g", "ada"), false, "server-g", "clank@server-g"},
		"of another person":     {discord("g", "bob"), false, "server-g", "clank@server-g"},
		"on another server":     {discord("h", "ada"), false, "server-h", "clank@server-h"},
		"privately on a server": {discord("g", "ada"), true, "person-ada", "clank@person-ada"},
		"in a direct message":   {direct, false, "person-ada", "clank@person-ada"},
		"at the terminal":       {sessions.Origin{Kind: sessions.FromTerminal, User: "ada"}, false, "", "clank"},
		"on the dashboard":      {sessions.Origin{Kind: sessions.FromDashboard}, false, "", "clank"},
		"privately there": {
			sessions.Origin{Kind: sessions.FromDashboard},
			true, "person-operator",
			"clank@person-operator",
		},
		"by an account there": {
			sessions.Origin{Kind: sessions.FromDashboard, User: "ada"},
			true, "person-ada",
			"clank@person-ada",
		},
	} {
		got := c.origin.Place(c.private)
		check.Diff(t, name, got, c.place)
		check.Diff(t, name, got.Profile("clank"), c.profile)
		base, place := sessions.SplitProfile(got.Profile("clank"))
		check.Diff(t, name, base, "clank")
		check.Diff(t, name, place, c.place)
		check.Diff(t, name+", nothing lasts", got.Profile(""), "")
	}
}

// placed gives each place its own profile, and the operator every profile.
func placed(_ sessions.Origin, place sessions.Place, want string) (string, error) {
	base, of := sessions.SplitProfile(want)
	if of != "" && of != place {
		return "", errors.New("it belongs to another place")
	}
	if base == "" {
		base = "clank"
	}
	return place.Profile(base), nil
}

func TestASessionStaysInItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		began, goesOn sessions.Origin
		private, then bool   // whether the first and the later task are private
		stored        string // the stored profile of the session, if it is from an earlier version
		wish          string
		want          string // its profile afterwards; empty = refused
	}{
		"on the same server": {began: discord("g", "ada"), goesOn: discord("g", "ada"), want: "clank@server-g"},
		"with the profile's own name": {
			began: discord("g", "ada"), goesOn: discord("g", "ada"), wish: "clank",
			want: "clank@server-g",
		},
		"on another server": {began: discord("g", "ada"), goesOn: discord("h", "ada")},
		"privately, of a public one": {
			began: discord("g", "ada"), goesOn: discord("g", "ada"), then: true,
			want: "clank@server-g",
		},
		"private, from another server": {
			began: discord("g", "ada"), goesOn: discord("h", "ada"), private: true, then: true,
			want: "clank@person-ada",
		},
		"in a message, of a public one": {began: discord("g", "ada"), goesOn: discord("", "ada")},
		"from before there were places": {
			began: discord("g", "ada"), goesOn: discord("g", "ada"), stored: "clank",
			want: "clank@server-g",
		},
		"privately, from before": {
			began: discord("g", "ada"), goesOn: discord("", "ada"), private: true, then: true,
			stored: "clank", want: "clank@person-ada",
		},
		"another place's name as a wish": {began: discord("g", "ada"), goesOn: discord("g", "ada"), wish: "clank@server-h"},
	} {
		withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
			t.Helper()
			r.policy.Profile = placed
			if c.stored != "" {
				r.policy.Profile = nil // back to the default
			}
			began := sessions.Task{Prompt: "one", Origin: c.began, Profile: c.stored}
			began.Origin.Private = c.private
			first := r.run(began)
			r.policy.Profile = placed
			task := sessions.Task{Prompt: "two", Origin: c.goesOn, SessionID: first.SessionID, Profile: c.wish}
			task.Origin.Private = c.then
			_, err := r.Run(t.Context(), task, nil)
			if c.want == "" {
				if !errors.Is(err, sessions.ErrForbidden) && !errors.Is(err, sessions.ErrBadTask) {
					t.Errorf("%s: got %v, want a refusal", name, err)
				}
				return
			}
			check.Must(t, err)
			s, err := r.Session(t.Context(), first.SessionID)
			check.Must(t, err)
			if s.Profile != c.want {
				t.Errorf("%s: works with %q, want %q", name, s.Profile, c.want)
			}
		})
	}
}

func TestARefusedPlaceSaysWhereToGoOn(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		r.policy.Profile = placed
		task := goOn(r.run(ask("ada", "one")).SessionID, "ada", "two")
		task.Origin.Guild = "h"
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), nil, "another place")
	})
}
