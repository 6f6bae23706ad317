package conversation_test

import (
	"context"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/voice"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
)

// What the conversation itself takes: the transcriber of these tests takes 100 ms, which are over before the pause is,
// the brain nothing, the first packet of speech is there at once. The mouth waits for 60 ms of sound.
func TestAnAnswerBeginsAsSoonAsItsFirstSentenceCanBeHeard(t *testing.T) {
	inParty(t, func(p *party) {
		p.Player = &playout.Player{Line: p.line, Synthesizer: &speaker{packets: slices.Repeat([][]byte{{1}}, 25)}}
		p.begin("ada")
		began := time.Now()
		p.sound("ada", time.Second)
		ended := time.Now()
		said := voice.Utterance{
			From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("how late is it")}}, Began: began, Ended: ended,
			Loud: true,
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
		t.Logf("from the end of the words to the first sound: %v, of which the pause is %v, in which the words are found",
			time.Since(ended), noticed.Sub(ended))
		if took > 100*time.Millisecond {
			t.Errorf("the first sound came %v after the utterance, want at most 100 ms", took)
		}
	})
}

// tone returns Opus packets of a sound as loud as speech.
func tone(t *testing.T, span time.Duration) [][]byte {
	t.Helper()
	enc, err := voice.NewOpusEncoder(voice.RateOpus)
	check.Must(t, err)
	var out [][]byte
	for i := range span / voice.FrameTime {
		samples := make([]int16, 960)
		for j := range samples {
			at := float64(int(i)*960 + j)
			samples[j] = int16(6000 * math.Sin(at*0.05) * (0.5 + 0.5*math.Sin(at*0.0007)))
		}
		b, err := enc.Encode(samples)
		check.Must(t, err)
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

// worded is a detector whose utterances have words for the scripted transcriber.
type worded struct {
	*vad.Detector

	ear   *scriptedEar
	heard chan voice.Utterance
}

func (w worded) Run(ctx context.Context, on vad.Listener) error {
	w.ear.tell, w.ear.closed = on, true
	return w.Detector.Run(ctx, wording{on, w.heard})
}

// wording puts words into utterances.
type wording struct {
	vad.Listener

	heard chan<- voice.Utterance
}

func (w wording) Ended(u voice.Utterance) {
	u.Packets = []voice.Packet{{Opus: []byte("hello there")}}
	w.heard <- u
	w.Listener.Ended(u)
}

func TestFromThePacketToOurSilenceItTakesLessThan200Milliseconds(t *testing.T) {
	packets := tone(t, time.Second)
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{Text: story}, nil)
		heard := make(chan voice.Utterance, 1)
		p.Detector = worded{&vad.Detector{}, p.ear, heard}
		spoken := &speaker{packets: packets}
		p.Player = &playout.Player{Line: p.line, Synthesizer: spoken}
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
