package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
)

// meanwhile puts a note into the inbox while the model thinks.
func (b *bench) meanwhile(text string, then func(context.Context, llm.Request) (llm.Reply, error)) func(context.Context, llm.Request) (llm.Reply, error) {
	b.task.Inbox = &sessions.Inbox{}
	inbox := b.task.Inbox
	return func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		inbox.Add(sessions.Note{By: "@ada", Text: text, At: time.Now()})
		return then(ctx, req)
	}
}

// lastWords returns the last words of a person in a request.
func lastWords(req llm.Request) string {
	m := req.Messages[len(req.Messages)-1]
	if m.Role != llm.RoleUser {
		return ""
	}
	return m.Parts[len(m.Parts)-1].Text
}

func TestTheModelHearsBeforeItsNextStepWhatWasSaid(t *testing.T) {
	b := newBench()
	b.script(b.meanwhile("the red one]", call("open", `{"url":"shop.test"}`)), say("done"))
	_, steps := b.answer(t)
	if got, want := labels(steps), "think; open shop.test; @ada says: the red one]; think; answer"; got != want {
		t.Errorf("got steps %s\nwant %s", got, want)
	}
	req := b.model.asked(t, 1)
	if got, want := lastWords(req), "[@ada, while you work] the red one]"; got != want {
		t.Errorf("the model heard %q, want %q", got, want)
	}
	checkAnswered(t, req.Messages)
}

func TestWhatIsSaidDuringTheLastThoughtIsNotLost(t *testing.T) {
	b := newBench()
	b.script(b.meanwhile("and the price?", say("It is a lamp.")), say("It is a lamp for 39 €."))
	answer, steps := b.answer(t)
	if got, want := labels(steps), "think; @ada says: and the price?; think; answer"; got != want {
		t.Errorf("got steps %s\nwant %s", got, want)
	}
	if answer.Text != "It is a lamp for 39 €." {
		t.Errorf("got answer %q, want the one that knows all", answer.Text)
	}
	checkAnswered(t, b.model.asked(t, -1).Messages)
}

func TestWhatIsSaidAtTheStepLimitIsPartOfTheLastQuestion(t *testing.T) {
	b := newBench()
	b.task.MaxSteps = 1
	b.script(b.meanwhile("the price is enough", call("open", `{"url":"shop.test"}`)), say("39 €"))
	answer, _ := b.answer(t)
	if answer.Limit != "step limit of 1" || b.task.Inbox.Len() != 0 {
		t.Errorf("got %+v with %d notes left", answer, b.task.Inbox.Len())
	}
	req := b.model.asked(t, -1)
	if raw, _ := json.Marshal(req.Messages); !strings.Contains(string(raw), "the price is enough") || !strings.Contains(lastWords(req), "step limit") {
		t.Errorf("the last question was %s", raw)
	}
}

func TestTheLiteralModelTakesWhatIsSaidAsFurtherSteps(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, read`
	b.task.Inbox = &sessions.Inbox{}
	b.task.Inbox.Add(sessions.Note{By: "@ada", Text: `type "lamp" into Search, press Enter, read`})
	answer, steps := b.answer(t)
	if got, want := strings.Join(b.page(t).done(), "; "), "navigate url="+shop+"; type ref=e2 text=lamp; press key=Enter"; got != want {
		t.Errorf("the page got  %s\nwant %s", got, want)
	}
	if !strings.Contains(answer.Text, "text of Lumen") || !strings.Contains(answer.Text, "text of Found") {
		t.Errorf("got answer %q, want what was read before and after", answer.Text)
	}
	if got := labels(steps); !strings.Contains(got, "@ada says: type") {
		t.Errorf("got steps %s, want a notice", got)
	}
}

func TestATaskThatWentWrongDoesNotGoOnWithWhatWasSaid(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, click "No such thing"`
	b.task.Inbox = &sessions.Inbox{}
	b.task.Inbox.Add(sessions.Note{By: "@ada", Text: `read`})
	answer, _ := b.answer(t)
	if !answer.Failed || b.task.Inbox.Len() != 1 {
		t.Errorf("got %+v with %d notes left, want a failure that leaves the note to the manager", answer, b.task.Inbox.Len())
	}
}

