package conversation_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/voice"
	"clank/voice/conversation"
)

func TestTheNoticeIsSaidAndWrittenAndTheyWhoComeLaterReadIt(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		for where, got := range map[string]string{"said": p.mouth.words(), "written": p.chat.text()} {
			for _, want := range []string{"listen", "lank privacy", "othing"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q in it", where, got, want)
				}
			}
		}
		p.wantCount(p.chat.text(), "Ada", 0)
		p.join("bob")
		p.leave("bob")
		p.join("bob")
		p.wantCount(p.chat.text(), "Hello, Bob.", 1)
	})
}

func TestWhoIsLeftOutIsNotHeardAtAll(t *testing.T) {
	inParty(t, func(p *party) {
		p.optOut("bob", true)
		p.begin("ada", "bob")
		p.sound("ada", 100*time.Millisecond)
		p.says("bob", "clank, hello there")
		if got := p.ear.heard("bob"); got != 0 || p.words.calls.Load() != 0 {
			t.Errorf("bob: %d packets heard, %d transcriptions; want none", got, p.words.calls.Load())
		}
		p.optOut("ada", true)
		before := p.ear.heard("ada")
		p.sound("ada", 100*time.Millisecond)
		if p.ear.heard("ada") != before || len(p.ear.forgot) == 0 || p.spot.open != 0 {
			t.Errorf("ada is heard after the command: forgot %v, %d spotters", p.ear.forgot, p.spot.open)
		}
	})
}

func TestWhatSomebodySaidIsDroppedWhenTheyAskToBeLeftOut(t *testing.T) {
	inParty(t, func(p *party) {
		p.Options.TranscribeAll = true
		kept := 0
		p.Recorder = recorder(func(s conversation.TranscriptLine) {
			if s.Speaker.ID == "ada" {
				kept++
			}
		})
		p.begin("ada", "bob")
		p.words.took = 10 * time.Second
		p.says("ada", "Clank, remember my secret.")
		p.says("ada", "Clank, it is the number seven.") // waits for its turn
		p.optOut("ada", true)
		p.wait(100 * time.Millisecond)
		if p.words.running.Load() != 0 {
			t.Error("what ada said is still being put into words")
		}
		p.wait(30 * time.Second)
		if got := p.brain.asked(); p.words.calls.Load() != 1 || len(got) != 0 || kept != 0 {
			t.Errorf("%d utterances sent, %d kept, asked %q; want what was on its way alone", p.words.calls.Load(), kept, got)
		}
		p.optOut("ada", false)
		p.words.took = 0
		p.says("ada", "Clank, hello again.")
		p.wantQuestions(1)
	})
}

func TestBotsAndWeOurselvesAreNotHeard(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.sound("me", 100*time.Millisecond)
		check.Equal(t, "packets of our own heard", p.ear.heard("me"), 0)
	})
}

func TestSayingClankPrivacyIsEnough(t *testing.T) {
	for _, spotted := range []bool{true, false} {
		inParty(t, func(p *party) {
			p.Options.TranscribeAll = true
			p.begin("ada", "bob")
			p.wait(10 * time.Second)
			if spotted {
				p.sound("bob", 100*time.Millisecond)
				p.spots("bob", "clank privacy")
			} else {
				p.says("bob", "Clank, privacy.")
			}
			p.wait(time.Second)
			if !p.privacy.OptedOut("g", "bob") || !strings.Contains(p.chat.text(), "Bob, I do not listen to you any more") {
				t.Errorf("left out %v; written %q", p.privacy.OptedOut("g", "bob"), p.chat.text())
			}
		})
	}
}

func TestTranscriptsAreKeptOnlyIfWanted(t *testing.T) {
	inParty(t, func(p *party) {
		var kept []string
		p.Recorder = recorder(func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) })
		p.begin("ada")
		p.says("ada", "hello there")
		p.wait(time.Second)
		check.Equal(t, "kept", strings.Join(kept, "; "), "Ada: hello there; : Very well.")
		p.wantCount(p.chat.text(), "nothing that is said is stored", 0)
		p.wantIn(p.chat.text(), "stored as text")
	})
}

