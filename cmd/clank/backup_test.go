package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
)

// newCookieSite returns a site that knows whoever was there before.
func newCookieSite(t *testing.T) string {
	t.Helper()
	site := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		greeting := "Good day, stranger"
		if c, err := r.Cookie("who"); err == nil {
			greeting = "Welcome back, " + c.Value
		}
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "Ada", MaxAge: 3600})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Office</title><link rel=icon href=data:,><p>"+greeting+"</p>")
	})
	return site.URL
}

func TestABackupOfARunningServerWorksElsewhere(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "CLANK_VAULT_KEYRING=off", passphraseName+"=correct horse battery")
	site := newCookieSite(t)
	serving := startServer(t, home, environ)
	does := func(environ []string, stdin, want string, args ...string) {
		t.Helper()
		e := envFromList(t, environ)
		e.Stdin = strings.NewReader(stdin)
		if got := runCommand(t.Context(), e, args...); got.code != exitDone ||
			!strings.Contains(got.stdout+got.stderr, want) {
			t.Fatalf("clank %v: exit code %d, %q, %q; want %q", args, got.code, got.stdout, got.stderr, want)
		}
	}
	does(environ, "", "", "config", "set", "interaction.sessions.record", "never")
	does(environ, "pass word\n", "is kept", "vault", "add", "office", "--origin", "https://office.example", "--user",
		"ada")
	does(environ, "", "", "watches", "add", site, "--says", "Sold out")
	code, out, told := runInProcess(t, environ, "browse", "--json", "open "+site+", read")
	var first browseOutcome
	if err := json.Unmarshal([]byte(out), &first); err != nil || code != exitDone || !strings.Contains(out, "stranger") {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, told)
	}
	does(environ, "", "", "sessions", "script", first.TaskID, "visit")

	dir := t.TempDir()
	plain, sealed := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed")
	does(environ, "", "a browser was running with clank", "backup", plain)
	does(environ, "", "stopped", "browser", "stop")
	does(environ, "", " files of ", "backup", "--encrypt", sealed)
	if code, _, told := runInProcess(t, environ, "restore", "--replace", sealed); code != exitFailed ||
		!strings.Contains(told, "another clank uses this home") {
		t.Errorf("restore where it runs: exit code %d, %s", code, told)
	}
	serving.interrupt(t)
	serving.exitCode(t)
	overwritePage(t, filepath.Join(home, "clank.db"), first.SessionID)
	serving = startServer(t, home, environ)
	awaitOutput(t, serving.stderr, "clank restore --replace")
	serving.interrupt(t)
	serving.exitCode(t)

	second, other := newTestHome(t)
	other = append(other, "CLANK_VAULT_KEYRING=off", passphraseName+"=correct horse battery")
	if code, _, told := runInProcess(t, other, "restore", sealed); code != exitFailed ||
		!strings.Contains(told, "--replace") {
		t.Errorf("restore where something is: exit code %d, %s", code, told)
	}
	does(other, "", "what was there before is in", "restore", "--replace", sealed)
	awaitGone := saveOldSpending(t, second)
	startServer(t, second, other)
	awaitGone()
	does(other, "", "never", "config", "get", "interaction.sessions.record")
	does(other, "", "office opens for", "vault", "test", "office")
	does(other, "", "Sold out", "watches")
	does(other, "", "visit", "sessions", "scripts")
	does(other, "", first.SessionID, "sessions")
	does(other, "", "Welcome back, Ada", "browse", "open "+site+", read")
	for _, left := range []string{home, second} {
		folders, err := filepath.Glob(filepath.Join(filepath.Dir(left), ".clank-unfinished-*"))
		if err != nil || len(folders) > 0 {
			t.Errorf("left behind: %v, %v", folders, err)
		}
	}
	check.Must(t, os.Remove(sealed))
}

// overwritePage damages the last page of a database that holds a text.
func overwritePage(t *testing.T, database, text string) {
	t.Helper()
	const size = 4096
	data, err := os.ReadFile(database)
	check.Must(t, err)
	at := bytes.LastIndex(data, []byte(text))
	if at < 0 {
		t.Fatalf("%s does not hold %q", database, text)
	}
	copy(data[at&^(size-1):], strings.Repeat("x", size))
	check.Must(t, os.WriteFile(database, data, 0o600))
}