func TestTheModelLeavesTheRestToAnotherRuntime(t *testing.T) {
	b := newBench(
		call("open", `{"url":"shop.test"}`),
		reply(llm.StopTools,
			llm.Part{Call: &llm.ToolCall{ID: "a", Name: "hand_over", Input: json.RawMessage(`{"runtime":"screen","brief":"the form is done"}`)}},
			llm.Part{Call: &llm.ToolCall{ID: "b", Name: "browser_click", Input: json.RawMessage(`{"ref":"e5"}`)}}),
	)
	b.settings.HandOver = []string{"screen"}
	steps, err := b.run(t.Context())
	h, ok := errors.AsType[*sessions.HandOverError](err)
	if !ok || h.Runtime != "screen" || h.Summary != "the form is done" {
		t.Fatalf("the task ended with %v, want a hand-over", err)
	}
	if got, want := labels(steps), "think; open shop.test; think; hand over to screen"; got != want {
		t.Errorf("got steps %s\nwant %s", got, want)
	}
	if !strings.Contains(string(offer(t, b, "hand_over").Schema), `"enum":["screen"]`) {
		t.Error("the tool does not name the runtimes there are")
	}
	// The conversation can go on where it was left.
	b.script(say("It came back."))
	b.answer(t)
	checkAnswered(t, b.model.asked(t, 0).Messages)
}

// offer returns the tool of that name in the first request.
func offer(t *testing.T, b *bench, name string) llm.Tool {
	t.Helper()
	for _, tool := range b.model.asked(t, 0).Tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("the model was not offered %s", name)
	return llm.Tool{}
}

func TestNothingIsHandedOverWhereTheSettingsDoNotAllowIt(t *testing.T) {
	for name, allowed := range map[string][]string{"at all": nil, "to this one": {"screen"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(named("hand_over", `{"runtime":"elsewhere","brief":"x"}`), say("then I do it"))
			b.settings.HandOver = allowed
			answer, steps := b.answer(t)
			if done := acts(steps); answer.Text != "then I do it" || len(done) != 1 || !done[0].Failed {
				t.Errorf("got %s, want a failed hand-over and an answer", labels(steps))
			}
			for _, tool := range b.model.asked(t, 0).Tools {
				if tool.Name == "hand_over" && allowed == nil {
					t.Error("the tool was offered")
				}
			}
		})
	}
}

func TestAnAgentWithAModelKeepsTheContractOfABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := newBench()
		b.settings.HandOver = []string{"screen"}
		b.browser.make = func() *page {
			return &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
				"wait": func(ctx context.Context, _ map[string]any) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
			}}
		}
		b.agent.Model = func(context.Context, string) (llm.Model, error) { return thinker{}, nil }
		return sessionstest.BackendCase{
			Backend: b.agent, Runtime: browseagent.Runtime, Acts: b.browser.acts,
			Prompt: "find", Slow: "wait", HandOver: "pass on", Note: "more",
		}
	})
}

// thinker is a model that decides from the conversation alone: it opens the
// shop, clicks, and answers, waits, or passes the task on, as its last prompt
// says.
type thinker struct{}

func (thinker) Name() string   { return "test:thinker" }
func (thinker) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (thinker) Generate(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	prompt, done := "", 0
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch {
			case m.Role == llm.RoleUser && (p.Text == "find" || p.Text == "wait" || p.Text == "pass on"):
				prompt, done = p.Text, 0
			case p.Result != nil:
				done++
			}
		}
	}
	next := say("done")
	switch {
	case prompt == "wait" && done == 0:
		next = call("wait", `{"timeMs":30000}`)
	case prompt == "pass on" && done == 0:
		next = named("hand_over", `{"runtime":"screen","brief":"the rest"}`)
	case prompt == "find" && done == 0:
		next = call("open", `{"url":"shop.test"}`)
	case prompt == "find" && done == 1:
		next = call("click", `{"ref":"e5"}`)
	}
	return next(ctx, req)
}
