package main

import (
	"bytes"
	"strings"
	"testing"
)

// testEnv is a world with a new home.
func testEnv(t *testing.T) (e *commandEnv, stdout, stderr *bytes.Buffer) {
	t.Helper()
	return newTestEnv(t)
}

func TestWrongUsageExitsWithTwoAndSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ args, want string }{
		{"", "Usage"},
		{"nonsense", `no command "nonsense"`},
		{"browse", "say what to do"},
		{"browse --max-steps -1 x", "--max-steps -1"},
		{"browse --max-steps many x", "invalid value"},
		{"browse --no-such-flag x", "no-such-flag"},
		{"browse one two", `unexpected argument "two"`},
		{"browse --screenshot /no/such/dir/a.png x", "no directory /no/such/dir"},
		{"version now", `unexpected argument "now"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			e, stdout, stderr := testEnv(t)
			if got := runCommandLine(t.Context(), e, strings.Fields(tc.args)); got != exitUsage {
				t.Errorf("exit code = %d, want %d", got, exitUsage)
			}
			if !strings.Contains(stderr.String(), tc.want) || stdout.Len() > 0 {
				t.Errorf("stderr = %q (stdout %q), want it to contain %q", stderr, stdout, tc.want)
			}
		})
	}
}

func TestHelpGoesToStdoutAndNamesEveryFlag(t *testing.T) {
	t.Parallel()
	e, stdout, _ := testEnv(t)
	if got := runCommandLine(t.Context(), e, []string{"browse", "--help"}); got != exitDone {
		t.Fatalf("exit code = %d", got)
	}
	for _, want := range []string{"--json", "--screenshot FILE", "--session ID", "--runtime NAME", "--model MODEL", "--max-steps N", "--headed", "130 stopped"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, stdout)
		}
	}
}
