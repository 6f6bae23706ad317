package conversation_test

import (
	"testing"
	"time"

	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
)

// span is an answer of which so much was heard.
type span time.Duration

func (s span) Played() time.Duration { return time.Duration(s) }

func TestNothingWasHeardOfAnAnswerThatHasNotBegun(t *testing.T) {
	var p conversation.PendingPlayback
	if got := p.Played(); got != 0 {
		t.Errorf("%v of it was heard", got)
	}
	p.Attach(span(time.Second))
	if got := p.Played(); got != time.Second {
		t.Errorf("%v of it was heard, want what is played", got)
	}
}

func TestWhoAsksIsWhoSpokeLast(t *testing.T) {
	var a conversation.CurrentAsker
	if o, known := a.Get(); known {
		t.Errorf("%+v asks before anybody spoke", o)
	}
	for _, user := range []string{"ada", "bob"} {
		a.Set(sessions.Origin{User: user})
		if o, known := a.Get(); !known || o.User != user {
			t.Errorf("%+v asks, known %v; want %s", o, known, user)
		}
	}
}

func TestWhatWasSaidBeforeOurNameIsKeptForThreeSeconds(t *testing.T) {
	var b conversation.PreWakeBuffer
	for n := range 1000 {
		b.Add(voice.Sound{From: "ada", Samples: []int16{int16(n)}})
	}
	b.Add(voice.Sound{From: "bob"})
	got := b.Drain("ada")
	if len(got) != 150 || got[0].Samples[0] != 850 || got[149].Samples[0] != 999 {
		t.Errorf("%d pieces are kept, want the last 150 in order", len(got))
	}
	if again := b.Drain("ada"); len(again) > 0 {
		t.Errorf("%d pieces are kept of what was taken", len(again))
	}
	if bobs := b.Drain("bob"); len(bobs) != 1 {
		t.Errorf("%d pieces of bob's, want one", len(bobs))
	}
}
