package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// runWithEnv runs a command line within the test.
func runWithEnv(ctx context.Context, vars map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, talk bytes.Buffer
	e := &commandEnv{Stdout: &out, Stderr: &talk, Getenv: func(name string) string { return vars[name] }, AbortContext: ctx}
	code = runCommandLine(ctx, e, args)
	return code, out.String(), talk.String()
}

func TestBrowserCommandsKeepTheirExitCodes(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"tab not found"}`)
	}))
	defer s.Close()
	vars := map[string]string{"CLANK_HOME": t.TempDir(), "CLANK_BROWSER_URL": s.URL}
	for line, want := range map[string]struct {
		code int
		talk string
	}{
		"browser focus t9": {4, "clank browser focus: tab not found\n"},
		"browser focus":    {2, "clank browser focus: [tab] is missing: an id, t1 or a label\nsee \"clank browser focus --help\"\n"},
	} {
		code, stdout, stderr := runWithEnv(t.Context(), vars, strings.Fields(line)...)
		if code != want.code || stdout != "" || stderr != want.talk {
			t.Errorf("%s: got %d %q %q, want %+v", line, code, stdout, stderr, want)
		}
	}
}

func TestCompletionKnowsEveryCommand(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runWithEnv(t.Context(), nil, "completion", "bash")
	if code != 0 || stderr != "" {
		t.Fatalf("got %d %q", code, stderr)
	}
	for _, c := range topCommands() {
		if !strings.Contains(stdout, c.name) {
			t.Errorf("%s is missing", c.name)
		}
	}
	if code, _, _ := runWithEnv(t.Context(), nil, "completion", "tcsh"); code != exitUsage {
		t.Errorf("another shell: got %d, want %d", code, exitUsage)
	}
	if code, _, _ := runWithEnv(t.Context(), nil, "completion"); code != exitUsage {
		t.Errorf("no shell: got %d, want %d", code, exitUsage)
	}
}
