package budget_test

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/budget"
	"clank/llm"
)

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

// talk begins a conversation within the budget of b.
func (b *bench) talk(t *testing.T, m *mind) computeruse.Conversation {
	t.Helper()
	talk, err := b.keeper.ComputerUseModel(m).Begin(computeruse.ConversationOptions{System: strings.Repeat("s", 1000), MaxTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	return talk
}

func TestACallOfAMindIsEstimatedWithAllThatWasSaidBefore(t *testing.T) {
	b := newBench(t, nil)
	m := &mind{answer: func() (computeruse.Turn, error) { return computeruse.Turn{}, errors.New("no count") }}
	talk := b.talk(t, m)
	if _, err := talk.Next(t.Context(), computeruse.Input{Says: []string{strings.Repeat("x", 2000)}}); err == nil {
		t.Fatal("the mind's error is lost")
	}
	first := b.last(t).Amount.Tokens
	if first < 1600 {
		t.Errorf("got an estimate of %d tokens, want those of the brief, the words and the answer", first)
	}
	m.answer = turn(5000, 50)
	got, err := talk.Next(t.Context(), computeruse.Input{Shot: &computeruse.Screenshot{Image: llm.Image{Data: []byte("no picture")}}})
	if err != nil || got.Text != "ok" || got.Usage.USD != 0.00505 {
		t.Fatalf("got %+v, %v; want the answer with its price", got, err)
	}
	m.answer = turn(0, 0) // it does not say: the estimate stays
	if _, err := talk.Next(t.Context(), computeruse.Input{Results: []llm.ToolResult{{Text: "abcd"}}}); err != nil {
		t.Fatal(err)
	}
	if got := b.last(t).Amount.Tokens; got < 5150 || got > 5250 {
		t.Errorf("got an estimate of %d tokens, want a little more than what the call before took", got)
	}
}

func TestWhatARefusedCallWouldHaveToldIsToldWithTheNext(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Calls: 1}})
	m := &mind{answer: turn(10, 10)}
	talk := b.talk(t, m)
	if _, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"find a lamp"}}); err != nil {
		t.Fatal(err)
	}
	shot := &computeruse.Screenshot{URL: "https://shop.test/"}
	_, err := talk.Next(t.Context(), computeruse.Input{Outcomes: []computeruse.CallResult{{CallID: "1"}}, Shot: shot})
	spent(t, err)
	if len(m.told) != 1 {
		t.Fatalf("the mind was asked %d times, want once", len(m.told))
	}
	b.rules.Limits = nil
	if _, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"go on"}}); err != nil {
		t.Fatal(err)
	}
	got := m.told[1]
	if len(got.Outcomes) != 1 || len(got.Says) != 1 || got.Shot != shot {
		t.Errorf("got %+v, want the outcome, the words and the picture", got)
	}
	if _, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"and on"}}); err != nil || len(m.told[2].Outcomes) != 0 {
		t.Errorf("%v, got %+v: the outcome is told twice", err, m.told[2])
	}
}

func TestAMindThatCannotBeginSaysSo(t *testing.T) {
	b := newBench(t, nil)
	broken := errors.New("bad memory")
	if _, err := b.keeper.ComputerUseModel(&mind{broken: broken}).Begin(computeruse.ConversationOptions{}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
