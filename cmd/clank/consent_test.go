package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestAllowTakesClassesOnly(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := testEnv(t)
	if code := runCommandLine(t.Context(), e, []string{"browse", "--allow", "buy,fly", "x"}); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr.String(), "--allow fly: there are buy, delete, send") || stdout.Len() > 0 {
		t.Errorf("stderr %q, stdout %q", stderr, stdout)
	}
	if startPrompt(t.Context(), e, nil) != nil {
		t.Error("without a terminal somebody is asked")
	}
	e.TTY = func() (io.ReadCloser, error) { return io.NopCloser(new(bytes.Buffer)), nil }
	p := startPrompt(t.Context(), e, nil)
	endPrompt(e, p)
}
