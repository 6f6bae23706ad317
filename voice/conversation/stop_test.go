package conversation_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
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
		{
			"in the text channel, by our name, of somebody who is not here",
			[]string{"bob", "eve"},
			"t", "ada", "clank stop",
			"bob", false,
		},
		{"in another channel", []string{"ada"}, "x", "ada", "clank stop", "ada", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, spotted := range []bool{true, false} {
				inParty(t, func(p *party) {
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
						p.t.Fatalf("spotted %v: stopped = %v, want %v", spotted, got, tc.want)
					}
					p.wait(5 * time.Second)
					if got := strings.Contains(p.mouth.words(), "Stopped.") &&
						strings.Contains(p.chat.text(), "Stopped, as "); got != tc.want {
						t.Errorf("spotted %v: acknowledged = %v, want %v", spotted, got, tc.want)
					}
					if c := cancel.CauseOf(work, nil); tc.want && (c == nil || !strings.EqualFold(c.By, tc.by)) {
						t.Errorf("cause = %v", context.Cause(work))
					}
				})
			}
		})
	}
}

func TestAStopSilencesASharedPageForWhoeverMayStopAll(t *testing.T) {
	for _, tc := range []struct {
		people []string
		phrase string
		want   bool
	}{
		{[]string{"ada"}, "stop", true},
		{[]string{"ada", "bob"}, "clank stop", true},
		{[]string{"ada", "bob"}, "stop", false},
	} {
		inParty(t, func(p *party) {
			p.begin(tc.people...)
			p.mouth.mu.Lock()
			p.mouth.background = true
			p.mouth.mu.Unlock()
			p.sound("ada", 300*time.Millisecond)
			p.spots("ada", tc.phrase)
			p.wait(5 * time.Second)
			p.mouth.mu.Lock()
			silenced := !p.mouth.background
			p.mouth.mu.Unlock()
			if said := strings.Contains(p.mouth.words(), "Stopped."); silenced != tc.want || said != tc.want {
				p.t.Errorf("%q by one of %v: silenced %v, acknowledged %v, want %v", tc.phrase, tc.people, silenced, said, tc.want)
			}
		})
	}
}

func TestAMisheardNameIsNoHindrance(t *testing.T) {
	inParty(t, func(p *party) {
		p.Options.TranscribeAll = true
		p.begin("ada", "bob")
		work := p.work("v", "ada")
		p.says("bob", "Plank, stop it!")
		p.wantStopped(work)
	})
}

func TestAStopEndsTheReplyAndItsSpeechAtOnce(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "find a lamp")
		scope := cancel.Scope{Guild: "g", Channel: "v"}
		if got := p.scopes.Active(scope); len(got) != 1 || got[0].Owner != "ada" {
			p.t.Fatalf("active = %v, want the reply to ada", got)
		}
		p.sound("ada", 300*time.Millisecond)
		p.spots("ada", "stop")
		p.wantActive(0)
		before := p.words.calls.Load()
		now := time.Now()
		p.utter("ada", "stop", now.Add(-400*time.Millisecond), now)
		p.wait(10 * time.Second)
		if p.words.calls.Load() != before || len(p.brain.asked()) != 1 {
			t.Errorf("the stop word was taken for talk, too: asked %v", p.brain.asked())
		}
		p.wantCount(p.mouth.words(), "Stopped.", 1)
	})
}

func TestTwoWhoSayStopAtOnceStopOnce(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada", "bob")
		p.work("v", "ada")
		p.sound("ada", 100*time.Millisecond)
		p.sound("bob", 100*time.Millisecond)
		p.spots("ada", "clank stop")
		p.spots("bob", "clank stop")
		p.spots("ada", "stop")
		p.wait(5 * time.Second)
		p.wantCount(p.chat.text(), "Stopped, as ", 1)
		p.wantCount(p.mouth.words(), "Stopped.", 1)
	})
}

func TestAStopWordWhileNothingRunsIsTalk(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		p.spots("ada", "stop")
		p.says("ada", "stop")
		p.wait(time.Second)
		p.wantQuestions(1)
	})
}

func TestWhatComesAfterAFalseStopIsHeard(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "list the bus lines")
		began := time.Now()
		p.sound("ada", 3*time.Second)
		p.spots("ada", "stop")
		p.utter("ada", "only those that stop at the museum", began, time.Now())
		p.wait(time.Second)
		p.wantQuestions(2)
	})
}

