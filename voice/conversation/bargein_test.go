package conversation_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/assistant"
	"clank/voice"
	"clank/voice/conversation"
)

const story = "There once was a lamp in a shop by the sea. It was green and rather old. Nobody wanted to buy it for years."

// telling returns a party with ada and bob in which a long answer to ada is being said.
func telling(t *testing.T, set func(*party)) *party {
	t.Helper()
	p := newParty(t)
	p.Options.TranscribeAll = true
	p.brain.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		if strings.Contains(turn.Lines[len(turn.Lines)-1].Text, "story") {
			return assistant.Answer{Text: story}, nil
		}
		return assistant.Answer{Text: "All right."}, nil
	}
	if set != nil {
		set(p)
	}
	p.begin("ada", "bob")
	p.says("ada", "clank, tell me a story")
	p.wait(2 * time.Second)
	if time.Since(p.mouth.last()) > 50*time.Millisecond {
		t.Fatalf("nothing is being said: %q", p.mouth.words())
	}
	return p
}

func TestSomebodySpeaksAndWeFallSilentWithin200Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		began := time.Now()
		p.sound("bob", time.Second)
		if got := p.mouth.last().Sub(began); got > 200*time.Millisecond {
			t.Errorf("we spoke for %v into what bob said", got)
		}
		p.end()
	})
}

func TestAShortSoundDoesNotStopUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		p.sound("ada", 240*time.Millisecond)
		p.wait(20 * time.Second)
		if got := p.mouth.words(); !strings.HasSuffix(got, story) {
			t.Errorf("said %q, want the whole story once", got)
		}
		p.end()
	})
}

func TestANewRequestEndsTheAnswerThatItInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		p.says("ada", "clank, enough of that, what time is it")
		p.wait(30 * time.Second)
		if got := p.mouth.words(); strings.Contains(got, "Nobody wanted") || !strings.HasSuffix(got, "All right.") {
			t.Errorf("said %q", got)
		}
		turn := p.brain.turns[1]
		mine := turn.Lines[len(turn.Lines)-2]
		if !mine.FromAssistant || strings.Contains(mine.Text, "Nobody") || len(mine.Notes) != 1 || !strings.Contains(mine.Notes[0], "Nobody wanted") {
			t.Errorf("what was said stands in the history as %+v", mine)
		}
		p.end()
	})
}

func TestTalkThatIsNotOursOnlyInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		p.says("bob", "could you pass me the salt")
		p.wait(30 * time.Second)
		if got := p.mouth.words(); !strings.HasSuffix(got, "Nobody wanted to buy it for years.") {
			t.Errorf("said %q, want the rest to be taken up", got)
		}
		if got := len(p.brain.asked()); got != 1 {
			t.Errorf("asked %d times", got)
		}
		p.end()
	})
}

func TestWhoMayInterrupt(t *testing.T) {
	for _, tc := range []struct {
		who  conversation.BargeIn
		by   string
		want bool
	}{
		{conversation.AnyoneBargesIn, "bob", true}, {conversation.AskerBargesIn, "bob", false}, {conversation.AskerBargesIn, "ada", true}, {conversation.NoBargeIn, "ada", false},
	} {
		t.Run(string(tc.who)+" "+tc.by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := telling(t, func(p *party) { p.Options.BargeIn = tc.who })
				began := time.Now()
				p.sound(tc.by, time.Second)
				if got := p.mouth.last().Sub(began) < 900*time.Millisecond; got != tc.want {
					t.Errorf("interrupted = %v, want %v", got, tc.want)
				}
				p.end()
			})
		})
	}
}

func TestOurOwnEchoDoesNotInterruptAndIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		began := time.Now()
		for range 6 { // bob's loudspeaker: sound that ends when we pause
			p.sound("bob", 100*time.Millisecond)
			p.wait(400 * time.Millisecond)
		}
		spoke := time.Now()
		p.sound("bob", 2*time.Second)
		if p.mouth.last().Before(spoke.Add(500 * time.Millisecond)) {
			t.Error("an echo still interrupts")
		}
		p.ear.tell.Ended(voice.Utterance{
			From: "bob", Packets: []voice.Packet{{Opus: []byte("once was a lamp in the shop by the sea, clank")}}, Began: began, Ended: time.Now(), Loud: true,
		})
		p.wait(30 * time.Second)
		if got := p.brain.asked(); len(got) != 1 {
			t.Errorf("asked %v, want the echo left out", got)
		}
		if !strings.HasSuffix(p.mouth.words(), "Nobody wanted to buy it for years.") {
			t.Errorf("said %q", p.mouth.words())
		}
		p.end()
	})
}
