package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/realtime"
	"clank/voice/speech/playout"
)

// model is a native model that the test drives.
type model struct {
	on realtime.Listener

	mu          sync.Mutex
	heard       map[string]time.Duration
	rate        int
	interrupted []time.Duration // how much of the answer was played then
	cancelled   error
	stoppedBy   []string // what was cancelled, by who had asked for it; "" for all
	playing     realtime.PlaybackPosition
	fails       chan error
}

func (m *model) Run(ctx context.Context, on realtime.Listener) error {
	m.on = on
	select {
	case err := <-m.fails:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (m *model) Hear(s voice.Sound) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rate = s.Rate
	m.heard[s.From] += time.Duration(len(s.Samples)) * time.Second / time.Duration(s.Rate)
}

func (m *model) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.interrupted = append(m.interrupted, m.playing.Played())
}

func (m *model) Cancel(cause error, person string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelled, m.stoppedBy = cause, append(m.stoppedBy, person)
}

func (m *model) hears(id string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard[id]
}

// answers has the model say something that lasts for so long.
func (m *model) answers(p *party, span time.Duration) {
	m.playing = m.on.Speak([]string{"ada"}, func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for range span / voice.FrameTime {
				if ctx.Err() != nil || !yield([]byte{1}, nil) {
					return
				}
			}
		}
	})
	p.wait(500 * time.Millisecond)
}

func nativeParty(t *testing.T) (*party, *model) {
	t.Helper()
	p := newParty(t)
	m := &model{heard: map[string]time.Duration{}, fails: make(chan error, 1)}
	p.Native = m
	p.Player = &playout.Player{Line: p.line, Synthesizer: &speaker{packets: [][]byte{{1}}}}
	return p, m
}

func inNativeParty(t *testing.T, do func(p *party, m *model)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		do(p, m)
		p.end()
	})
}

func TestANativeModelHearsThoseWhoSpeakToUs(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada", "bob")
		p.sound("ada", 2*time.Second)
		p.sound("bob", 2*time.Second)
		if m.hears("ada") != 0 || m.hears("bob") != 0 {
			t.Errorf("heard %v of ada and %v of bob, who speak with each other", m.hears("ada"), m.hears("bob"))
		}
		p.spots("ada", "clank")
		if got := m.hears("ada"); got < time.Second {
			t.Errorf("heard %v of ada, want what came before our name too", got)
		}
		p.leave("bob")
		p.sound("ada", time.Second)
		if got := m.hears("ada"); got < 2500*time.Millisecond || m.hears("bob") != 0 || m.rate != voice.RateRealtime {
			t.Errorf("heard %v of ada at %d Hz, %v of bob", got, m.rate, m.hears("bob"))
		}
	})
}

func TestANativeModelGetsNothingOfThoseWhoAskToBeLeftOut(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada", "bob")
		p.sound("ada", 2*time.Second)
		p.optOut("ada", true)
		p.spots("ada", "clank")
		p.wait(time.Second)
		check.Equal(t, "the model heard of one who is left out", m.hears("ada"), 0)
	})
}

func TestANativeAnswerIsInterruptedAndTheModelKnowsHowMuchWasHeard(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada")
		m.answers(p, 20*time.Second)
		p.sound("ada", time.Second)
		if n := len(m.interrupted); n != 1 || m.interrupted[0] < 400*time.Millisecond ||
			m.interrupted[0] > 700*time.Millisecond {
			t.Errorf("interrupted %v, want once, after about half a second", m.interrupted)
		}
		if since := time.Since(p.line.last()); since < 500*time.Millisecond {
			t.Errorf("something was played %v ago", since)
		}
		p.wait(time.Second)
		m.answers(p, time.Second)
		m.on.StopPlayback(errors.New("somebody speaks"))
		p.wait(100 * time.Millisecond)
		if got := m.playing.Played(); got == 0 || got > 700*time.Millisecond {
			t.Errorf("%v were heard of an answer that the model has ended", got)
		}
	})
}

func TestANativeAnswerIsStoppedFromTheChat(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		p.wait(2 * time.Second)
		m.answers(p, 20*time.Second)
		p.wait(time.Second)
		if stopped, _ := p.scopes.Stop(cancel.Scope{Guild: "g", Channel: "v"}, cancel.Actor{ID: "ada", Name: "Ada"},
			false); len(stopped) != 1 {
			t.Errorf("stopped %+v, want what she is told", stopped)
		}
		p.wait(time.Second)
		if since := time.Since(p.line.last()); since < 900*time.Millisecond {
			t.Errorf("something was played %v ago", since)
		}
		if len(m.interrupted) != 1 || m.interrupted[0] < 500*time.Millisecond || m.interrupted[0] > 2*time.Second {
			t.Errorf("interrupted %v, want once, after what was played", m.interrupted)
		}
	})
}

