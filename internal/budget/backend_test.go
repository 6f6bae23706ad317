package budget_test

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/computeruse"
	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
)

func TestBudgetBackendPassesTheBackendSuite(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		hold := make(chan struct{})
		inner := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
			if task.Prompt == "slow" {
				return []sessionstest.ScriptStep{sessionstest.Act("a"), sessionstest.Wait("b", hold), sessionstest.Answer("late")}
			}
			return []sessionstest.ScriptStep{sessionstest.Act("a"), sessionstest.Act("b"), sessionstest.Answer("done")}
		}}
		b := newBench(t, nil)
		return sessionstest.BackendCase{
			Backend: b.keeper.Backend(inner), Runtime: "test", Acts: inner.Acts, Prompt: "quick",
			Slow: "slow",
		}
	})
}

// script returns a backend that yields steps and then fails with err, if there is one.
func script(err error, steps ...sessions.Step) *sessionstest.Backend {
	return &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
		var moves []sessionstest.ScriptStep
		for _, s := range steps {
			moves = append(moves, sessionstest.ScriptStep{Step: s})
		}
		if err != nil {
			moves = append(moves, sessionstest.ScriptStep{Err: err})
		}
		return moves
	}}
}

func act(label, text string) sessions.Step {
	return sessions.Step{
		Kind: sessions.StepAct, Label: label, Text: text, URL: "https://shop.test/" + label,
		Title: "Lumen",
	}
}

var task = sessions.Task{
	ID: "t1", SessionID: "s1", Prompt: "find a lamp",
	Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "g1", User: "42"},
}

// work works the task and returns its last step and error.
func (b *bench) work(ctx context.Context, inner sessions.Backend) (steps []sessions.Step, err error) {
	for step, err := range b.keeper.Backend(inner).Run(ctx, sessions.Session{ID: "s1"}, task) {
		if err != nil {
			return steps, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func last(t *testing.T, steps []sessions.Step, err error) sessions.Step {
	t.Helper()
	if err != nil || len(steps) == 0 {
		t.Fatalf("got %d steps and %v, want an answer", len(steps), err)
	}
	return steps[len(steps)-1]
}

// more returns the hint for an exhausted budget.
func more(level budget.Level) string {
	return "whoever runs clank can allow more: setting " + budget.LimitKey + string(level)
}

func TestStepsAreCountedAndTheLimitHoldsExactly(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelTask: {Steps: 2}})
	think := sessions.Step{Kind: sessions.StepThink, Label: "think", Text: "Anna is a lamp."}
	inner := script(nil, think, act("1", ""), act("2", "39 €"), act("3", ""),
		sessions.Step{Kind: sessions.StepAnswer, Text: "done"})
	steps, err := b.work(t.Context(), inner)
	answer := last(t, steps, err)
	if answer.Kind != sessions.StepAnswer || answer.Limit != "budget spent: 2 of 2 steps for this task; "+
		more(budget.LevelTask)+"; a new task has a budget of its own" || answer.N != 4 {
		t.Errorf("got %+v, want an answer that names the limit", answer)
	}
	check.Contains(t, answer.Text, "Anna is a lamp.", "Lumen, https://shop.test/2", "39 €")
	check.Equal(t, "acts were done", inner.Acts(), 2)
	check.Equal(t, "steps were counted for the person",
		b.sum(t, budget.Key{Level: budget.LevelUser, ID: "discord:42", Day: "2026-03-01"}).Amount.Steps, 2)
}

func TestStepsAreDoneWhereCallsAreSpent(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Calls: 1}})
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	inner := script(nil, act("1", ""), sessions.Step{Kind: sessions.StepAnswer, Text: "done"})
	steps, err := b.work(t.Context(), inner)
	if answer := last(t, steps, err); answer.Limit != "" || inner.Acts() != 1 {
		t.Errorf("got %+v after %d acts, want the one", answer, inner.Acts())
	}
}

func TestTheMoneyThatATaskAskedForIsNotTheLimitOfItsCalls(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelTask: {Calls: 1}})
	a := llm.Account{Task: "t", MaxUSD: 1}
	check.Must(t, check.Err(b.ask(t.Context(), a)))
	_, err := b.ask(t.Context(), a)
	check.Contains(t, spent(t, err).Hint, more(budget.LevelTask))
}

