package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestACommandThatOnlyTellsItsFlagsDoesNothing(t *testing.T) {
	e, stdout, _ := newTestEnv(t)
	var told []string
	e.DescribeFlags = func(fs *commandFlags) { fs.VisitAll(func(f *flag.Flag) { told = append(told, f.Name) }) }
	fs := newFlags("try", "clank try")
	fs.Bool("json", false, "print it as JSON")
	if err := e.parseFlags(fs, []string{"--no-such-flag"}, 0); !errors.Is(err, errHelpShown) {
		t.Errorf("got %v", err)
	}
	if strings.Join(told, " ") != "json" || stdout.Len() > 0 {
		t.Errorf("told %q, printed %q", told, stdout)
	}
}

func TestTheLogHasNoTimesAndKeepsItsLevel(t *testing.T) {
	for level, want := range map[string]string{
		"info": "level=INFO msg=here\nlevel=WARN msg=there\n", "warn": "level=WARN msg=there\n", "nonsense": "level=WARN msg=there\n",
	} {
		e, _, stderr := newTestEnv(t)
		l := e.newLogger(level)
		l.Info("here")
		l.Warn("there")
		if got := stderr.String(); got != want {
			t.Errorf("%s: got %q, want %q", level, got, want)
		}
	}
}

func TestAnExitHasItsCodeAndItsReason(t *testing.T) {
	why := errors.New("the reason")
	if err := error(&exitError{Code: 3, Err: why}); err.Error() != "the reason" || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := error(&exitError{Code: 3}); err.Error() != "exit 3" {
		t.Errorf("got %v", err)
	}
}

func TestJSONIsIndentedAndLeavesSignsAsTheyAre(t *testing.T) {
	var out bytes.Buffer
	if err := printIndentedJSON(&out, map[string]string{"a": "<b>&"}); err != nil || out.String() != "{\n  \"a\": \"<b>&\"\n}\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
