// Package commandtest is a world for commands in tests: an empty home, and what they print.
package commandtest

import (
	"bytes"
	"testing"

	"clank/internal/command"
)

// Env makes a world whose home is a new directory, in which nobody is at the terminal, and nothing else is set.
func Env(tb testing.TB) (e *command.Env, stdout, stderr *bytes.Buffer) {
	tb.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	dir := tb.TempDir()
	return &command.Env{
		Stdout: stdout, Stderr: stderr, Hurry: tb.Context(),
		Getenv: func(name string) string {
			if name == "CLANK_HOME" {
				return dir
			}
			return ""
		},
	}, stdout, stderr
}
