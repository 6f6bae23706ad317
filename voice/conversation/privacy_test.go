package conversation_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
	"clank/voice/conversation"
)

func TestTheNoticeIsSaidAndWrittenAndTheyWhoComeLaterReadIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		for where, got := range map[string]string{"said": p.mouth.words(), "written": p.chat.text()} {
			for _, want := range []string{"listen", "lank privacy", "othing"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q in it", where, got, want)
				}
			}
		}
		if strings.Contains(p.chat.text(), "Ada") {
			t.Error("who was there before is told twice")
		}
		p.join("bob")
		p.leave("bob")
		p.join("bob")
		if got := strings.Count(p.chat.text(), "Hello, Bob."); got != 1 {
			t.Errorf("bob was told %d times, want once", got)
		}
		p.end()
	})
}

func TestWhoIsLeftOutIsNotHeardAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		if err := p.privacy.Set(t.Context(), "g", "bob", true); err != nil {
			t.Fatal(err)
		}
		p.begin("ada", "bob")
		p.sound("ada", 100*time.Millisecond)
		p.says("bob", "clank, hello there")
		if got := p.ear.heard("bob"); got != 0 || p.words.calls() != 0 {
			t.Errorf("bob: %d packets heard, %d transcriptions; want none", got, p.words.calls())
		}
		if err := p.privacy.Set(t.Context(), "g", "ada", true); err != nil { // as the command does
			t.Fatal(err)
		}
		before := p.ear.heard("ada")
		p.sound("ada", 100*time.Millisecond)
		if p.ear.heard("ada") != before || len(p.ear.forgot) == 0 || p.spot.open != 0 {
			t.Errorf("ada is heard after the command: forgot %v, %d spotters", p.ear.forgot, p.spot.open)
		}
		p.end()
	})
}

func TestWhatSomebodySaidIsDroppedWhenTheyAskToBeLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		kept := 0
		p.RecordLine = func(s conversation.TranscriptLine) {
			if s.Speaker.ID == "ada" {
				kept++
			}
		}
		p.begin("ada", "bob")
		p.words.took = 10 * time.Second
		p.says("ada", "Clank, remember my secret.")
		p.says("ada", "Clank, it is the number seven.")                      // waits for its turn
		if err := p.privacy.Set(t.Context(), "g", "ada", true); err != nil { // as the command does; ada is silent from here
			t.Fatal(err)
		}
		p.wait(100 * time.Millisecond)
		if p.words.running() != 0 {
			t.Error("what ada said is still being put into words")
		}
		p.wait(30 * time.Second)
		if got := p.brain.asked(); p.words.calls() != 1 || len(got) != 0 || kept != 0 {
			t.Errorf("%d utterances sent, %d kept, asked %q; want what was on its way alone", p.words.calls(), kept, got)
		}
		if err := p.privacy.Set(t.Context(), "g", "ada", false); err != nil {
			t.Fatal(err)
		}
		p.words.took = 0
		p.says("ada", "Clank, hello again.")
		if got := p.brain.asked(); len(got) != 1 {
			t.Errorf("asked %q of one who wants to be heard again", got)
		}
		p.end()
	})
}

func TestBotsAndWeOurselvesAreNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		p.sound("me", 100*time.Millisecond)
		if got := p.ear.heard("me"); got != 0 {
			t.Errorf("%d packets of our own heard", got)
		}
		p.end()
	})
}

func TestSayingClankPrivacyIsEnough(t *testing.T) {
	for _, spotted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t)
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
			p.end()
		})
	}
}

func TestTranscriptsAreKeptOnlyIfWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		var kept []string
		p.RecordLine = func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) }
		p.begin("ada")
		p.says("ada", "hello there")
		p.wait(time.Second)
		if got := strings.Join(kept, "; "); got != "Ada: hello there; : Very well." {
			t.Errorf("kept %q", got)
		}
		if got := p.chat.text(); strings.Contains(got, "nothing that is said is stored") || !strings.Contains(got, "stored as text") {
			t.Errorf("the notice says %q", got)
		}
		p.end()
	})
}

func TestPeopleAreToldWhenACallIsNotEncryptedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		if got := p.chat.text(); strings.Contains(got, "encrypted") {
			t.Errorf("told of an encryption that nothing has changed: %q", got)
		}
		for kind, want := range map[voice.EventKind]string{voice.EncryptionOff: "not end-to-end encrypted", voice.EncryptionOn: "encrypted again"} {
			p.line.events <- voice.Event{Kind: kind}
			p.wait(time.Second)
			if got := p.chat.text(); !strings.Contains(got, want) {
				t.Errorf("after %s: %q, want %q in it", kind, got, want)
			}
		}
		p.end()
	})
}

func TestWhoeverIsWhereWeAreMovedToIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
		p.end()
	})
}

func TestACallDoesNotGoOnWhereItMayNotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		no := errors.New("the operator does not let me join that channel")
		p.CheckChannel = func(channel string) error {
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
