package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/speech/playout"

	"github.com/google/go-cmp/cmp"
)

func TestARequestIsAnsweredAloudInTheStyleOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		p.brain.reply = answer(assistant.Answer{Text: "The next ferry goes at **ten**. See [the " +
			"table](https://ferry.test/t)."}, nil)
		p.begin("ada", "bob")
		p.says("ada", "Clank, look up the ferry times.")
		p.wait(10 * time.Second)
		p.wantSuffix(p.mouth.words(), "The next ferry goes at ten. See the table. I have put it in the chat.")
		p.wantIn(p.chat.text(), "https://ferry.test/t")
		turn := p.brain.turns[0]
		want := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "v", User: "ada", UserName: "Ada"}
		if diff := cmp.Diff(want, turn.Origin); diff != "" || !strings.Contains(turn.Style, "spoken") {
			t.Errorf("origin (-want +got):\n%s style %q", diff, turn.Style)
		}
		if got := turn.Lines[0]; got.Speaker != "Ada" || got.Text != "look up the ferry times." {
			t.Errorf("line = %+v", got)
		}
		p.says("ada", "open that table")
		if got := p.brain.turns[1].Lines[1]; !got.FromAssistant || !strings.Contains(got.Text, "https://ferry.test/t") {
			t.Errorf("what was answered stands in the history as %+v", got)
		}
		if err := p.end(); cancel.CauseOf(nil, err) == nil { //nolint:staticcheck // nil is documented as allowed
			t.Errorf("Run = %v, want the cause of its context", err)
		}
	})
}

func TestWhatPeopleSayToEachOtherIsNeitherSentAwayNorAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob")
		p.says("ada", "did you see the match yesterday")
		p.pauses("ada", "pass me the salt")
		if p.words.calls.Load() != 0 || len(p.brain.asked()) != 0 {
			t.Errorf("%d transcriptions, asked %v; want none", p.words.calls.Load(), p.brain.asked())
		}
		p.end()
	})
}

func TestWhoIsSpokenTo(t *testing.T) {
	for _, tc := range []struct {
		name    string
		all     bool
		act     func(p *party)
		people  []string
		want    []string
		without bool // a spotter
	}{
		{
			"alone, everything is for us", false, func(p *party) { p.says("ada", "how late is it") },
			[]string{"ada"},
			[]string{"Ada: how late is it"},
			false,
		},
		{"our name, spotted", false, func(p *party) {
			p.sound("ada", 300*time.Millisecond)
			p.wait(200 * time.Millisecond)
			began := time.Now()
			p.spots("ada", "clank")
			p.utter("ada", "flank how late is it", began.Add(-time.Second), began.Add(time.Second))
			p.wait(time.Second)
		}, []string{"ada", "bob"}, []string{"Ada: flank how late is it"}, false},
		{
			"our name, transcribed", true, func(p *party) { p.says("ada", "how late is it, clank?") },
			[]string{"ada", "bob"},
			[]string{"Ada: how late is it"},
			true,
		},
		{"others, transcribed", true, func(p *party) { p.says("ada", "how late is it") }, []string{"ada", "bob"}, nil, true},
		{"after an answer, the same person", true, func(p *party) {
			p.says("ada", "clank, hello there")
			p.wait(5 * time.Second)
			p.says("ada", "and tomorrow")
		}, []string{"ada", "bob"}, []string{"Ada: hello there", "Ada: and tomorrow"}, false},
		{"after an answer, somebody else", true, func(p *party) {
			p.says("ada", "clank, hello there")
			p.wait(5 * time.Second)
			p.says("bob", "and tomorrow")
		}, []string{"ada", "bob"}, []string{"Ada: hello there"}, false},
		{"long after an answer", true, func(p *party) {
			p.says("ada", "clank, hello there")
			p.wait(time.Minute)
			p.says("ada", "and tomorrow")
		}, []string{"ada", "bob"}, []string{"Ada: hello there"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inParty(t, func(p *party) {
				p.Options.TranscribeAll = tc.all
				if tc.without {
					p.Spotter = nil
				}
				p.begin(tc.people...)
				if !tc.without && len(tc.people) > 1 && !tc.all {
					p.sound("ada", 100*time.Millisecond)
				}
				tc.act(p)
				p.wait(time.Second)
				check.Diff(t, "asked", p.brain.asked(), tc.want)
			})
		})
	}
}

