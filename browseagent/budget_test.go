package browseagent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/cancel"
	"clank/llm"
)

// spent returns a model whose budget allows no further call.
func spent(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, &llm.Error{Kind: llm.ErrBudgetSpent, Model: "test:model", Message: "budget spent: 0.98 of 1.00 USD for today"}
}

func TestASpentBudgetEndsTheTaskWithWhatWasFound(t *testing.T) {
	b := newBench(
		call("open", `{"url":"shop.test"}`),
		reply(llm.StopTools, llm.Part{Text: "The lamp is called Anna."}, llm.Part{Call: &llm.ToolCall{ID: "1", Name: "browser_extract", Input: []byte(`{}`)}}),
		spent,
	)
	answer, steps := b.answer(t)
	if got, want := answer.Limit, "budget spent: 0.98 of 1.00 USD for today"; got != want {
		t.Errorf("got limit %q, want %q", got, want)
	}
	for _, want := range []string{"The lamp is called Anna.", "Lumen, https://shop.test", "text of Lumen"} {
		if !strings.Contains(answer.Text, want) {
			t.Errorf("the answer so far lacks %q: %s", want, answer.Text)
		}
	}
	if got := len(b.model.requests); got != 3 {
		t.Errorf("the model was asked %d times, want 3: none after the budget was spent", got)
	}
	if got, want := answer.N, steps[len(steps)-2].N+1; got != want {
		t.Errorf("got answer number %d, want %d", got, want)
	}
	b.task.Prompt = "go on"
	b.script(say("Anna costs 39 €."))
	if answer, _ := b.answer(t); answer.Text != "Anna costs 39 €." || answer.Limit != "" {
		t.Errorf("after the budget was raised: got answer %+v", answer)
	}
	checkAnswered(t, b.model.asked(t, -1).Messages)
}

func TestABudgetThatIsSpentFromTheBeginningIsToldTheSameWay(t *testing.T) {
	b := newBench(spent)
	answer, _ := b.answer(t)
	if answer.Limit == "" || answer.Text == "" {
		t.Errorf("got answer %+v, want a text and the limit", answer)
	}
}

func TestABudgetSpentWhileWrappingUpNeedsNoFurtherQuestion(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), spent)
	b.settings.MaxSteps = 1
	answer, _ := b.answer(t)
	if !strings.HasPrefix(answer.Limit, "budget spent") || !strings.Contains(answer.Text, "shop.test") {
		t.Errorf("got answer %+v", answer)
	}
}

func TestAStoppedTaskIsStoppedAlthoughItsBudgetIsSpent(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	b := newBench(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		stop(&cancel.Cause{Reason: cancel.Stopped})
		return spent(ctx, req)
	})
	b.model.deaf = true
	steps, err := b.run(ctx)
	if _, stopped := errors.AsType[*cancel.Cause](err); !stopped {
		t.Errorf("got %v after %s, want the cause of the stop", err, labels(steps))
	}
}
