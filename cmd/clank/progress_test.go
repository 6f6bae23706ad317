package main

import (
	"bytes"
	"testing"

	"clank/sessions"
)

func TestLiveLineIsRewrittenAndTakenAway(t *testing.T) {
	var b bytes.Buffer
	p := &progressPrinter{Out: &b, Width: 20}
	ev := func(label string) sessions.Event {
		return sessions.Event{Step: &sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: label}}
	}
	p.showEvent(ev("open something with a very long name"))
	p.showEvent(ev("b"))
	p.clearLine()
	if got, want := b.String(), "\r\x1b[K1 open something w…\r\x1b[K2 b …\r\x1b[K"; got != want {
		t.Errorf("terminal got %q, want %q", got, want)
	}
}

func TestStepsAreLinesWhereThereIsNoTerminal(t *testing.T) {
	var b bytes.Buffer
	p := newProgressPrinter(&b)
	step := func(kind sessions.StepKind, phase sessions.Phase, failed bool, text string) {
		p.showEvent(sessions.Event{Step: &sessions.Step{N: 1, Kind: kind, Phase: phase, Label: "click", Failed: failed, Text: text}})
	}
	p.showEvent(sessions.Event{Record: sessions.TaskRecord{State: sessions.TaskQueued, Position: 2}})
	step(sessions.StepThink, sessions.PhaseBegun, false, "")
	step(sessions.StepAct, sessions.PhaseBegun, false, "")
	step(sessions.StepAct, sessions.PhaseDone, false, "")
	step(sessions.StepAct, sessions.PhaseBegun, false, "")
	step(sessions.StepAct, sessions.PhaseDone, true, "covered\nby a banner")
	p.clearLine()
	if got, want := b.String(), "waiting, number 2 in line\n1  click\n2  click: covered\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClippedTextIsOneLine(t *testing.T) {
	for text, want := range map[string]string{"a\n b": "a b", "grün und": "grün…", "": ""} {
		if got := clipLine(text, 5); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