func TestPeopleAreToldWhenACallIsNotEncryptedAnyMore(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.wantCount(p.chat.text(), "encrypted", 0)
		for kind, want := range map[voice.EventKind]string{
			voice.EncryptionOff: "not end-to-end encrypted",
			voice.EncryptionOn:  "encrypted again",
		} {
			p.line.events <- voice.Event{Kind: kind}
			p.wait(time.Second)
			p.wantIn(p.chat.text(), want)
		}
	})
}

func TestACallThatMustBeEncryptedIsLeftWhenItIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.RequireEncryption = true
		p.begin("ada")
		p.line.events <- voice.Event{Kind: voice.EncryptionOff}
		p.wait(time.Second)
		check.Fails(t, <-p.ended, conversation.ErrCallUnencrypted)
		check.Contains(t, p.chat.text(), "I have left the call", "not end-to-end encrypted")
		p.cancel(nil)
	})
}

func TestWhoeverIsWhereWeAreMovedToIsTold(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.leave("ada")
		p.line.events <- voice.Event{Kind: voice.Moved, Text: "w"}
		p.join("bob")
		said, written := len(p.mouth.words()), len(p.chat.text())
		p.line.events <- voice.Event{Kind: voice.Connected}
		p.wait(10 * time.Second)
		for where, got := range map[string]string{"said": p.mouth.words()[said:], "written": p.chat.text()[written:]} {
			if !strings.Contains(got, "listen") || !strings.Contains(got, "lank privacy") {
				t.Errorf("%s after a move: %q, want the notice again", where, got)
			}
		}
	})
}

func TestACallDoesNotGoOnWhereItMayNotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		no := errors.New("the operator does not let me join that channel")
		p.host.checkChannel = func(channel string) error {
			if channel == "forbidden" {
				return no
			}
			return nil
		}
		p.begin("ada")
		for range 20 {
			p.line.events <- voice.Event{Kind: voice.Moved, Text: "w"}
			p.line.events <- voice.Event{Kind: voice.Moved, Text: "v"}
		}
		p.wait(time.Second)
		p.line.events <- voice.Event{Kind: voice.Moved, Text: "forbidden"}
		if err := <-p.ended; !errors.Is(err, no) || !strings.Contains(p.chat.text(), no.Error()[4:]) {
			t.Errorf("ended with %v, having written %q", err, p.chat.text())
		}
		p.cancel(nil)
	})
}

func TestWhatIsUnderstoodAndSaidCanBeRead(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.says("ada", "clank, what time is it?")
		p.wait(5 * time.Second)
		p.chat.mu.Lock()
		read := slices.Clone(p.chat.shown)
		p.chat.mu.Unlock()
		if len(read) < 2 || read[0] != "Ada: clank, what time is it?" || !strings.HasPrefix(read[1], ": ") {
			t.Errorf("read: %q, want what Ada said and what we answered", read)
		}
		for _, line := range read[1:] {
			if strings.Contains(p.chat.text(), strings.TrimPrefix(line, ": ")) {
				t.Errorf("%q is both shown and written", line)
			}
		}
		p.wantCount(p.chat.text(), "is stored as text", 0)
	})
}

func TestWhereNobodyIsListedAsLeftOutPeopleAreToldToMute(t *testing.T) {
	inParty(t, func(p *party) {
		p.Privacy = nil
		p.begin("ada")
		for where, got := range map[string]string{"said": p.mouth.words(), "written": p.chat.text()} {
			if !strings.Contains(got, "ute your microphone") || strings.Contains(got, "lank privacy") {
				t.Errorf("%s: %q, want how to mute and no command", where, got)
			}
		}
		p.says("ada", "Clank, privacy.")
		p.wait(5 * time.Second)
		p.wantCount(p.mouth.words(), "Mute your microphone", 2)
		if first := p.chat.messages[0]; !first.IsNotice {
			t.Errorf("%q is no notice for those who come later", first.Text)
		}
	})
}
