package main

import (
	"bytes"
	"testing"
)

// newTestEnv makes a world whose home is a new directory, in which nobody is at the terminal, and nothing else is set.
func newTestEnv(tb testing.TB) (e *commandEnv, stdout, stderr *bytes.Buffer) {
	tb.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	dir := tb.TempDir()
	return &commandEnv{
		Stdout: stdout, Stderr: stderr, AbortContext: tb.Context(),
		Getenv: func(name string) string {
			if name == "CLANK_HOME" {
				return dir
			}
			return ""
		},
	}, stdout, stderr
}
