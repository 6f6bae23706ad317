package computeruse_test

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/llm"
	"clank/sessions"
)

// bench is an agent with everything around it in memory.
type bench struct {
	agent   *computeruse.Agent
	browser *computerusetest.Browser
	mind    *computerusetest.Model
	session sessions.Session
	task    sessions.Task
}

func newBench(t *testing.T, turns ...computeruse.Turn) *bench {
	t.Helper()
	b := &bench{browser: &computerusetest.Browser{}, mind: &computerusetest.Model{}}
	b.mind.Script = script(turns...)
	b.agent = &computeruse.Agent{
		Browser: b.browser,
		Model:   func(context.Context, string) (computeruse.Model, error) { return b.mind, nil },
	}
	b.session = sessions.Session{ID: "s1", Runtime: computeruse.RuntimeOpenAI}
	b.task = sessions.Task{ID: "t1", SessionID: "s1", Prompt: "look around"}
	t.Cleanup(func() {
		for _, f := range b.mind.Faults() {
			t.Errorf("the mind: %s", f)
		}
	})
	return b
}

// script plays turns one after the other.
func script(turns ...computeruse.Turn) func(context.Context, int, computeruse.Input) (computeruse.Turn, error) {
	return func(_ context.Context, n int, _ computeruse.Input) (computeruse.Turn, error) {
		if n >= len(turns) {
			return computeruse.Turn{}, errors.New("the script has ended")
		}
		return turns[n], nil
	}
}

// do returns a turn of one call.
func do(actions ...computeruse.Action) computeruse.Turn {
	return computeruse.Turn{
		Calls: []computeruse.Call{{ID: "c1", Actions: actions}}, Stop: llm.StopTools, Usage: llm.Usage{Calls: 1, InputTokens: 10},
	}
}

func use(name, input string) computeruse.Turn {
	return computeruse.Turn{Tools: []llm.ToolCall{{ID: "f1", Name: name, Input: []byte(input)}}, Stop: llm.StopTools}
}

func say(text string) computeruse.Turn { return computeruse.Turn{Text: text, Stop: llm.StopEnd} }

func click(x, y int) computeruse.Action {
	return computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: x, Y: y}}
}

// run works the task; each may be nil.
func (b *bench) run(ctx context.Context, each func(sessions.Step) bool) (steps []sessions.Step, err error) {
	for step, err := range b.agent.Run(ctx, b.session, b.task) {
		if err != nil {
			return steps, err
		}
		steps = append(steps, step)
		if step.Memory != nil {
			b.session.Memory = step.Memory
		}
		if step.URL != "" {
			b.session.URL, b.session.Title = step.URL, step.Title
		}
		if each != nil && !each(step) {
			return steps, nil
		}
	}
	return steps, nil
}

// answer works the task, which must end with an answer.
func (b *bench) answer(t *testing.T) (sessions.Step, []sessions.Step) {
	t.Helper()
	steps, err := b.run(t.Context(), nil)
	if err != nil {
		t.Fatalf("the task failed: %v", err)
	}
	last := steps[len(steps)-1]
	if last.Kind != sessions.StepAnswer {
		t.Fatalf("the last step is %+v, want an answer", last)
	}
	return last, steps
}

func (b *bench) acts() string {
	if s := b.browser.Screen(); s != nil {
		return strings.Join(s.Acts(), "; ")
	}
	return ""
}

// told returns what the model was told before question n.
func (b *bench) told(t *testing.T, n int) computeruse.Input {
	t.Helper()
	asked := b.mind.Asked()
	if n >= len(asked) {
		t.Fatalf("the model was asked %d times, want more than %d", len(asked), n)
	}
	return asked[n]
}