func TestAQuestionOfOursIsAwaitedLonger(t *testing.T) {
	inParty(t, func(p *party) {
		p.Options.TranscribeAll = true
		p.brain.reply = answer(assistant.Answer{Text: "Which ferry?"}, nil)
		p.begin("ada", "bob")
		p.says("ada", "clank, the ferry times")
		p.wait(40 * time.Second)
		p.says("ada", "the one to the island")
		p.wantQuestions(2)
	})
}

func TestANewerRequestJoinsOneThatIsStillThoughtAbout(t *testing.T) {
	inParty(t, func(p *party) {
		var causes []error
		p.brain.reply = func(ctx context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
			select {
			case <-ctx.Done():
				causes = append(causes, context.Cause(ctx))
				return assistant.Answer{}, context.Cause(ctx)
			case <-time.After(5 * time.Second):
			}
			return assistant.Answer{Text: "Done."}, nil
		}
		p.begin("ada")
		p.says("ada", "look up ferries")
		p.says("ada", "only on Sunday")
		p.wait(20 * time.Second)
		p.wantAsked("Ada: look up ferries", "Ada: look up ferries\nonly on Sunday")
		if len(causes) != 1 || cancel.CauseOf(nil, //nolint:staticcheck // nil is documented as allowed
			causes[0]).Reason != cancel.Superseded {
			t.Errorf("causes = %v, want one, superseded", causes)
		}
		p.wantCount(p.mouth.words(), "Done.", 1)
		check.Equal(t, "len(p.brain.turns[1].Lines)", len(p.brain.turns[1].Lines), 1)
	})
}

func TestTwoPeopleAreAnsweredOneAfterTheOther(t *testing.T) {
	inParty(t, func(p *party) {
		p.Options.TranscribeAll = true
		p.brain.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
			return assistant.Answer{Text: "This one is for " + turn.Origin.UserName + "."}, nil
		}
		p.begin("ada", "bob")
		now := time.Now()
		for _, id := range []string{"ada", "bob"} {
			p.utter(id, "clank, hello there", now.Add(-time.Second), now)
		}
		p.wait(10 * time.Second)
		p.wantIn(p.mouth.words(), "for Ada.", "for Bob.")
	})
}

func TestALongBrowseIsToldOfSparsely(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = browsing
		p.begin("ada")
		before := len(p.mouth.words())
		p.says("ada", "find a lamp")
		p.wait(3 * time.Minute)
		got := p.mouth.words()[before+1:]
		want := "I am looking. Still looking. This takes a while. I am still at it, and tell you when I have it."
		check.Equal(t, "said", got, want)
	})
}

func TestFailuresAreSaidWithTheWayOut(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{}, &llm.Error{
			Kind: llm.ErrAuth, Model: "m", Message: "key refused",
			Hint: "set OPENAI_API_KEY",
		})
		p.begin("ada")
		p.says("ada", "find a lamp")
		p.wait(20 * time.Second)
		p.wantIn(p.mouth.words(), "I could not think of an answer", "OPENAI_API_KEY")
		p.words.err = errors.New("transcribe: 401; set the key")
		for range 3 {
			p.says("ada", "and now")
		}
		p.wantCount(p.chat.text(), "set the key", 1)
		p.mouth.err = errors.New("espeak-ng is missing: apt install espeak-ng")
		p.words.err = nil
		p.says("ada", "once more")
		p.wait(time.Second)
		p.wantIn(p.chat.text(), "apt install", "think of an answer")
	})
}

func TestWithoutTranscriptionStopWordsStillWork(t *testing.T) {
	inParty(t, func(p *party) {
		p.Transcriber = nil
		p.begin("ada")
		p.wantIn(p.chat.text(), "no transcription is configured", "stop words still work")
		p.wantCount(p.chat.text(), "say “clank privacy”", 0)
		work := p.work("v", "ada")
		p.sound("ada", 500*time.Millisecond)
		p.spots("ada", "stop")
		p.wantStopped(work)
	})
}

func TestATranscriptWithoutEndIsCut(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.says("ada", "Clank, this is "+strings.Repeat("very ", 5000)+"long.")
		if got := p.brain.asked(); len(got) != 1 || len(got[0]) > 5000 || !strings.HasPrefix(got[0], "Ada: this is very") {
			t.Errorf("asked %d times; the first has %d bytes", len(got), len(strings.Join(got, "")))
		}
	})
}

