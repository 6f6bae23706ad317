package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
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

func TestARunningServerIsBackedUpAndGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "CLANK_VAULT_KEYRING=off", passphraseName+"=correct horse battery")
	site := newCookieSite(t)
	serving := startServer(t, home, environ)
	does := func(environ []string, stdin, want string, args ...string) {
		t.Helper()
		e := envFromList(t, environ)
		e.Stdin = strings.NewReader(stdin)
		if got := runCommand(t.Context(), e, args...); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, want) {
			t.Fatalf("clank %v: exit code %d, %q, %q; want %q", args, got.code, got.stdout, got.stderr, want)
		}
	}
	does(environ, "", "", "config", "set", "interaction.sessions.record", "never")
	does(environ, "pass word\n", "is kept", "vault", "add", "office", "--origin", "https://office.example", "--user", "ada")
	does(environ, "", "", "watches", "add", site, "--says", "Sold out")
	code, out, told := runInProcess(t, environ, "browse", "--json", "open "+site+", read")
	var first browseOutcome
	if err := json.Unmarshal([]byte(out), &first); err != nil || code != exitDone || !strings.Contains(out, "stranger") {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, told)
	}
	does(environ, "", "", "sessions", "script", first.TaskID, "visit")

	dir := t.TempDir()
	plain, sealed := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed")
	does(environ, "", "a browser ran with clank", "backup", plain)
	does(environ, "", "stopped", "browser", "stop")
	does(environ, "", " files of ", "backup", "--encrypt", sealed)
	if code, _, told := runInProcess(t, environ, "restore", "--replace", sealed); code != exitFailed || !strings.Contains(told, "another clank uses this home") {
		t.Errorf("restore where it runs: exit code %d, %s", code, told)
	}
	serving.interrupt(t)
	serving.exitCode(t)

	second, other := newTestHome(t)
	other = append(other, "CLANK_VAULT_KEYRING=off", passphraseName+"=correct horse battery")
	if code, _, told := runInProcess(t, other, "restore", sealed); code != exitFailed || !strings.Contains(told, "--replace") {
		t.Errorf("restore where something is: exit code %d, %s", code, told)
	}
	does(other, "", "what was there before is in", "restore", "--replace", sealed)
	startServer(t, second, other)
	does(other, "", "never", "config", "get", "interaction.sessions.record")
	does(other, "", "office opens for", "vault", "test", "office")
	does(other, "", "Sold out", "watches")
	does(other, "", "visit", "sessions", "scripts")
	does(other, "", first.SessionID, "sessions")
	does(other, "", "Welcome back, Ada", "browse", "open "+site+", read")
	for _, left := range []string{home, second} {
		if folders, err := filepath.Glob(left + ".restoring-*"); err != nil || len(folders) > 0 {
			t.Errorf("left behind: %v, %v", folders, err)
		}
	}
	check.Must(t, os.Remove(sealed))
}
