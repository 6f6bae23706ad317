package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"clank/internal/browsecli"
	"clank/internal/command"
)

func TestAllowTakesClassesOnly(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := testEnv(t)
	if code := run(t.Context(), e, []string{"browse", "--allow", "buy,fly", "x"}); code != command.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr.String(), "--allow fly: there are buy, delete, send") || stdout.Len() > 0 {
		t.Errorf("stderr %q, stdout %q", stderr, stdout)
	}
	if browsecli.Prompt(t.Context(), e, nil) != nil {
		t.Error("without a terminal somebody is asked")
	}
	e.TTY = func() (io.ReadCloser, error) { return io.NopCloser(new(bytes.Buffer)), nil }
	p := browsecli.Prompt(t.Context(), e, nil)
	browsecli.EndPrompt(e, p)
}
