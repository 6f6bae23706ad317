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

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsTooMuchAtOnceWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
		if got := len(p.brain.asked()); got != 2 {
			t.Errorf("%d replies work at once, want 2", got)
		}
		finish <- struct{}{}
		p.wait(10 * time.Second)
		want := []string{"Ada: find the first lamp", "Ada: find the second lamp", "Ada: find the third lamp\nfind the fourth lamp"}
		if diff := cmp.Diff(want, p.brain.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		p.sound("ada", 300*time.Millisecond)
		p.spots("ada", "stop")
		if got := p.scopes.Active(cancel.Scope{Guild: "g", Channel: "v"}); len(got) != 0 {
			t.Errorf("after the stop there runs %v", got)
		}
		p.end()
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
		if got := p.scopes.Active(scope); len(got) != 0 {
			t.Errorf("after the call there waits %v", got)
		}
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
		if got := len(p.brain.asked()); got != 4 {
			t.Errorf("%d replies at once, want 4", got)
		}
		if !strings.Contains(p.mouth.words(), "too much to do") {
			t.Errorf("said %q", p.mouth.words())
		}
		p.sound("p00", 300*time.Millisecond)
		p.spots("p00", "clank stop")
		p.wait(time.Second)
		if got := len(p.brain.asked()); got != 4 {
			t.Errorf("%d requests were taken up after everything was stopped", got-4)
		}
		p.end()
	})
}

func TestOnlyOurNameIsAskedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Options.TranscribeAll = true
		p.begin("ada", "bob")
		p.says("ada", "Clank?")
		p.wait(2 * time.Second)
		if !strings.HasSuffix(p.mouth.words(), "Yes?") {
			t.Errorf("said %q", p.mouth.words())
		}
		p.says("ada", "how late is it")
		if diff := cmp.Diff([]string{"Ada: how late is it"}, p.brain.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		p.end()
	})
}

func TestOurNameMayBeSpottedAfterTheSentenceHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob")
		p.sound("ada", 100*time.Millisecond)
		p.spot.mu.Lock()
		found := p.spot.found["ada"]
		p.spot.mu.Unlock()
		at := time.Now().Add(200 * time.Millisecond)
		p.says("ada", "clank how late is it")
		if len(p.brain.asked()) != 0 {
			t.Fatal("answered before the name was known")
		}
		found(voice.SpottedPhrase{From: "ada", Phrase: "clank", At: at})
		p.wait(time.Second)
		if diff := cmp.Diff([]string{"Ada: how late is it"}, p.brain.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		p.end()
	})
}

func TestWhoMayNotAskIsToldWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
		if got := p.mouth.words(); !strings.HasSuffix(got, "The browser is switched off here.") || len(p.brain.asked()) != 0 {
			t.Errorf("said %q, asked %v", got, p.brain.asked())
		}
		p.end()
	})
}

func TestPicturesAreShownInTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
		if got, want := p.mouth.words(), "Here it is. I have put it in the chat. It is ten."; !strings.HasSuffix(got, want) {
			t.Errorf("said %q", got)
		}
		n := 0
		for _, m := range p.chat.messages {
			n += len(m.Images)
		}
		if n != 2 {
			t.Errorf("%d pictures written, want 2", n)
		}
		p.end()
	})
}

func TestWithoutAVoiceEverythingIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
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
		p.end()
	})
}

func TestTheChatCanStopWhatIsBeingSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := telling(t, nil)
		stopped, _ := p.scopes.Stop(cancel.Scope{Guild: "g", Channel: "v"}, cancel.Actor{ID: "ada", Name: "@ada"}, false)
		if len(stopped) != 1 || stopped[0].Owner != "ada" {
			t.Errorf("stopped %v, want the speech", stopped)
		}
		at := time.Now()
		p.wait(10 * time.Second)
		if got := p.mouth.last().Sub(at); got > 20*time.Millisecond || strings.Contains(p.chat.text(), "cannot speak") {
			t.Errorf("spoke on for %v; written %q", got, p.chat.text())
		}
		p.end()
	})
}

func TestACauseOfTheProgramIsSaidOfAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.brain.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
			return assistant.Answer{}, fmt.Errorf("ask: %w", &cancel.Cause{Reason: cancel.BudgetSpent, Detail: "$2 of today"})
		}
		p.begin("ada")
		p.says("ada", "find a lamp")
		p.wait(5 * time.Second)
		if got := p.mouth.words(); !strings.HasSuffix(got, "Budget spent: $2 of today.") {
			t.Errorf("said %q", got)
		}
		p.end()
	})
}

// stuck is a chat that does not answer.
type stuck struct{}

func (stuck) Write(ctx context.Context, _ conversation.Message) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestBrokenHelpersAreToldAndDoNotKeepTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.spot.err = errors.New("pocketsphinx is missing: apt install pocketsphinx")
		p.ear.err = errors.New("no decoder")
		p.begin("ada")
		p.sound("ada", 200*time.Millisecond)
		p.leave("ada")
		if got := p.chat.text(); !strings.Contains(got, "apt install pocketsphinx") || !strings.Contains(got, "write “stop”") || !strings.Contains(got, "hear anybody in this call: No decoder.") {
			t.Errorf("written %q", got)
		}
		p.end()
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
		if diff := cmp.Diff([]string{"somebody: how late is it"}, p.brain.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		p.end()
	})
}
