package bot

import (
	"strings"
	"testing"

	"clank/bot/discord"
	"clank/sessions"
)

func TestProgressOfManyBrowsesFitsAMessage(t *testing.T) {
	p := &progress{dirty: make(chan struct{}, 1)}
	long := strings.Repeat("*", 4000)
	for call := 1; call <= 3; call++ {
		p.handleEvent(call, long, event(long))
	}
	if n := discord.MessageLength(p.view().content); n > discord.MaxMessageLength {
		t.Errorf("message of %d characters", n)
	}
}

func TestFooterGetsItsOwnMessageWhenThereIsNoRoom(t *testing.T) {
	got := composeMessages("", finalMessage{text: strings.Repeat("x", discord.MaxMessageLength), footer: "-# footer"})
	if len(got) != 2 || got[1].content != "-# footer" {
		t.Errorf("views = %d", len(got))
	}
}

func event(text string) sessions.Event {
	return sessions.Event{
		Record: sessions.TaskRecord{State: sessions.TaskRunning},
		Step:   &sessions.Step{N: 1, Kind: sessions.StepAct, Label: text, Title: text, URL: text},
	}
}