// saveOldSpending adds an entry that is older than anything is kept, and returns what waits until it is deleted.
func saveOldSpending(t *testing.T, home string) (awaitGone func()) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), (&server.Home{Dir: home}).DatabaseFile())
	check.Must(t, err)
	e := budget.Entry{At: time.Unix(0, 0), Day: "1970-01-01"}
	id, err := db.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
	check.Must(t, err)
	check.Must(t, db.Settle(t.Context(), id, budget.Amount{Calls: 1}, budget.StateSettled, false))
	return func() {
		t.Helper()
		for ctx := testDeadline(t); ; {
			calls, err := db.Calls(ctx, 1000)
			check.Must(t, err)
			if !slices.ContainsFunc(calls, func(e budget.Entry) bool { return e.Day == "1970-01-01" }) {
				check.Must(t, db.Close())
				return
			}
		}
	}
}

func TestErasingASubjectAsksForConfirmation(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	runSteps(t, e,
		commandStep{"export --person bob " + filepath.Join(t.TempDir(), "of"), exitFailed, "nothing is kept in", ""},
		commandStep{"forget --person bob --yes", exitFailed, "set CLANK_HOME to the home that is meant", ""},
		commandStep{"backup " + filepath.Join(t.TempDir(), "of"), exitFailed, "nothing is kept in", ""},
		commandStep{"config get interaction.history.retentionDays", exitDone, "30", ""}, // it makes the home
	)
	h, err := server.OpenHome(e.Getenv)
	check.Must(t, err)
	db, err := sqlite.Open(t.Context(), h.DatabaseFile())
	check.Must(t, err)
	for _, id := range []string{"1", "2", "3"} {
		name := map[string]string{"1": "Ada", "2": "ada", "3": "Bob"}[id]
		from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", User: id, UserName: name}
		check.Must(t, db.SaveSession(t.Context(),
			sessions.Session{ID: "s" + id, Origin: from, State: sessions.SessionRunning}))
	}
	check.Must(t, db.Close())
	call := h.Path("transcripts", "2026-03-01T120000Z-7-1-a.jsonl")
	const said = `{"at":"2026-03-01T12:00:00Z","id":"4","by":"Cleo","text":"hello"}` + "\n"
	check.Must(t, errors.Join(os.Mkdir(filepath.Dir(call), 0o700), os.WriteFile(call, []byte(said), 0o600)))
	to := filepath.Join(t.TempDir(), "of")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errInterrupted)
	interrupted := runCommand(stopped, e, "backup", to)
	check.Equal(t, "exit code", interrupted.code, exitStopped)
	check.Equal(t, "stderr", interrupted.stderr, "clank backup: interrupted\n")
	runSteps(t, e,
		commandStep{"sessions", exitDone, "s3  parked", ""}, // nothing runs here
		commandStep{"export " + to, exitUsage, "name whom it is about: --person or --server", ""},
		commandStep{"export --person 3", exitUsage, "<file> is missing", ""},
		commandStep{"forget --person 1 --server 7", exitUsage, "name --person or --server, not both", ""},
		commandStep{"forget --person ADA", exitUsage, "several people have the name ADA; name one by ID: 1, 2", ""},
		commandStep{"forget --person ../x --yes", exitFailed, `"../x" is no ID`, ""},
		commandStep{"export --person cleo " + to + "4", exitDone, "lines of transcripts 1", ""}, // who only spoke in a call
		commandStep{"export --person bob " + to, exitDone, "session 1", ""},
		commandStep{"export --person bob " + to, exitFailed, "is there already", ""},
		commandStep{"export --person bob " + h.Path("bob"), exitFailed, "lies in clank's home: choose another place", ""},
		commandStep{"forget --person nobody", exitDone, "forgotten: nothing", ""}, // there is nothing to ask about
	)
	check.Must(t, h.Claim())
	runSteps(t, e, commandStep{"forget --person bob", exitFailed, "another clank uses this home", ""})
	h.Release()
	runSteps(t, e,
		commandStep{"forget --person bob", exitFailed, "nothing was deleted", "bob\n"},
		commandStep{"forget --person bob", exitDone, "session 1", "3\n"},
		commandStep{"export --person bob " + to + "2", exitFailed, "export what is kept of bob: nothing is kept " +
			"under this ID", ""},
		commandStep{"forget --person bob --yes", exitDone, "forgotten: nothing", ""},
		commandStep{"backup --encrypt " + to + "3", exitFailed, "set " + passphraseName, ""},
		commandStep{"config set interaction.access.people 123456789012345678", exitDone, "saved", ""},
		commandStep{"forget --server 7 --yes", exitDone, "session 2", ""},
		commandStep{"forget --person 123456789012345678 --yes", exitDone, "settings name them still: " +
			"interaction.access.people", ""},
	)
}
