package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

func TestALineThatBreaksEndsTheCallWithItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = browsing
		p.begin("ada")
		p.says("ada", "find a lamp")
		p.line.err = errBroken
		close(p.line.events)
		p.wantEnd(<-p.ended, errBroken)
		check.Equal(t, "replies run after the end", len(p.scopes.Active(cancel.Scope{Guild: "g", Channel: "v"})), 0)
	})
}

// A call on a page has no line once the last page is closed, and waits for somebody to come back.
func TestWhatNobodyIsThereToHearIsNoFailure(t *testing.T) {
	for who, fails := range map[string]bool{"ada": false, "bob": true} {
		inParty(t, func(p *party) {
			logs := new(check.Log)
			p.Logger = slog.New(slog.NewTextHandler(logs, nil))
			p.brain.reply = answer(assistant.Answer{Text: strings.Repeat("So it goes on. ", 20)}, nil)
			p.begin("ada")
			p.says("ada", "tell me all")
			p.wait(3 * time.Second)
			p.leave(who)
			p.mouth.Silence(voice.ErrUnavailable)
			synctest.Wait()
			if got := strings.Contains(logs.String(), "not spoken"); got != fails {
				t.Errorf("after %s left: logged = %v, want %v: %s", who, got, fails, logs)
			}
			if got := strings.Contains(p.chat.text(), "I cannot speak"); got != fails {
				t.Errorf("after %s left: told = %v, want %v: %s", who, got, fails, p.chat.text())
			}
		})
	}
}

func TestOnlyALongTroubleOfTheLineIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		for _, long := range []time.Duration{time.Second, 10 * time.Second} {
			p.line.events <- voice.Event{Kind: voice.Interrupted, Text: "the server has moved"}
			p.wait(long)
			check.Equal(t, fmt.Sprintf("after %v: told", long),
				strings.Contains(p.chat.text(), "The server has moved."), long > 5*time.Second)
			before := p.mouth.words()
			p.says("ada", "hello there")
			p.wait(time.Second)
			if p.mouth.words() != before {
				t.Error("something was said that nobody could hear")
			}
			p.line.events <- voice.Event{Kind: voice.Connected}
			p.wait(5 * time.Second)
			if p.mouth.words() == before {
				t.Error("what waited was not said")
			}
		}
		p.line.events <- voice.Event{Kind: voice.Moved, Text: "w"}
		synctest.Wait()
		old, now := p.work("v", "ada"), p.work("w", "ada")
		p.spots("ada", "stop")
		if old.Err() == nil || now.Err() == nil {
			t.Error("after a move, work of the old channel or of the new one cannot be stopped")
		}
		p.end()
	})
}

func TestACallCanEndAtAnyMoment(t *testing.T) {
	for _, after := range []time.Duration{
		0, 100 * time.Millisecond, 600 * time.Millisecond, 1100 * time.Millisecond,
		1500 * time.Millisecond, 3 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t)
			p.brain.reply = func(ctx context.Context, _ assistant.Turn,
				watch func(assistant.Progress),
			) (assistant.Answer, error) {
				watch(assistant.Progress{Call: 1})
				select {
				case <-ctx.Done():
				case <-time.After(300 * time.Millisecond):
				}
				return assistant.Answer{Text: "One. Two. Three. Four."}, context.Cause(ctx)
			}
			p.begin("ada")
			time.AfterFunc(after, func() { p.cancel(errBroken) })
			p.says("ada", "find a lamp")
			p.wait(3 * time.Second)
			p.wantEnd(p.end(), errBroken)
		})
	}
}

func TestAnEmptyCallIsLeftAfterAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada")
		p.leave("ada")
		p.wait(4*time.Minute + 30*time.Second)
		p.wantIn(p.chat.text(), "I leave in a minute")
		p.join("ada")
		p.wait(time.Hour)
		p.leave("ada")
		p.wait(5*time.Minute + time.Second)
		p.wantEnd(<-p.ended, conversation.ErrCallEmpty)
	})
}

func TestAnAccountOfOursIsNobodysCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.host.ownAccount = "eve"
		p.begin("ada")
		p.wait(5 * time.Second)
		p.join("eve")
		p.says("ada", "find a lamp") // who is alone need not call us by name
		p.wait(5 * time.Second)
		p.wantQuestions(1)
		p.wantCount(p.chat.text(), "Hello, eve", 0)
		p.leave("ada")
		p.wait(6 * time.Minute)
		p.wantEnd(p.end(), conversation.ErrCallEmpty)
	})
}

func TestACallEndsWithItsLongestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.MaxDuration = 10 * time.Minute
		p.begin("ada")
		p.wait(9*time.Minute + 30*time.Second)
		p.wantIn(p.mouth.words(), "two more minutes", "less than a minute")
		p.wait(time.Minute)
		p.wantEnd(<-p.ended, conversation.ErrCallTooLong)
	})
}

func TestACallInWhichManyComeAndGoStillHearsThoseWhoAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		p.begin("ada")
		for n := range 600 {
			id := fmt.Sprint("guest", n)
			p.join(id)
			p.leave(id)
		}
		p.leave("ada")
		p.join("eve")
		p.says("eve", "Clank, what time is it?")
		p.wait(20 * time.Minute)
		p.wantQuestions(1)
		select {
		case err := <-p.ended:
			t.Fatalf("left the call with eve in it: %v", err)
		default:
		}
		p.end()
	})
}

// stuck is a chat that does not answer.
type stuck struct{}

func (stuck) ShowLine(conversation.TranscriptLine) {}

func (stuck) Write(ctx context.Context, _ conversation.Message) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestBrokenHelpersAreToldAndDoNotKeepTheCall(t *testing.T) {
	inParty(t, func(p *party) {
		p.spot.err = errors.New("pocketsphinx is missing: apt install pocketsphinx")
		p.ear.err = errors.New("no decoder")
		p.begin("ada")
		p.sound("ada", 200*time.Millisecond)
		p.leave("ada")
		p.wantIn(p.chat.text(), "apt install pocketsphinx", "write “stop”", "hear anybody in this call: No decoder.")
	})
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Chat = stuck{}
		p.begin("ada")
		at := time.Now()
		p.end()
		if took := time.Since(at); took > 15*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}
