package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsMayStandBeforeAndAfterTheArguments(t *testing.T) {
	for _, line := range [][]string{{"--n", "3", "task"}, {"task", "--n", "3"}, {"--n=3", "--", "task"}} {
		fs := newFlags("x", "x")
		n := fs.Int("n", 0, "")
		if err := fs.Read(&strings.Builder{}, line, 1); err != nil || *n != 3 || !cmp.Equal(fs.Rest, []string{"task"}) {
			t.Errorf("%v: n = %d, rest = %v, err = %v", line, *n, fs.Rest, err)
		}
	}
	fs := newFlags("x", "x")
	if err := fs.Read(&strings.Builder{}, []string{"--", "--task"}, 1); err != nil || !cmp.Equal(fs.Rest, []string{"--task"}) {
		t.Errorf("after --: rest = %v, err = %v", fs.Rest, err)
	}
}

func TestWrongUseIsToldFromFailure(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"a b", `unexpected argument "b"`},
		{"--no-such", "not defined: -no-such"},
		{"--n x", `invalid value "x"`},
		{"-- a --n", `unexpected argument "--n"`},
	} {
		fs := newFlags("x", "x")
		fs.Int("n", 0, "")
		var out strings.Builder
		err := fs.Read(&out, strings.Fields(tc.line), 1)
		var usage *usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tc.want) || out.Len() > 0 {
			t.Errorf("%s: got %v and printed %q, want %q", tc.line, err, &out, tc.want)
		}
	}
	cause := errors.New("cause")
	if err := usagef("so: %w", cause); err.Error() != "so: cause" || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestHelpShowsFlagsWithTheirDefaults(t *testing.T) {
	fs := newFlags("x", "clank x [flags]")
	fs.String("name", "ada", "who, by `NAME`")
	fs.Bool("quiet", false, "say nothing")
	var out strings.Builder
	if err := fs.Read(&out, []string{"a", "--help"}, 0); !errors.Is(err, errHelpShown) {
		t.Errorf("got %v, want that help was shown", err)
	}
	want := `Usage: clank x [flags]

Flags:
  --name NAME          who, by NAME (default ada)
  --quiet              say nothing
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