func TestABackendThatRunsOutOfBudgetEndsWithAnAnswer(t *testing.T) {
	b := newBench(t, nil)
	err := &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent: 1.00 of 1.00 USD for today"}
	steps, failed := b.work(t.Context(), script(err, act("1", "39 €")))
	if answer := last(t, steps, failed); answer.Limit != err.Message || !strings.Contains(answer.Text, "39 €") {
		t.Errorf("got %+v", answer)
	}
}

func TestOtherEndsOfABackendAreItsOwn(t *testing.T) {
	b := newBench(t, nil)
	for _, want := range []error{errors.New("boom"), &sessions.HandOverError{Runtime: "other", Summary: "go on"}} {
		check.Fails(t, check.Err(b.work(t.Context(), script(want))), want)
	}
}

// asks is a backend that calls a model once.
type asks struct {
	sessionstest.Backend

	model llm.Model
}

func (a *asks) Run(ctx context.Context, _ sessions.Session, _ sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		if _, err := a.model.Generate(ctx, llm.Request{MaxTokens: 10}, nil); err != nil {
			yield(sessions.Step{}, err)
			return
		}
		yield(sessions.Step{N: 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Text: "done"}, nil)
	}
}

func TestCallsOfABackendBelongToItsTask(t *testing.T) {
	b := newBench(t, nil)
	steps, err := b.work(t.Context(), &asks{model: b.keeper.Model(b.model)})
	last(t, steps, err)
	want := llm.Account{Task: "t1", Session: "s1", Guild: "g1", User: "discord:42", Purpose: "browse"}
	check.Equal(t, "b.last(t).Account", b.last(t).Account, want)
}

func TestMinutesAreCountedWhileATaskRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		hold := make(chan struct{})
		time.AfterFunc(40*time.Second, func() { close(hold) })
		inner := &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{sessionstest.Wait("1", hold), sessionstest.Answer("done")}
		}}
		steps, err := b.work(t.Context(), inner)
		last(t, steps, err)
		got := b.today(t)
		if got.Amount.Time != 40*time.Second || got.Held.Time != 0 {
			t.Errorf("got %s, held %s; want 40 s and none", got.Amount.Time, got.Held.Time)
		}
	})
}

func TestATaskEndsWhenItsMinutesAreSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, budget.Limits{budget.LevelUser: {Time: 50 * time.Second}})
		inner := &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{{Step: act("1", "39 €")}, {Step: act("3", ""), Hold: make(chan struct{})}}
		}}
		begun := time.Now()
		steps, err := b.work(t.Context(), inner)
		answer := last(t, steps, err)
		if answer.Limit != "budget spent: 0.9 of 0.9 minutes for this person today; "+more(budget.LevelUser)+
			"; it begins anew at midnight in UTC" || !strings.Contains(answer.Text, "39 €") {
			t.Errorf("got %+v", answer)
		}
		check.Equal(t, "it ran", time.Since(begun), 50*time.Second)
		steps, err = b.work(t.Context(), inner)
		if answer := last(t, steps, err); answer.Limit == "" || len(steps) != 1 {
			t.Errorf("the next task got %d steps and %+v, want the limit at once", len(steps), answer)
		}
	})
}

func TestTwoTasksShareTheirMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, budget.Limits{budget.LevelUser: {Time: time.Minute}})
		ends := make(chan time.Duration, 2)
		begun := time.Now()
		for range 2 {
			go func() {
				inner := &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
					return []sessionstest.ScriptStep{{Step: act("1", ""), Hold: make(chan struct{})}}
				}}
				if _, err := b.work(t.Context(), inner); err != nil {
					t.Error(err)
				}
				ends <- time.Since(begun)
			}()
		}
		for range 2 {
			if took := <-ends; took > 30*time.Second {
				t.Errorf("a task ran %s, want the minute to be shared", took)
			}
		}
		if got := b.today(t).Amount.Time; got > time.Minute {
			t.Errorf("they took %s together, want at most a minute", got)
		}
	})
}

func TestAStopIsNotMistakenForAnExhaustedBudget(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelTask: {Steps: 1}})
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped by ada")
	inner := &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
		stop(why)
		return []sessionstest.ScriptStep{sessionstest.Act("1")}
	}}
	if steps, err := b.work(ctx, inner); !errors.Is(err, why) {
		t.Errorf("got %d steps and %v, want the cause of the stop", len(steps), err)
	}
}

