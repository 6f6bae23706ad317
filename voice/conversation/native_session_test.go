package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
)

// model is a native model that the test drives.
type model struct {
	on conversation.NativeEvents

	mu          sync.Mutex
	heard       map[string]time.Duration
	rate        int
	interrupted []time.Duration // how much of the answer was played then
	cancelled   error
	playing     conversation.PlaybackPosition
	fails       chan error
}

func (m *model) Run(ctx context.Context) error {
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

func (m *model) Cancel(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelled = cause
}

func (m *model) hears(id string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard[id]
}

// answers has the model say something that lasts for so long.
func (m *model) answers(p *party, span time.Duration) {
	m.playing = m.on.Speak(func(ctx context.Context) iter.Seq2[[]byte, error] {
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
	p.NewNative = func(on conversation.NativeEvents) conversation.NativeModel { m.on = on; return m }
	p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: &speaker{packets: [][]byte{{1}}}})
	return p, m
}

func TestANativeModelHearsThoseWhoSpeakToUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
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
		p.end()
	})
}

func TestANativeModelGetsNothingOfThoseWhoAskToBeLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada", "bob")
		p.sound("ada", 2*time.Second)
		if err := p.privacy.Set(t.Context(), "g", "ada", true); err != nil { // as the command does
			t.Fatal(err)
		}
		p.spots("ada", "clank")
		p.wait(time.Second)
		if got := m.hears("ada"); got != 0 {
			t.Errorf("the model heard %v of one who is left out", got)
		}
		p.end()
	})
}

func TestANativeAnswerIsInterruptedAndTheModelKnowsHowMuchWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada")
		m.answers(p, 20*time.Second)
		p.sound("ada", time.Second)
		if n := len(m.interrupted); n != 1 || m.interrupted[0] < 400*time.Millisecond || m.interrupted[0] > 700*time.Millisecond {
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
		p.end()
	})
}

func TestStopWordsStopANativeModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada")
		work := p.work("v", "ada")
		p.sound("ada", 100*time.Millisecond)
		m.answers(p, 20*time.Second)
		p.spots("ada", "stop")
		if work.Err() == nil || m.cancelled == nil {
			t.Errorf("work: %v, model: %v", work.Err(), m.cancelled)
		}
		p.end()
	})
}

func TestANativeAnswerIsStoppedFromTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		p.wait(2 * time.Second)
		m.answers(p, 20*time.Second)
		p.wait(time.Second)
		if stopped, _ := p.scopes.Stop(cancel.Scope{Guild: "g", Channel: "v"}, cancel.Actor{ID: "ada", Name: "Ada"}, false); len(stopped) != 1 {
			t.Errorf("stopped %+v, want what she is told", stopped)
		}
		p.wait(time.Second)
		if since := time.Since(p.line.last()); since < 900*time.Millisecond {
			t.Errorf("something was played %v ago", since)
		}
		if len(m.interrupted) != 1 || m.interrupted[0] < 500*time.Millisecond || m.interrupted[0] > 2*time.Second {
			t.Errorf("interrupted %v, want once, after what was played", m.interrupted)
		}
		p.end()
	})
}

func TestANativeConversationEndsWithItsBudgetAndItsErrors(t *testing.T) {
	for _, spent := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, m := nativeParty(t)
			p.begin("ada")
			if strings.Contains(p.chat.text(), "neither hear") {
				t.Fatalf("ended early: %q", p.chat.text())
			}
			want := "The key was refused"
			if spent {
				want = "I may not spend more today"
				m.fails <- &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent: 1 of 1 USD for today"}
			} else {
				m.fails <- errors.New("the key was refused")
			}
			p.wait(time.Second)
			if got := p.chat.text(); !strings.Contains(got, want) || !strings.Contains(got, "/clank join") {
				t.Errorf("written: %q, want %q in it", got, want)
			}
			p.sound("ada", time.Second)
			p.end()
		})
	}
}