func TestANativeConversationEndsWithItsBudgetAndItsErrors(t *testing.T) {
	for _, spent := range []bool{true, false} {
		inNativeParty(t, func(p *party, m *model) {
			p.begin("ada")
			if strings.Contains(p.chat.text(), "neither hear") {
				p.t.Fatalf("ended early: %q", p.chat.text())
			}
			want := "The key was refused"
			if spent {
				want = "Today's budget is spent"
				m.fails <- &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent: 1 of 1 USD for today"}
			} else {
				m.fails <- errors.New("the key was refused")
			}
			p.wait(time.Second)
			p.wantIn(p.chat.text(), want, "/clank join")
			p.sound("ada", time.Second)
		})
	}
}

func TestANativeModelKnowsWhoItTalksWithAndShowsThings(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada")
		check.Fails(t, check.Err(m.on.Asker(t.Context(), nil)), nil, "nobody has spoken yet")
		p.sound("ada", 100*time.Millisecond)
		if o, err := m.on.Asker(t.Context(), []string{"ada"}); err != nil || o.UserName != "Ada" || o.Channel != "v" {
			t.Errorf("it talks with %+v, %v", o, err)
		}
		m.on.Show("a picture", nil)
		p.wait(time.Second)
		p.wantIn(p.chat.text(), "a picture")
	})
}

func TestAToolOfANativeModelHasTheRightsOfThoseWhoAskedForIt(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		p.host.sameRights = func(a, b sessions.Origin) bool { return a.User != "cy" && b.User != "cy" }
		p.begin("ada", "bob", "cy")
		for _, who := range []string{"ada", "cy", "bob"} { // Bob comes last
			p.sound(who, 100*time.Millisecond)
			p.spots(who, "clank")
		}
		const several = "several people spoke"
		for by, want := range map[string]string{
			"ada": "ada", "bob": "bob", "cy": "cy", "ada+bob": "bob", "dan": "nobody has spoken",
			"ada+cy": several, "ada+bob+cy": several, "": several, "+ada": several, "ada+dan": several,
		} {
			o, err := m.on.Asker(t.Context(), strings.Split(by, "+"))
			if got := o.User; got != want && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("by %q it is done for %q, %v, want %q", by, got, err, want)
			}
		}
	})
	inNativeParty(t, func(p *party, m *model) { // where nothing is known of rights
		p.begin("ada", "bob")
		for _, who := range []string{"ada", "bob"} {
			p.sound(who, 100*time.Millisecond)
			p.spots(who, "clank")
		}
		check.Fails(t, check.Err(m.on.Asker(t.Context(), []string{"ada", "bob"})), nil, "several people spoke", "alone")
	})
}

func TestAStopThatANativeModelHearsIsOfThoseWhoMayHaveSaidIt(t *testing.T) {
	for by, want := range map[string]string{"ada": "ada", "bob": "bob", "ada+bob": "ada bob", "": "cy"} {
		inNativeParty(t, func(p *party, m *model) {
			p.begin("ada", "bob", "cy")
			for _, who := range []string{"ada", "bob", "cy"} { // Cy comes last
				p.sound(who, 100*time.Millisecond)
				p.spots(who, "clank")
			}
			work := p.work("v", "cy")
			m.on.Heard(strings.Split(by, "+"), "Stop it, please.")
			p.wait(time.Second)
			if got := strings.Join(m.stoppedBy, " "); got != want || (work.Err() == nil) != (want != "cy") {
				t.Errorf("by %q: stopped for %q, Cy's work: %v, want %q", by, got, work.Err(), want)
			}
		})
	}
}

func TestWhatANativeModelHearsIsKeptIfWantedAndActedOn(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		var kept []string
		p.Recorder = recorder(func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) })
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		m.on.Heard([]string{"ada"}, "how late is it")
		m.on.Answered("It is ten.")
		m.on.Trouble(&llm.Error{Message: "slow line"})
		p.wait(time.Second)
		check.Equal(t, "kept", strings.Join(kept, "; "), "Ada: how late is it; : It is ten.")
		p.wantIn(p.chat.text(), "slow line.")
		work := p.work("v", "ada")
		m.on.Heard([]string{"ada"}, "Stop it, please.")
		m.on.Heard([]string{"ada"}, "Clank, privacy.")
		p.wait(time.Second)
		if work.Err() == nil || m.cancelled == nil || !p.privacy.OptedOut("g", "ada") {
			t.Errorf("work: %v, model: %v, left out: %v", work.Err(), m.cancelled, p.privacy.OptedOut("g", "ada"))
		}
	})
}

