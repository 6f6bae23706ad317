package conversation_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

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
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
			if len(p.brain.asked()) != n || p.words.calls() != n {
				t.Errorf("after %d utterances: %d transcriptions, asked %v", n, p.words.calls(), p.brain.asked())
			}
			p.wait(5 * time.Second)
		}
		p.end()
	})
}

func TestWhoGoesOnIsHeardAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		u := p.pauses("ada", "look up")
		p.wait(200 * time.Millisecond) // the words are there
		p.sound("ada", time.Second)    // and they go on
		for range 3 {
			p.ear.tell.Paused(u)
			p.wait(10 * time.Millisecond)
			p.ear.tell.Speaking("ada", 2*time.Second, false)
			p.wait(10 * time.Millisecond)
			if n := p.words.running(); n != 0 {
				t.Errorf("%d transcriptions go on of what is not whole", n)
			}
		}
		u.Packets, u.Ended = []voice.Packet{{From: "ada", Opus: []byte("look up the ferries")}}, time.Now()
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		if diff := cmp.Diff([]string{"Ada: look up the ferries"}, p.brain.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if got := p.words.calls(); got != 3 { // two in pauses, and the whole
			t.Errorf("%d transcriptions, want 3", got)
		}
		p.end()
	})
}

func TestAFailureInAPauseIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		p.words.err = errors.New("busy")
		u := p.pauses("ada", "how late is it")
		p.wait(200 * time.Millisecond)
		p.words.err = nil
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 1 || p.words.calls() != 2 {
			t.Errorf("asked %v after %d transcriptions", got, p.words.calls())
		}
		p.end()
	})
}

func TestAPauseOfWhoIsNotSpeakingToUsIsNotSentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob")
		p.pauses("ada", "pass me the salt")
		if got := p.words.calls(); got != 0 {
			t.Errorf("%d transcriptions", got)
		}
		p.end()
	})
}

func TestWhoIsLeftOutInAPauseIsNotPutIntoWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		u := p.pauses("ada", "how late is it")
		if p.words.running() != 1 {
			t.Fatal("nothing is put into words")
		}
		if err := p.privacy.Set(t.Context(), "g", "ada", true); err != nil {
			t.Fatal(err)
		}
		p.wait(60 * time.Millisecond)
		if n := p.words.running(); n != 0 {
			t.Errorf("%d transcriptions go on", n)
		}
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 0 {
			t.Errorf("asked %v", got)
		}
		p.end()
	})
}