func TestOurOwnWordsStopNothing(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{Text: "You can say stop at any time, and then I stop."}, nil)
		p.begin("ada")
		p.says("ada", "how do I end this")
		work := p.work("v", "ada")
		p.wait(time.Second) // we speak
		p.spots("ada", "stop")
		now := time.Now()
		p.utter("ada", "Stop.", now.Add(-500*time.Millisecond), now)
		for time.Since(p.mouth.last()) < 900*time.Millisecond { // what we said may still come back
			p.wait(100 * time.Millisecond)
		}
		p.spots("ada", "stop")
		if work.Err() != nil {
			t.Error("our own speech stopped the work")
		}
		p.wait(200 * time.Millisecond)
		p.spots("ada", "stop")
		p.wantStopped(work)
	})
}

// TestAStopHoldsForAnAnswerThatIsNotToldYet stops a reply that has come to its end, before the call has taken notice of
// that.
func TestAStopHoldsForAnAnswerThatIsNotToldYet(t *testing.T) {
	scope := cancel.Scope{Guild: "g", Channel: "v"}
	for name, stop := range map[string]func(*party){
		"by voice":    func(p *party) { p.spots("ada", "stop") },
		"in the chat": func(p *party) { p.scopes.Stop(scope, cancel.Actor{ID: "ada"}, false) },
	} {
		for _, early := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inParty(t, func(p *party) {
					answer, goOn := make(chan struct{}), make(chan struct{})
					p.brain.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
						<-answer
						return assistant.Answer{Text: "The ferry leaves at noon."}, nil
					}
					p.Recorder = recorder(func(s conversation.TranscriptLine) {
						if s.Speaker.ID == "bob" { // what bob says keeps the call busy
							<-goOn
						}
					})
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
					p.wantActive(0)
				})
			})
		}
	}
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

func TestTheSpotterIsToldWhoIsToBeListenedToFirst(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada", "bob", "eve")
		p.work("t", "ada")
		began := time.Now()
		for _, id := range []string{"ada", "bob", "eve"} {
			p.sound(id, 300*time.Millisecond)
		}
		p.spots("bob", "clank")
		p.sound("bob", 300*time.Millisecond)
		p.spot.mu.Lock()
		ada, bob, eve := p.spot.claim["ada"], p.spot.claim["bob"], p.spot.claim["eve"]
		p.spot.mu.Unlock()
		if !ada.Working || bob.Working || eve.Working {
			t.Errorf("ada %+v, bob %+v, eve %+v: want only what ada asked for to be done", ada, bob, eve)
		}
		if bob.LastAddressed.Before(began) || !eve.LastAddressed.IsZero() {
			t.Errorf("bob called at %v, eve at %v; want bob after %v, eve never", bob.LastAddressed, eve.LastAddressed, began)
		}
		if !eve.Less(bob) || !bob.Less(ada) || ada.Less(bob) {
			t.Error("want ada first, then bob, then eve")
		}
	})
}

func TestThatNotAllAreListenedToIsWrittenOnce(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada", "bob", "cy")
		said := func() int { return strings.Count(p.chat.text(), "cannot listen to all") }
		p.sound("ada", time.Second)
		check.Equal(t, "said()", said(), 0)
		p.spot.mu.Lock()
		p.spot.crowd = map[string]bool{"bob": true, "cy": true}
		p.spot.mu.Unlock()
		p.sound("bob", time.Second)
		p.sound("cy", time.Second)
		p.sound("bob", time.Second)
		if got := said(); got != 1 || !strings.Contains(p.chat.text(), "/clank privacy`.") {
			t.Errorf("written %d times, want once: %s", got, p.chat.text())
		}
	})
}

// begin has something done for a person in a channel.
func begin(t *testing.T, s *cancel.Scopes, channel, person string) context.Context {
	t.Helper()
	ctx, h := s.Begin(t.Context(), cancel.Scope{Guild: "g", Channel: channel},
		cancel.Work{ID: channel + "/" + person, Owner: person})
	t.Cleanup(h.End)
	return ctx
}

func TestWhatWorksIsSeenInAllChannels(t *testing.T) {
	work := &cancel.Scopes{}
	begin(t, work, "c0", "bob")
	begin(t, work, "asked", "cyd")
	r := conversation.NewWorkScopes(work, "g", "c0", "asked")
	for n := range 7 {
		r.MoveTo("c" + strconv.Itoa(n))
	}
	for person, want := range map[string]bool{"bob": true, "cyd": true, "ada": false} {
		check.Equal(t, "something is done for "+person, r.HasWork(person), want)
	}
	for n := range 20 {
		r.MoveTo("d" + strconv.Itoa(n))
	}
	if r.HasWork("bob") {
		t.Error("a channel that was left long ago is answered for")
	}
}