func TestWhoIsLeftOutIsNeverGuessed(t *testing.T) {
	for name, by := range map[string][]string{
		"two spoke": {"ada", "bob"}, "nobody is known": nil,
		"somebody who left": {"cy"},
	} {
		t.Run(name, func(t *testing.T) {
			inNativeParty(t, func(p *party, m *model) {
				var kept []string
				p.Recorder = recorder(func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) })
				p.begin("ada", "bob")
				p.sound("ada", 100*time.Millisecond)
				p.spots("ada", "clank")
				work := p.work("v", "ada")
				m.on.Heard(by, "Clank, privacy.")
				p.wait(time.Second)
				if p.privacy.OptedOut("g", "ada") || p.privacy.OptedOut("g", "bob") {
					t.Error("somebody is left out")
				}
				p.wantIn(p.chat.text(), "I do not know who wants to be left out", "`/clank privacy`")
				m.on.Heard(by, "Clank, stop.")
				p.wait(time.Second)
				p.wantStopped(work)
				if len(kept) != 2 || kept[0] != "Somebody: Clank, privacy." {
					t.Errorf("kept %q", kept)
				}
			})
		})
	}
	inNativeParty(t, func(p *party, m *model) {
		p.begin("ada", "bob")
		m.on.Heard([]string{"bob"}, "Clank, privacy.")
		p.wait(time.Second)
		if p.privacy.OptedOut("g", "ada") || !p.privacy.OptedOut("g", "bob") {
			t.Error("not the one who said so is left out")
		}
	})
}

func TestWordsThatComeAfterTheirSpeakerHasLeftKeepTheirName(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		var kept []string
		p.Recorder = recorder(func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) })
		p.host.origin = func(voice.Person) sessions.Origin { return sessions.Origin{User: "operator"} } // as on a call page
		p.begin("ada", "bob")
		p.sound("bob", 100*time.Millisecond)
		p.spots("bob", "clank")
		p.line.events <- voice.Event{Kind: voice.Left, Person: voice.Person{ID: "bob"}}
		m.on.Heard([]string{"bob"}, "good night")
		p.wait(time.Second)
		for n := range 500 { // so many that those who have left are forgotten
			p.join(fmt.Sprintf("p%d", n))
		}
		p.wait(time.Second)
		m.on.Heard([]string{"bob"}, "and thanks")
		p.wait(time.Second)
		check.Equal(t, "kept", strings.Join(kept, "; "), "Bob: good night; Bob: and thanks")
		check.Equal(t, "the model is told", m.on.Name("bob"), "Bob")
	})
}

// span is an answer of which so much was heard.
type span time.Duration

func (s span) Played() time.Duration { return time.Duration(s) }

func TestNothingWasHeardOfAnAnswerThatHasNotBegun(t *testing.T) {
	var p conversation.PendingPlayback
	check.Equal(t, "heard of it", p.Played(), 0)
	p.Attach(span(time.Second))
	check.Equal(t, "heard of it", p.Played(), time.Second)
}

func TestWhatWasSaidBeforeOurNameIsKeptForThreeSeconds(t *testing.T) {
	var b conversation.PreWakeBuffer
	for n := range 1000 {
		b.Add(voice.Sound{From: "ada", Samples: []int16{int16(n)}})
	}
	b.Add(voice.Sound{From: "bob"})
	got := b.Drain("ada")
	if len(got) != 150 || got[0].Samples[0] != 850 || got[149].Samples[0] != 999 {
		t.Errorf("%d pieces are kept, want the last 150 in order", len(got))
	}
	if again := b.Drain("ada"); len(again) > 0 {
		t.Errorf("%d pieces are kept of what was taken", len(again))
	}
	check.Equal(t, "pieces of bob's", len(b.Drain("bob")), 1)
}

func TestANativeModelDoesNotHearWhoMayNotAsk(t *testing.T) {
	inNativeParty(t, func(p *party, m *model) {
		why := "people here need the role “pilot”"
		p.host.disabled = func(sessions.Origin) string { return why }
		p.begin("ada")
		p.sound("ada", 8*time.Second)
		check.Equal(t, "heard of her", m.hears("ada"), 0)
		p.wantCount(p.chat.text(), "pilot", 1)
		why = ""
		p.sound("ada", 8*time.Second)
		if m.hears("ada") == 0 {
			t.Error("she is not heard when she may ask")
		}
	})
}