func TestAConsumerThatStopsReleasesTheReservedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		for range b.keeper.Backend(script(nil, act("1", ""), act("2", ""))).Run(t.Context(), sessions.Session{ID: "s1"},
			task) {
			<-time.After(3 * time.Second) // of the bubble's clock
			break
		}
		if got := b.today(t); got.Held.Time != 0 || got.Amount.Time != 3*time.Second {
			t.Errorf("got %s, held %s; want 3 s and none", got.Amount.Time, got.Held.Time)
		}
	})
}

func TestThePartialAnswerIsTheLastTextAndReading(t *testing.T) {
	b := newBench(t, nil)
	spent := &llm.Error{Kind: llm.ErrBudgetSpent, Message: "budget spent"}
	think := func(text string) sessions.Step {
		return sessions.Step{Kind: sessions.StepThink, Label: "think", Text: text}
	}
	failed := act("gone", "an error page")
	failed.Failed = true
	silent := act("here", "")
	notice := sessions.Step{Kind: sessions.StepNotice, Label: "notice", Text: "a notice"}
	steps, err := b.work(t.Context(), script(spent, think("old thought"), think("Anna is a lamp."), think(""),
		act("1", "29 €"), act("2", "39 €"), silent, failed, notice))
	answer := last(t, steps, err)
	check.Contains(t, answer.Text, "Anna is a lamp.", "39 €")
	for _, no := range []string{"old thought", "29 €", "an error page", "a notice"} {
		check.Lacks(t, answer.Text, no)
	}
}

// mind is a scripted [computeruse.Model] that is its own conversation.
type mind struct {
	told   []computeruse.Input
	answer func() (computeruse.Turn, error)
	broken error // of Begin
}

func (m *mind) Name() string                       { return "test:dollar" }
func (m *mind) Fit(screen image.Point) image.Point { return screen }
func (m *mind) Begin(computeruse.ConversationOptions) (computeruse.Conversation, error) {
	return m, m.broken
}
func (m *mind) Memory() (json.RawMessage, error) { return json.RawMessage(`{}`), nil }

func (m *mind) Next(_ context.Context, in computeruse.Input) (computeruse.Turn, error) {
	m.told = append(m.told, in)
	return m.answer()
}

func turn(in, out int) func() (computeruse.Turn, error) {
	return func() (computeruse.Turn, error) {
		return computeruse.Turn{Text: "ok", Usage: llm.Usage{Calls: 1, InputTokens: in, OutputTokens: out}}, nil
	}
}

// talk starts a conversation within the budget of b.
func (b *bench) talk(t *testing.T, m *mind) computeruse.Conversation {
	t.Helper()
	talk, err := b.keeper.ComputerUseModel(m).Begin(computeruse.ConversationOptions{
		System: strings.Repeat("s", 1000), Tools: []llm.Tool{{Name: "t"}}, Memory: json.RawMessage(`{"a":10}`),
		EndUser: "ada", MaxTokens: 100,
	})
	check.Must(t, err)
	return talk
}

