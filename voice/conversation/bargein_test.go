package conversation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/voice/conversation"
)

const story = "There once was a lamp in a shop by the sea. It was green and rather old. Nobody wanted to buy it " +
	"for years."

// whileTelling runs a test with ada and bob while a long answer to ada is being said.
func whileTelling(t *testing.T, who conversation.BargeIn, do func(p *party)) {
	t.Helper()
	inParty(t, func(p *party) {
		p.Options = conversation.Options{TranscribeAll: true, BargeIn: who}
		p.brain.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
			if strings.Contains(turn.Lines[len(turn.Lines)-1].Text, "story") {
				return assistant.Answer{Text: story}, nil
			}
			return assistant.Answer{Text: "All right."}, nil
		}
		p.begin("ada", "bob")
		p.says("ada", "clank, tell me a story")
		p.wait(2 * time.Second)
		if time.Since(p.mouth.last()) > 50*time.Millisecond {
			p.t.Fatalf("nothing is being said: %q", p.mouth.words())
		}
		do(p)
	})
}

func TestAShortSoundDoesNotStopUs(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.sound("ada", 240*time.Millisecond)
		p.wait(20 * time.Second)
		p.wantSuffix(p.mouth.words(), story)
	})
}

func TestANewRequestEndsTheAnswerThatItInterrupts(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.says("ada", "clank, enough of that, what time is it")
		p.wait(30 * time.Second)
		p.wantCount(p.mouth.words(), "Nobody wanted", 0)
		p.wantSuffix(p.mouth.words(), "All right.")
		turn := p.brain.turns[1]
		mine := turn.Lines[len(turn.Lines)-2]
		if !mine.FromAssistant || strings.Contains(mine.Text, "Nobody") || len(mine.Notes) != 1 ||
			!strings.Contains(mine.Notes[0], "Nobody wanted") {
			t.Errorf("what was said stands in the history as %+v", mine)
		}
	})
}

func TestTalkThatIsNotOursOnlyInterrupts(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.says("bob", "could you pass me the salt")
		p.wait(30 * time.Second)
		p.wantSuffix(p.mouth.words(), "Nobody wanted to buy it for years.")
		p.wantQuestions(1)
	})
}

func TestWhoMayInterrupt(t *testing.T) {
	for _, tc := range []struct {
		who  conversation.BargeIn
		by   string
		want bool
	}{
		{conversation.AnyoneBargesIn, "bob", true},
		{conversation.AskerBargesIn, "bob", false},
		{conversation.AskerBargesIn, "ada", true},
		{conversation.NoBargeIn, "ada", false},
	} {
		t.Run(string(tc.who)+" "+tc.by, func(t *testing.T) {
			whileTelling(t, tc.who, func(p *party) {
				began := time.Now()
				p.sound(tc.by, time.Second)
				check.Equal(t, "silent within 200 ms", p.mouth.last().Sub(began) <= 200*time.Millisecond, tc.want)
			})
		})
	}
}

func TestOurOwnEchoDoesNotInterruptAndIsNotAnswered(t *testing.T) {
	whileTelling(t, "", func(p *party) {
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
		p.utter("bob", "once was a lamp in the shop by the sea, clank", began, time.Now())
		p.wait(30 * time.Second)
		p.wantQuestions(1)
		p.wantSuffix(p.mouth.words(), "Nobody wanted to buy it for years.")
	})
}
