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

func TestClippedTextIsOneLine(t *testing.T) {
	for text, want := range map[string]string{"a\n b": "a b", "grün und": "grün…", "": ""} {
		if got := clipLine(text, 5); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
