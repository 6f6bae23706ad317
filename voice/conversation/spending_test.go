package conversation_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
)

var errSpent = &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent: 1 of 1 USD for this person today", Hint: "ask the operator"}

func TestASpentBudgetIsSaidOnceAndStopWordsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.words.err = errSpent
		p.begin("ada")
		for range 3 {
			p.says("ada", "clank how late is it")
			p.wait(10 * time.Second)
		}
		if n := strings.Count(p.mouth.words(), "I may not spend more today"); n != 1 {
			t.Errorf("said %d times: %q", n, p.mouth.words())
		}
		if n := strings.Count(p.chat.text(), "1 of 1 USD"); n != 1 || !strings.Contains(p.chat.text(), "ask the operator") {
			t.Errorf("written %d times: %q", n, p.chat.text())
		}
		work := p.work("v", "ada")
		p.spots("ada", "stop")
		if work.Err() == nil {
			t.Error("a stop word does nothing")
		}
		p.wait(5 * time.Second)
		p.words.err = nil
		p.says("ada", "clank how late is it")
		p.words.err = errSpent
		p.says("ada", "clank and now")
		p.wait(10 * time.Second)
		if n := strings.Count(p.mouth.words(), "I may not spend more today"); n != 2 {
			t.Errorf("said %d times after it was possible again, want 2", n)
		}
		p.end()
	})
}

func TestWhatIsAskedOfModelsIsPutDownToWhoIsHeardAndAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Account = func(o sessions.Origin, purpose string) llm.Account {
			return llm.Account{Guild: o.Guild, User: o.User, Purpose: purpose}
		}
		heard := make(chan llm.Account, 10)
		p.Transcriber = accounting{p.words, heard}
		spoken := &speaker{packets: [][]byte{{1}}, accounts: make(chan llm.Account, 20)}
		p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: spoken})
		p.begin("ada")
		p.says("ada", "clank how late is it")
		p.wait(5 * time.Second)
		if got := <-heard; got != (llm.Account{Guild: "g", User: "ada", Purpose: "transcribe"}) {
			t.Errorf("heard for %+v", got)
		}
		for range 2 { // the notice
			if got := <-spoken.accounts; got != (llm.Account{Guild: "g", Purpose: "speak"}) {
				t.Errorf("the notice was spoken for %+v", got)
			}
		}
		if got := <-spoken.accounts; got != (llm.Account{Guild: "g", User: "ada", Purpose: "speak"}) {
			t.Errorf("the answer was spoken for %+v", got)
		}
		p.end()
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

func TestANativeModelDoesNotHearWhoMayNotAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := nativeParty(t)
		why := "people here need the role “pilot”"
		p.DisabledReason = func(context.Context, sessions.Origin) string { return why }
		p.begin("ada")
		p.sound("ada", 8*time.Second)
		if m.hears("ada") != 0 {
			t.Errorf("%v of her were heard", m.hears("ada"))
		}
		if n := strings.Count(p.chat.text(), "pilot"); n != 1 {
			t.Errorf("why not was told %d times: %q", n, p.chat.text())
		}
		why = ""
		p.sound("ada", 8*time.Second)
		if m.hears("ada") == 0 {
			t.Error("she is not heard when she may ask")
		}
		p.end()
	})
}