func TestWhatIsTooMuchAtOnceWaitsForItsTurn(t *testing.T) {
	inParty(t, func(p *party) {
		finish := make(chan struct{})
		p.brain.reply = func(ctx context.Context, _ assistant.Turn,
			watch func(assistant.Progress),
		) (assistant.Answer, error) {
			watch(assistant.Progress{Call: 1})
			select {
			case <-finish:
				return assistant.Answer{Text: "Found it."}, nil
			case <-ctx.Done():
				return assistant.Answer{}, context.Cause(ctx)
			}
		}
		p.begin("ada")
		for _, what := range []string{"first", "second", "third", "fourth"} {
			p.says("ada", "find the "+what+" lamp")
			p.wait(5 * time.Second)
		}
		p.wantQuestions(2)
		finish <- struct{}{}
		p.wait(10 * time.Second)
		p.wantAsked("Ada: find the first lamp", "Ada: find the second lamp", "Ada: find the third lamp\nfind the fourth lamp")
		p.sound("ada", 300*time.Millisecond)
		p.spots("ada", "stop")
		p.wantActive(0)
	})
}

func TestAWrittenStopDropsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = browsing
		p.begin("ada")
		for _, what := range []string{"first", "second", "third"} {
			p.says("ada", "find the "+what+" lamp")
			p.wait(5 * time.Second)
		}
		scope := cancel.Scope{Guild: "g", Channel: "v"}
		stopped, refused := p.scopes.Stop(scope, cancel.Actor{ID: "ada", Name: "Ada"}, false)
		if len(stopped) != 3 || len(refused) != 0 {
			t.Errorf("stopped %v, refused %v, want what waits among what is stopped", stopped, refused)
		}
		p.wait(10 * time.Second)
		if got := p.brain.asked(); len(got) != 2 || len(p.scopes.Active(scope)) != 0 {
			t.Errorf("asked %q, and there run %v", got, p.scopes.Active(scope))
		}
		for range 3 {
			p.says("ada", "find another lamp")
			p.wait(5 * time.Second)
		}
		p.end()
		p.wantActive(0)
	})
}

func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		p.brain.reply = browsing
		var all []string
		for i := range 14 {
			all = append(all, fmt.Sprintf("p%02d", i))
		}
		p.begin(all...)
		for _, id := range all {
			p.says(id, "clank, find me a lamp")
		}
		p.wait(time.Minute)
		p.wantQuestions(4)
		p.wantIn(p.mouth.words(), "too much to do")
		p.sound("p00", 300*time.Millisecond)
		p.spots("p00", "clank stop")
		p.wait(time.Second)
		p.wantQuestions(4)
		p.end()
	})
}

func TestOnlyOurNameIsAskedBack(t *testing.T) {
	inParty(t, func(p *party) {
		p.Options.TranscribeAll = true
		p.begin("ada", "bob")
		p.says("ada", "Clank?")
		p.wait(2 * time.Second)
		p.wantSuffix(p.mouth.words(), "Yes?")
		p.says("ada", "how late is it")
		p.wantAsked("Ada: how late is it")
	})
}

func TestOurNameMayBeSpottedAfterTheSentenceHasEnded(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada", "bob")
		p.sound("ada", 100*time.Millisecond)
		p.spot.mu.Lock()
		found := p.spot.found["ada"]
		p.spot.mu.Unlock()
		at := time.Now().Add(200 * time.Millisecond)
		p.says("ada", "clank how late is it")
		if len(p.brain.asked()) != 0 {
			p.t.Fatal("answered before the name was known")
		}
		found(voice.SpottedPhrase{From: "ada", Phrase: "clank", At: at})
		p.wait(time.Second)
		p.wantAsked("Ada: how late is it")
	})
}

func TestWhoMayNotAskIsToldWhy(t *testing.T) {
	inParty(t, func(p *party) {
		p.host.disabled = func(o sessions.Origin) string {
			if o.User != "ada" || o.Channel != "v" || len(o.Roles) != 1 {
				t.Errorf("asked about %+v", o)
			}
			return "the browser is switched off here"
		}
		p.host.origin = func(who voice.Person) sessions.Origin {
			return sessions.Origin{Kind: sessions.FromDiscord, User: who.ID, Roles: []string{"r"}}
		}
		p.begin("ada")
		p.says("ada", "find a lamp")
		p.wait(5 * time.Second)
		p.wantSuffix(p.mouth.words(), "The browser is switched off here.")
		p.wantQuestions(0)
	})
}