func TestANativeModelUsesToolsForWhoeverItTalksWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada")
		box := conversation.Toolset{Asker: m.on.Asker, Tools: []sessions.Tool{{
			Tool: llm.Tool{Name: "look"},
			Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
				if string(input) == `{"wait":true}` {
					<-ctx.Done()
					return "", nil, context.Cause(ctx)
				}
				return o.UserName + " in " + o.Channel + " with " + string(input), nil, nil
			},
		}}}
		if got := box.Definitions(); len(got) != 1 || got[0].Name != "look" {
			t.Errorf("tools = %+v", got)
		}
		if got := box.Call(t.Context(), "look", nil); !strings.Contains(got, `"ok":false`) || !strings.Contains(got, "nobody has spoken") {
			t.Errorf("before anybody spoke: %s", got)
		}
		p.sound("ada", 100*time.Millisecond)
		if got, want := box.Call(t.Context(), "look", nil), `{"ok":true,"result":"Ada in v with {}"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := box.Call(t.Context(), "jump", nil); !strings.Contains(got, "no tool jump") {
			t.Errorf("got %s", got)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		stop(&cancel.Cause{Reason: cancel.Stopped, By: "Ada"})
		if got, want := box.Call(ctx, "look", json.RawMessage(`{"wait":true}`)), `{"ok":false,"error":"stopped by Ada","cancelled":true}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		m.on.Show("a picture", nil)
		p.wait(time.Second)
		if !strings.Contains(p.chat.text(), "a picture") {
			t.Error("what is to be seen was not written")
		}
		p.end()
	})
}

func TestWhatANativeModelHearsIsKeptIfWantedAndActedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		var kept []string
		p.RecordLine = func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) }
		p.begin("ada")
		p.sound("ada", 100*time.Millisecond)
		m.on.Heard([]string{"ada"}, "how late is it")
		m.on.Answered("It is ten.")
		m.on.Trouble(errors.New("slow line"))
		p.wait(time.Second)
		if got := strings.Join(kept, "; "); got != "Ada: how late is it; : It is ten." {
			t.Errorf("kept %q", got)
		}
		if !strings.Contains(p.chat.text(), "Slow line.") {
			t.Errorf("written: %q", p.chat.text())
		}
		work := p.work("v", "ada")
		m.on.Heard([]string{"ada"}, "Stop it, please.")
		m.on.Heard([]string{"ada"}, "Clank, privacy.")
		p.wait(time.Second)
		if work.Err() == nil || m.cancelled == nil || !p.privacy.OptedOut("g", "ada") {
			t.Errorf("work: %v, model: %v, left out: %v", work.Err(), m.cancelled, p.privacy.OptedOut("g", "ada"))
		}
		p.end()
	})
}

func TestWhoIsLeftOutIsNeverGuessed(t *testing.T) {
	for name, by := range map[string][]string{"two spoke": {"ada", "bob"}, "nobody is known": nil, "somebody who left": {"cy"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := nativeParty(t)
				var kept []string
				p.RecordLine = func(s conversation.TranscriptLine) { kept = append(kept, s.Speaker.Name+": "+s.Text) }
				p.begin("ada", "bob")
				p.sound("ada", 100*time.Millisecond)
				p.spots("ada", "clank")
				work := p.work("v", "ada")
				m.on.Heard(by, "Clank, privacy.")
				p.wait(time.Second)
				if p.privacy.OptedOut("g", "ada") || p.privacy.OptedOut("g", "bob") {
					t.Error("somebody is left out")
				}
				if got := p.chat.text(); !strings.Contains(got, "I do not know who wants to be left out") || !strings.Contains(got, "`/clank privacy`") {
					t.Errorf("written: %q", got)
				}
				m.on.Heard(by, "Clank, stop.")
				p.wait(time.Second)
				if work.Err() == nil {
					t.Error("a stop is not heard while two speak")
				}
				if len(kept) != 2 || kept[0] != "Somebody: Clank, privacy." {
					t.Errorf("kept %q", kept)
				}
				p.end()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		p.begin("ada", "bob")
		m.on.Heard([]string{"bob"}, "Clank, privacy.")
		p.wait(time.Second)
		if p.privacy.OptedOut("g", "ada") || !p.privacy.OptedOut("g", "bob") {
			t.Error("not the one who said so is left out")
		}
		p.end()
	})
}