func TestAComputerUseCallIsEstimatedWithTheWholeConversation(t *testing.T) {
	const begun = 8 + 500 + 8 + 1 + 4 + 2 // the request, its instructions, tool, memory and person
	words := strings.Repeat("x", 2000)
	seen, err := computerusetest.Picture(image.Pt(200, 100), 1)
	check.Must(t, err)
	b := newBench(t, nil)
	for name, tt := range map[string]struct {
		in   computeruse.Input
		want int64
	}{
		"words":        {computeruse.Input{Says: []string{words}}, 8 + 1000},
		"an outcome":   {computeruse.Input{Outcomes: []computeruse.CallResult{{CallID: "1", Text: words}}}, 8 + 1001},
		"a failure":    {computeruse.Input{Outcomes: []computeruse.CallResult{{Err: words}}}, 8 + 1000},
		"a part of it": {computeruse.Input{Outcomes: []computeruse.CallResult{{Image: &llm.Image{Data: seen}}}}, 8 + 350},
		"a warning": {computeruse.Input{Outcomes: []computeruse.CallResult{
			{Acknowledged: []computeruse.SafetyWarning{{ID: "1", Code: "abc", Message: words}}},
		}}, 8 + 8 + 1003},
		"a tool's result": {computeruse.Input{Results: []llm.ToolResult{{ID: "1", Text: words}}}, 8 + 1001},
		"the screen": {
			computeruse.Input{Shot: &computeruse.Screenshot{URL: words, Image: llm.Image{Data: seen}}}, 8 + 1000 + 350,
		},
	} {
		m := &mind{answer: func() (computeruse.Turn, error) { return computeruse.Turn{}, errors.New("no count") }}
		talk := b.talk(t, m)
		check.Fails(t, check.Err(talk.Next(t.Context(), tt.in)), nil, "no count")
		check.Equal(t, name, b.last(t).Amount.Tokens, begun+tt.want+100)
		check.Fails(t, check.Err(talk.Next(t.Context(), tt.in)), nil, "no count")
		check.Equal(t, name+", told again", b.last(t).Amount.Tokens, begun+2*tt.want+100)
		m.answer = turn(5000, 50)
		got, err := talk.Next(t.Context(), tt.in)
		if err != nil || got.Text != "ok" || got.Usage.USD != 0.00505 {
			t.Fatalf("got %+v, %v; want the answer with its price", got, err)
		}
		m.answer = turn(0, 0) // it does not say: the estimate stays
		check.Must(t, check.Err(talk.Next(t.Context(), tt.in)))
		check.Equal(t, name+", after an answer", b.last(t).Amount.Tokens, 5050+tt.want+100)
		check.Must(t, check.Err(talk.Next(t.Context(), tt.in)))
		check.Equal(t, name+", after one without a count", b.last(t).Amount.Tokens, 5050+2*tt.want+100)
	}
}

func TestTheInputOfARefusedCallIsSentWithTheNext(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Calls: 1}})
	m := &mind{answer: turn(10, 10)}
	talk := b.talk(t, m)
	check.Must(t, check.Err(talk.Next(t.Context(), computeruse.Input{Says: []string{"find a lamp"}})))
	shot := &computeruse.Screenshot{URL: "https://shop.test/"}
	_, err := talk.Next(t.Context(), computeruse.Input{Outcomes: []computeruse.CallResult{{CallID: "1"}}, Shot: shot})
	spent(t, err)
	if len(m.told) != 1 {
		t.Fatalf("the mind was asked %d times, want once", len(m.told))
	}
	b.rules.Limits = nil
	check.Must(t, check.Err(talk.Next(t.Context(), computeruse.Input{Says: []string{"go on"}})))
	got := m.told[1]
	if len(got.Outcomes) != 1 || len(got.Says) != 1 || got.Shot != shot {
		t.Errorf("got %+v, want the outcome, the words and the picture", got)
	}
	if _, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"and on"}}); err != nil ||
		len(m.told[2].Outcomes) != 0 {
		t.Errorf("%v, got %+v: the outcome is told twice", err, m.told[2])
	}
}

func TestAMindThatCannotBeginSaysSo(t *testing.T) {
	b := newBench(t, nil)
	broken := errors.New("bad memory")
	check.Fails(t, check.Err(b.keeper.ComputerUseModel(&mind{broken: broken}).Begin(computeruse.ConversationOptions{})),
		broken)
}

func TestAnAnswerIsLimitedByTheRemainingBudget(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelTask: {Money: budget.Dollars(0.002)}})
	m := &mind{answer: turn(300, 60)}
	talk, err := b.keeper.ComputerUseModel(m).Begin(computeruse.ConversationOptions{MaxTokens: 4096})
	check.Must(t, err)
	ctx := llm.WithAccount(t.Context(), llm.Account{Task: "t"})
	for err == nil {
		_, err = talk.Next(ctx, computeruse.Input{Says: []string{"go on"}})
	}
	spent(t, err)
	for i, in := range m.told {
		if in.MaxTokens < 256 || in.MaxTokens > 2000 {
			t.Errorf("answer %d was bounded by %d tokens", i, in.MaxTokens)
		}
	}
	if got := b.sum(t, budget.Key{Level: budget.LevelTask, ID: "t"}).Amount.Money; len(m.told) < 3 ||
		got > budget.Dollars(0.002) {
		t.Errorf("%s was spent in %d calls", got, len(m.told))
	}
}
