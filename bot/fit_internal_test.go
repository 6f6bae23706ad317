package bot

import (
	"strings"
	"testing"

	"clank/bot/markup"
	"clank/sessions"
)

func TestProgressOfManyBrowsesFitsAMessage(t *testing.T) {
	p := &progress{dirty: make(chan struct{}, 1)}
	long := strings.Repeat("*", 4000)
	for call := 1; call <= 3; call++ {
		p.event(call, long, event(long))
	}
	if n := markup.Size(p.view().content); n > markup.MaxMessage {
		t.Errorf("message of %d characters", n)
	}
}

func TestFooterGetsItsOwnMessageWhenThereIsNoRoom(t *testing.T) {
	got := compose(conclusion{text: strings.Repeat("x", markup.MaxMessage), footer: "-# footer"})
	if len(got) != 2 || got[1].content != "-# footer" {
		t.Errorf("views = %d", len(got))
	}
}

func event(text string) sessions.Event {
	return sessions.Event{
		Record: sessions.Record{State: sessions.TaskRunning},
		Step:   &sessions.Step{N: 1, Kind: sessions.StepAct, Label: text, Title: text, URL: text},
	}
}
