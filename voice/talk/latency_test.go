package talk_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
	"clank/voice/mouth"
	"clank/voice/talk"
)

// What the conversation itself takes: the transcriber of these tests takes 100 ms, the brain nothing, the first packet of speech is there
// at once. The mouth waits for 60 ms of sound.
func TestAnAnswerBeginsAsSoonAsItsFirstSentenceCanBeHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Mouth = talk.With(&mouth.Mouth{Line: p.line, Speaker: &speaker{packets: slices.Repeat([][]byte{{1}}, 25)}})
		p.begin("ada")
		began := time.Now()
		p.sound("ada", time.Second)
		ended := time.Now()
		p.wait(700 * time.Millisecond) // as an ear notices that somebody has ended
		before := p.line.packets()
		p.ear.tell.Said(voice.Utterance{
			From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("how late is it")}}, Began: began, Ended: ended, Loud: true,
		})
		noticed := time.Now()
		for p.line.packets() == before && time.Since(noticed) < 5*time.Second {
			p.wait(5 * time.Millisecond)
		}
		took := time.Since(noticed)
		t.Logf("from the end of the words to the first sound: %v, of which the pause is %v and the words take 100 ms", time.Since(ended), noticed.Sub(ended))
		if took > 200*time.Millisecond {
			t.Errorf("the first sound came %v after the utterance, want at most 200 ms", took)
		}
		p.end()
	})
}
