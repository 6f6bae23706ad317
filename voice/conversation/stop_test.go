package conversation_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/voice"
	"clank/voice/conversation"
)

func TestWhoMayStopByVoice(t *testing.T) {
	for _, tc := range []struct {
		name    string
		people  []string
		channel string
		owner   string
		phrase  string
		by      string
		want    bool
	}{
		{"who asked", []string{"ada", "bob"}, "v", "ada", "stop", "ada", true},
		{"somebody else", []string{"ada", "bob"}, "v", "ada", "stop", "bob", false},
		{"somebody else, by our name", []string{"ada", "bob"}, "v", "ada", "clank stop", "bob", true},
		{"the only human here, of work of one who left", []string{"bob"}, "v", "ada", "stop", "bob", true},
		{"in the text channel, who asked", []string{"ada", "bob"}, "t", "ada", "stop", "ada", true},
		{"in the text channel, somebody else", []string{"ada", "bob"}, "t", "ada", "stop", "bob", false},
		{"in the text channel, by our name, of somebody here", []string{"ada", "bob"}, "t", "ada", "clank stop", "bob", true},
		{"in the text channel, by our name, of somebody who is not here", []string{"bob", "eve"}, "t", "ada", "clank stop", "bob", false},
		{"in another channel", []string{"ada"}, "x", "ada", "clank stop", "ada", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, spotted := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					p := newParty(t)
					p.Options.TranscribeAll = true
					p.begin(tc.people...)
					work := p.work(tc.channel, tc.owner)
					if spotted {
						p.sound(tc.by, 300*time.Millisecond)
						p.spots(tc.by, tc.phrase)
					} else {
						p.says(tc.by, strings.ReplaceAll(tc.phrase, "clank ", "Clank, ")+"!")
					}
					if got := work.Err() != nil; got != tc.want {
						t.Fatalf("spotted %v: stopped = %v, want %v", spotted, got, tc.want)
					}
					p.wait(5 * time.Second)
					if got := strings.Contains(p.mouth.words(), "Stopped.") && strings.Contains(p.chat.text(), "Stopped, as "); got != tc.want {
						t.Errorf("spotted %v: acknowledged = %v, want %v", spotted, got, tc.want)
					}
					if c := cancel.CauseOf(work, nil); tc.want && (c == nil || !strings.EqualFold(c.By, tc.by)) {
						t.Errorf("cause = %v", context.Cause(work))
					}
					p.end()
				})
			}
		})
	}
}

func TestAMisheardNameIsNoHindrance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		p.begin("ada", "bob")
		work := p.work("v", "ada")
		p.says("bob", "Plank, stop it!")
		if work.Err() == nil {
			t.Error("the work goes on")
		}
		p.end()
	})
}

func TestAStopEndsTheReplyAndItsSpeechAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "find a lamp")
		scope := cancel.Scope{Guild: "g", Channel: "v"}
		if got := p.scopes.Active(scope); len(got) != 1 || got[0].Owner != "ada" {
			t.Fatalf("active = %v, want the reply to ada", got)
		}
		p.sound("ada", 300*time.Millisecond)
		p.spots("ada", "stop")
		if got := p.scopes.Active(scope); len(got) != 0 {
			t.Errorf("active after the stop = %v", got)
		}
		before := p.words.calls()
		now := time.Now()
		p.ear.tell.Ended(voice.Utterance{From: "ada", Packets: []voice.Packet{{Opus: []byte("stop")}}, Began: now.Add(-400 * time.Millisecond), Ended: now, Loud: true})
		p.wait(10 * time.Second)
		if p.words.calls() != before || len(p.brain.asked()) != 1 {
			t.Errorf("the stop word was taken for talk, too: asked %v", p.brain.asked())
		}
		if got := strings.Count(p.mouth.words(), "Stopped."); got != 1 {
			t.Errorf("acknowledged %d times: %q", got, p.mouth.words())
		}
		p.end()
	})
}

func TestTwoWhoSayStopAtOnceStopOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob")
		p.work("v", "ada")
		p.sound("ada", 100*time.Millisecond)
		p.sound("bob", 100*time.Millisecond)
		p.spots("ada", "clank stop")
		p.spots("bob", "clank stop")
		p.spots("ada", "stop")
		p.wait(5 * time.Second)
		if got := strings.Count(p.chat.text(), "Stopped, as "); got != 1 {
			t.Errorf("written %d times: %q", got, p.chat.text())
		}
		if got := strings.Count(p.mouth.words(), "Stopped."); got != 1 {
			t.Errorf("said %d times: %q", got, p.mouth.words())
		}
		p.end()
	})
}

func TestAStopWordWhileNothingRunsIsTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		p.spots("ada", "stop")
		p.says("ada", "stop")
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 1 {
			t.Errorf("asked %v, want the word itself", got)
		}
		p.end()
	})
}

func TestWhatComesAfterAFalseStopIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "list the bus lines")
		began := time.Now()
		p.sound("ada", 3*time.Second)
		p.spots("ada", "stop")
		p.ear.tell.Ended(voice.Utterance{From: "ada", Packets: []voice.Packet{{Opus: []byte("only those that stop at the museum")}}, Began: began, Ended: time.Now(), Loud: true})
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 2 {
			t.Errorf("asked %v, want what was said with the stop in it", got)
		}
		p.end()
	})
}

func TestOurOwnWordsStopNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
			return assistant.Answer{Text: "You can say stop at any time, and then I stop."}, nil
		}
		p.begin("ada")
		p.says("ada", "how do I end this")
		work := p.work("v", "ada")
		p.wait(time.Second) // we speak
		p.spots("ada", "stop")
		now := time.Now()
		p.ear.tell.Ended(voice.Utterance{From: "ada", Packets: []voice.Packet{{Opus: []byte("Stop.")}}, Began: now.Add(-500 * time.Millisecond), Ended: now, Loud: true})
		for time.Since(p.mouth.last()) < 900*time.Millisecond { // what we said may still come back
			p.wait(100 * time.Millisecond)
		}
		p.spots("ada", "stop")
		if work.Err() != nil {
			t.Error("our own speech stopped the work")
		}
		p.wait(200 * time.Millisecond)
		p.spots("ada", "stop")
		if work.Err() == nil {
			t.Error("the same word by a person did not")
		}
		p.end()
	})
}

// TestAStopHoldsForAnAnswerThatIsNotToldYet stops a reply that has come to its end, before the call has taken notice of that.
func TestAStopHoldsForAnAnswerThatIsNotToldYet(t *testing.T) {
	scope := cancel.Scope{Guild: "g", Channel: "v"}
	for name, stop := range map[string]func(*party){
		"by voice":    func(p *party) { p.spots("ada", "stop") },
		"in the chat": func(p *party) { p.scopes.Stop(scope, cancel.Actor{ID: "ada"}, false) },
	} {
		for _, early := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newParty(t)
					answer, goOn := make(chan struct{}), make(chan struct{})
					p.brain.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
						<-answer
						return assistant.Answer{Text: "The ferry leaves at noon."}, nil
					}
					p.RecordLine = func(s conversation.TranscriptLine) {
						if s.Speaker.ID == "bob" { // what bob says keeps the call busy
							<-goOn
						}
					}
					p.Options.TranscribeAll = true
					p.begin("ada", "bob")
					p.says("ada", "Clank, when is the ferry?")
					p.sound("ada", 100*time.Millisecond)
					p.says("bob", "I like ferries.")
					if early {
						stop(p)
					}
					close(answer)
					synctest.Wait()
					if !early && name == "in the chat" {
						stop(p)
					}
					close(goOn)
					p.wait(5 * time.Second)
					told := p.mouth.words() + p.chat.text()
					if stopped := early || name == "in the chat"; strings.Contains(told, "noon") == stopped {
						t.Errorf("stopped before it was taken in: %v, told %q", stopped, told)
					}
					if got := p.scopes.Active(scope); len(got) != 0 {
						t.Errorf("active at the end: %v", got)
					}
					p.end()
				})
			})
		}
	}
}

func TestNothingCanBeStoppedAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "find a lamp")
		scope := cancel.Scope{Guild: "g", Channel: "v"}
		if got := p.scopes.Active(scope); len(got) != 1 {
			t.Fatalf("active = %v, want the reply to ada", got)
		}
		p.end()
		if got := p.scopes.Active(scope); len(got) != 0 {
			t.Errorf("after the call still active: %v", got)
		}
	})
}

func TestAStopReachesWhatRunsWhereTheCallIsAndWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		before := p.work("v", "bob")
		p.line.events <- voice.Event{Kind: voice.Moved, Text: "w"}
		p.line.events <- voice.Event{Kind: voice.Connected}
		p.wait(10 * time.Second)
		now, elsewhere := p.work("w", "bob"), p.work("x", "bob")
		p.sound("ada", 400*time.Millisecond)
		p.spots("ada", "stop")
		for where, w := range map[string]context.Context{"there": before, "here": now} {
			if w.Err() == nil {
				t.Errorf("what runs %s was not stopped", where)
			}
		}
		if elsewhere.Err() != nil {
			t.Errorf("what runs in a channel of no call was stopped: %v", context.Cause(elsewhere))
		}
		p.end()
	})
}
