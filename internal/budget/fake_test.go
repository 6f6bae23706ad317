package budget_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/llm"
)

// noon is when the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a keeper with a ledger and a model that costs a dollar for a million tokens.
type bench struct {
	keeper *budget.Enforcer
	ledger *sqlitetest.Ledger
	rules  budget.Rules
	now    time.Time
	model  *model
}

func newBench(t *testing.T, limits budget.Limits) *bench {
	t.Helper()
	b := &bench{
		ledger: sqlitetest.OpenLedger(t), now: noon, model: &model{name: "test:dollar"},
		rules: budget.Rules{
			Limits: limits, Zone: time.UTC,
			Prices: map[string]llm.Price{"test:dollar": {Input: 1, Cached: 1, Output: 1}},
		},
	}
	b.keeper = &budget.Enforcer{
		Ledger: b.ledger, Rules: func() budget.Rules { return b.rules }, Now: func() time.Time { return b.now },
		IsFree: func(name string) bool { return name == "plain:steps" },
	}
	return b
}

// ask makes one call for somebody.
func (b *bench) ask(ctx context.Context, a llm.Account) (llm.Reply, error) {
	return b.keeper.Model(b.model).Generate(llm.WithAccount(ctx, a), llm.Request{System: "be kind", MaxTokens: 1000}, nil)
}

// sum returns what was spent under a key.
func (b *bench) sum(t *testing.T, k budget.Key) budget.Sum {
	t.Helper()
	sums, err := b.ledger.Sums(context.WithoutCancel(t.Context()), []budget.Key{k})
	check.Must(t, err)
	return sums[0]
}

// today returns the sum of the day.
func (b *bench) today(t *testing.T) budget.Sum {
	t.Helper()
	return b.sum(t, budget.Key{Level: budget.LevelDay, Day: b.now.Format(time.DateOnly)})
}

// last returns the newest call in the ledger.
func (b *bench) last(t *testing.T) budget.Entry {
	t.Helper()
	calls, err := b.ledger.Calls(context.WithoutCancel(t.Context()), 1)
	if err != nil || len(calls) != 1 {
		t.Fatalf("got calls %+v, %v; want one", calls, err)
	}
	return calls[0]
}

// model answers as it is told to, and counts how often it is asked.
type model struct {
	name   string
	caps   llm.Caps
	answer func(ctx context.Context, req llm.Request) (llm.Reply, error) // nil: 300 tokens

	mu    sync.Mutex
	asked int
}

func (m *model) Name() string   { return m.name }
func (m *model) Caps() llm.Caps { return m.caps }

func (m *model) Generate(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	m.mu.Lock()
	m.asked++
	m.mu.Unlock()
	if m.answer != nil {
		return m.answer(ctx, req)
	}
	return llm.Reply{Usage: llm.Usage{Calls: 1, InputTokens: 200, OutputTokens: 100}}, nil
}

// using returns an answer with this usage and error.
func using(u llm.Usage, err error) func(context.Context, llm.Request) (llm.Reply, error) {
	return func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{Usage: u}, err }
}