func TestPicturesAreShownInTheChat(t *testing.T) {
	inParty(t, func(p *party) {
		png := llm.Image{MediaType: "image/png", Data: []byte("png")}
		answers := []assistant.Answer{{Text: "Here it is.", Images: []llm.Image{png}}, {Text: "It is ten.", View: &png}}
		p.brain.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
			a := answers[0]
			answers = answers[1:]
			return a, nil
		}
		p.begin("ada")
		p.says("ada", "show me the page")
		p.wait(10 * time.Second)
		p.says("ada", "how late is it")
		p.wait(10 * time.Second)
		p.wantSuffix(p.mouth.words(), "Here it is. I have put it in the chat. It is ten.")
		n := 0
		for _, m := range p.chat.messages {
			n += len(m.Images)
		}
		check.Equal(t, "pictures written", n, 2)
	})
}

func TestWithoutAVoiceEverythingIsWritten(t *testing.T) {
	inParty(t, func(p *party) {
		p.Player = nil
		p.begin("ada")
		p.says("ada", "hello there")
		p.wait(time.Second)
		p.says("ada", "and now")
		if got := p.chat.text(); strings.Count(got, "Very well.") != 2 {
			t.Errorf("written %q", got)
		}
		if turn := p.brain.turns[1]; len(turn.Lines) != 3 || !turn.Lines[1].FromAssistant {
			t.Errorf("the second turn has %+v", turn.Lines)
		}
	})
}

func TestWhoIsHeardBeforeTheyAreAnnouncedIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin()
		p.says("eve", "how late is it")
		p.wait(6 * time.Minute)
		p.wantAsked("somebody: how late is it")
		p.end()
	})
}

var errSpent = &llm.Error{
	Kind: llm.ErrBudgetSpent, Message: "budget spent: 1 of 1 USD for this person today",
	Hint: "ask the operator",
}

func TestASpentBudgetIsSaidOnceAndStopWordsGoOn(t *testing.T) {
	inParty(t, func(p *party) {
		p.words.err = errSpent
		p.begin("ada")
		for range 3 {
			p.says("ada", "clank how late is it")
			p.wait(10 * time.Second)
		}
		p.wantCount(p.mouth.words(), "Today's budget is spent", 1)
		if n := strings.Count(p.chat.text(), "1 of 1 USD"); n != 1 || !strings.Contains(p.chat.text(), "ask the operator") {
			t.Errorf("written %d times: %q", n, p.chat.text())
		}
		work := p.work("v", "ada")
		p.spots("ada", "stop")
		p.wantStopped(work)
		p.wait(5 * time.Second)
		p.words.err = nil
		p.says("ada", "clank how late is it")
		p.words.err = errSpent
		p.says("ada", "clank and now")
		p.wait(10 * time.Second)
		p.wantCount(p.mouth.words(), "Today's budget is spent", 2)
	})
}

func TestWhatIsAskedOfModelsIsPutDownToWhoIsHeardAndAnswered(t *testing.T) {
	inParty(t, func(p *party) {
		heard := make(chan llm.Account, 10)
		p.Transcriber = accounting{p.words, heard}
		spoken := &speaker{packets: [][]byte{{1}}, accounts: make(chan llm.Account, 20)}
		p.Player = &playout.Player{Line: p.line, Synthesizer: spoken}
		p.begin("ada")
		p.says("ada", "clank how late is it")
		p.wait(5 * time.Second)
		check.Equal(t, "heard for", <-heard,
			llm.Account{Guild: "g", Channel: "v", User: "discord:ada", Purpose: "transcribe"})
		for range 2 { // the notice
			check.Equal(t, "the notice was spoken for", <-spoken.accounts,
				llm.Account{Guild: "g", Channel: "v", Purpose: "speak"})
		}
		check.Equal(t, "the answer was spoken for", <-spoken.accounts,
			llm.Account{Guild: "g", Channel: "v", User: "discord:ada", Purpose: "speak"})
	})
}

// accounting is a transcriber that tells for whom it is asked.
type accounting struct {
	voice.Transcriber

	to chan llm.Account
}

func (a accounting) Transcribe(ctx context.Context, u voice.Utterance) (voice.Transcript, error) {
	a.to <- llm.AccountOf(ctx)
	return a.Transcriber.Transcribe(ctx, u)
}
