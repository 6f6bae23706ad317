package conversation_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/llm"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
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

// What the conversation itself takes: the transcriber of these tests takes 100 ms, which are over before the pause is, the brain nothing, the
// first packet of speech is there at once. The mouth waits for 60 ms of sound.
func TestAnAnswerBeginsAsSoonAsItsFirstSentenceCanBeHeard(t *testing.T) {
	inParty(t, func(p *party) {
		p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: &speaker{packets: slices.Repeat([][]byte{{1}}, 25)}})
		p.begin("ada")
		began := time.Now()
		p.sound("ada", time.Second)
		ended := time.Now()
		said := voice.Utterance{
			From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("how late is it")}}, Began: began, Ended: ended, Loud: true,
		}
		p.wait(350 * time.Millisecond) // as an ear notices that somebody may have ended, and that they have
		p.ear.tell.Paused(said)
		p.wait(350 * time.Millisecond)
		before := p.line.packets.Load()
		p.ear.tell.Ended(said)
		noticed := time.Now()
		for p.line.packets.Load() == before && time.Since(noticed) < 5*time.Second {
			p.wait(5 * time.Millisecond)
		}
		took := time.Since(noticed)
		t.Logf("from the end of the words to the first sound: %v, of which the pause is %v, in which the words are found", time.Since(ended), noticed.Sub(ended))
		if took > 100*time.Millisecond {
			t.Errorf("the first sound came %v after the utterance, want at most 100 ms", took)
		}
	})
}

// tone returns Opus packets of a sound as loud as speech.
func tone(t *testing.T, span time.Duration) [][]byte {
	t.Helper()
	enc, err := voice.NewOpusEncoder(voice.RateOpus)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for i := range span / voice.FrameTime {
		samples := make([]int16, 960)
		for j := range samples {
			at := float64(int(i)*960 + j)
			samples[j] = int16(6000 * math.Sin(at*0.05) * (0.5 + 0.5*math.Sin(at*0.0007)))
		}
		b, err := enc.Encode(samples)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// speaker says everything with the same sound.
type speaker struct {
	packets  [][]byte
	accounts chan llm.Account // for whom it spoke; nil: of no interest
}

func (s *speaker) Speak(ctx context.Context, _ string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if s.accounts != nil {
			s.accounts <- llm.AccountOf(ctx)
		}
		for _, p := range s.packets {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func TestFromThePacketToOurSilenceItTakesLessThan200Milliseconds(t *testing.T) {
	packets := tone(t, time.Second)
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{Text: story}, nil)
		heard := make(chan voice.Utterance, 1)
		p.NewDetector = func(h conversation.SpeechEvents) conversation.SpeechDetector {
			p.ear.tell, p.ear.closed = h, true
			said := h.Ended
			h.Ended = func(u voice.Utterance) {
				u.Packets = []voice.Packet{{Opus: []byte("hello there")}}
				heard <- u
				said(u)
			}
			return conversation.BindDetector(&vad.Detector{})(h)
		}
		spoken := &speaker{packets: packets}
		p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: spoken})
		p.begin("ada")
		p.says("ada", "tell me a story") // through the scripted end of utterance
		for p.line.last().Before(time.Now().Add(-30 * time.Millisecond)) {
			p.wait(voice.FrameTime)
		}
		began := time.Now()
		for i, b := range packets {
			p.line.events <- voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{
				From: "ada", Sequence: uint16(i), Timestamp: uint32(i * 960), Opus: b, At: time.Now(),
			}}
			p.wait(voice.FrameTime)
		}
		if took := p.line.last().Sub(began); took > 200*time.Millisecond {
			t.Errorf("we spoke for %v into what ada said", took)
		} else {
			t.Logf("silent %v after the first packet", took)
		}
		u := <-heard
		if !u.Loud {
			t.Error("the utterance is not loud")
		}
		p.wait(10 * time.Second)
		p.wantQuestions(2)
	})
}
