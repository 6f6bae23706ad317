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
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
)

func TestWhatIsTooMuchAtOnceWaitsForItsTurn(t *testing.T) {
	inParty(t, func(p *party) {
		finish := make(chan struct{})
		p.brain.reply = func(ctx context.Context, _ assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error) {
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
		p.DisabledReason = func(_ context.Context, o sessions.Origin) string {
			if o.User != "ada" || o.Channel != "v" || len(o.Roles) != 1 {
				t.Errorf("asked about %+v", o)
			}
			return "the browser is switched off here"
		}
		p.Origin = func(who voice.Person) sessions.Origin {
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
		if n != 2 {
			t.Errorf("%d pictures written, want 2", n)
		}
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

// stuck is a chat that does not answer.
type stuck struct{}

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

var errSpent = &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent: 1 of 1 USD for this person today", Hint: "ask the operator"}

func TestASpentBudgetIsSaidOnceAndStopWordsGoOn(t *testing.T) {
	inParty(t, func(p *party) {
		p.words.err = errSpent
		p.begin("ada")
		for range 3 {
			p.says("ada", "clank how late is it")
			p.wait(10 * time.Second)
		}
		p.wantCount(p.mouth.words(), "I may not spend more today", 1)
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
		p.wantCount(p.mouth.words(), "I may not spend more today", 2)
	})
}

func TestWhatIsAskedOfModelsIsPutDownToWhoIsHeardAndAnswered(t *testing.T) {
	inParty(t, func(p *party) {
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
	inNativeParty(t, func(p *party, m *model) {
		why := "people here need the role “pilot”"
		p.DisabledReason = func(context.Context, sessions.Origin) string { return why }
		p.begin("ada")
		p.sound("ada", 8*time.Second)
		if m.hears("ada") != 0 {
			t.Errorf("%v of her were heard", m.hears("ada"))
		}
		p.wantCount(p.chat.text(), "pilot", 1)
		why = ""
		p.sound("ada", 8*time.Second)
		if m.hears("ada") == 0 {
			t.Error("she is not heard when she may ask")
		}
	})
}
