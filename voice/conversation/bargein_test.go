package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/voice"
	"clank/voice/conversation"
)

const story = "There once was a lamp in a shop by the sea. It was green and rather old. Nobody wanted to buy it for years."

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
		if !mine.FromAssistant || strings.Contains(mine.Text, "Nobody") || len(mine.Notes) != 1 || !strings.Contains(mine.Notes[0], "Nobody wanted") {
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
		{conversation.AnyoneBargesIn, "bob", true}, {conversation.AskerBargesIn, "bob", false}, {conversation.AskerBargesIn, "ada", true}, {conversation.NoBargeIn, "ada", false},
	} {
		t.Run(string(tc.who)+" "+tc.by, func(t *testing.T) {
			whileTelling(t, tc.who, func(p *party) {
				began := time.Now()
				p.sound(tc.by, time.Second)
				if got := p.mouth.last().Sub(began) <= 200*time.Millisecond; got != tc.want {
					t.Errorf("silent within 200 ms = %v, want %v", got, tc.want)
				}
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

// pauses has somebody say something and be silent for 350 ms. It returns what is to be told when they have ended.
func (p *party) pauses(id, text string) voice.Utterance {
	u := voice.Utterance{From: id, Packets: []voice.Packet{{From: id, Opus: []byte(text)}}, Began: time.Now(), Loud: true}
	p.sound(id, time.Second)
	u.Ended = time.Now()
	p.wait(350 * time.Millisecond)
	p.ear.tell.Paused(u)
	p.wait(0)
	return u
}

func TestWordsAreReadyWhenItIsCertainThatSomebodyHasEnded(t *testing.T) {
	inParty(t, func(p *party) {
		p.words.took = 400 * time.Millisecond // and 100 more
		p.begin("ada")
		for n := 1; n <= 3; n++ {
			u := p.pauses("ada", "how late is it")
			p.wait(350 * time.Millisecond)
			p.ear.tell.Ended(u)
			p.wait(140 * time.Millisecond)
			if len(p.brain.asked()) == n {
				t.Error("asked before the words were there")
			}
			p.wait(20 * time.Millisecond)
			if len(p.brain.asked()) != n || p.words.calls.Load() != int64(n) {
				t.Errorf("after %d utterances: %d transcriptions, asked %v", n, p.words.calls.Load(), p.brain.asked())
			}
			p.wait(5 * time.Second)
		}
	})
}

func TestWhoGoesOnIsHeardAsAWhole(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		u := p.pauses("ada", "look up")
		p.wait(200 * time.Millisecond) // the words are there
		p.sound("ada", time.Second)    // and they go on
		for range 3 {
			p.ear.tell.Paused(u)
			p.wait(10 * time.Millisecond)
			p.ear.tell.Speaking("ada", 2*time.Second, false)
			p.wait(10 * time.Millisecond)
			if n := p.words.running.Load(); n != 0 {
				t.Errorf("%d transcriptions go on of what is not whole", n)
			}
		}
		u.Packets, u.Ended = []voice.Packet{{From: "ada", Opus: []byte("look up the ferries")}}, time.Now()
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		p.wantAsked("Ada: look up the ferries")
		if got := p.words.calls.Load(); got != 3 { // two in pauses, and the whole
			t.Errorf("%d transcriptions, want 3", got)
		}
	})
}

func TestAFailureInAPauseIsTriedAgain(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.words.err = errors.New("busy")
		u := p.pauses("ada", "how late is it")
		p.wait(200 * time.Millisecond)
		p.words.err = nil
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 1 || p.words.calls.Load() != 2 {
			t.Errorf("asked %v after %d transcriptions", got, p.words.calls.Load())
		}
	})
}

func TestWhoIsLeftOutInAPauseIsNotPutIntoWords(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		u := p.pauses("ada", "how late is it")
		if p.words.running.Load() != 1 {
			p.t.Fatal("nothing is put into words")
		}
		p.optOut("ada", true)
		p.wait(60 * time.Millisecond)
		if n := p.words.running.Load(); n != 0 {
			t.Errorf("%d transcriptions go on", n)
		}
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		p.wantQuestions(0)
	})
}
