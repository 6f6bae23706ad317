package terminal_test

import (
	"bytes"
	"testing"

	"clank/internal/terminal"
	"clank/sessions"
)

func TestLiveLineIsRewrittenAndTakenAway(t *testing.T) {
	var b bytes.Buffer
	p := &terminal.Progress{Out: &b, Width: 20}
	ev := func(label string) sessions.Event {
		return sessions.Event{Step: &sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.Begun, Label: label}}
	}
	p.Watch(ev("open something with a very long name"))
	p.Watch(ev("b"))
	p.Clear()
	if got, want := b.String(), "\r\x1b[K1 open something w…\r\x1b[K2 b …\r\x1b[K"; got != want {
		t.Errorf("terminal got %q, want %q", got, want)
	}
}

func TestStepsAreLinesWhereThereIsNoTerminal(t *testing.T) {
	var b bytes.Buffer
	p := terminal.NewProgress(&b)
	step := func(kind sessions.StepKind, phase sessions.Phase, failed bool, text string) {
		p.Watch(sessions.Event{Step: &sessions.Step{N: 1, Kind: kind, Phase: phase, Label: "click", Failed: failed, Text: text}})
	}
	p.Watch(sessions.Event{Record: sessions.Record{State: sessions.TaskQueued, Position: 2}})
	step(sessions.StepThink, sessions.Begun, false, "")
	step(sessions.StepAct, sessions.Begun, false, "")
	step(sessions.StepAct, sessions.Done, false, "")
	step(sessions.StepAct, sessions.Begun, false, "")
	step(sessions.StepAct, sessions.Done, true, "covered\nby a banner")
	p.Clear()
	if got, want := b.String(), "waiting, number 2 in line\n1  click\n2  click: covered\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClippedTextIsOneLine(t *testing.T) {
	for text, want := range map[string]string{"a\n b": "a b", "grün und": "grün…", "": ""} {
		if got := terminal.Clip(text, 5); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
