package sqlitetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/llm"
)

// TestMoney checks the budget while many models run concurrently and misbehave (cost more than estimated, fail, are
// canceled, stream forever, crash the program): no limit is exceeded by more than the estimate of one call, and the
// sums of all levels agree. Each call of again returns the same ledger, reopened.
func TestMoney(t *testing.T, seeds uint64, open func(t *testing.T) (again func() budget.Ledger)) {
	t.Helper()
	for seed := range seeds {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			again := open(t)
			w := &moneyRun{rand: rand.New(rand.NewPCG(seed, 1)), largest: make(map[budget.Key]budget.Amount)}
			w.rules = w.randomRules()
			for range 3 {
				w.runCalls(t, again())
			}
			w.checkTotals(t, again())
		})
	}
	t.Run("Crowd", func(t *testing.T) { testCrowd(t, open(t)()) })
}

var levels = []budget.Level{budget.LevelTask, budget.LevelSession, budget.LevelUser, budget.LevelGuild, budget.LevelDay}

// moneyRun is one run of the test.
type moneyRun struct {
	rand  *rand.Rand
	rules budget.Rules // initial rules; limits are lowered later

	mu      sync.Mutex
	largest map[budget.Key]budget.Amount // the largest estimate of an admitted call
	moment  atomic.Int64                 // hours since the start
}

// randomRules returns limits of some levels, small enough to be reached.
func (w *moneyRun) randomRules() budget.Rules {
	rules := budget.Rules{
		Limits: budget.Limits{}, Zone: time.UTC,
		Prices: map[string]llm.Price{"wild": {Input: 3, Cached: 0.3, Output: 12}},
	}
	for i, level := range levels {
		if w.rand.IntN(4) > 0 {
			size := 1 << i
			rules.Limits[level] = budget.Amount{
				Money: budget.Dollars(0.05 * float64(size) * w.rand.Float64()), Calls: int64(w.rand.IntN(8 * size)),
				Tokens: int64(w.rand.IntN(8000 * size)),
			}
		}
	}
	return rules
}

// rulesNow returns the current rules: an operator lowers their limits while calls run.
func (w *moneyRun) rulesNow() budget.Rules {
	rules := w.rules
	rules.Limits = budget.Limits{}
	for level, a := range w.rules.Limits {
		if w.moment.Load() > 200 {
			a.Money, a.Tokens, a.Calls = lower(a.Money), lower(a.Tokens), lower(a.Calls)
		}
		rules.Limits[level] = a
	}
	return rules
}

// lower returns three quarters of a limit; zero, which does not limit, stays zero.
func lower[N ~int64](n N) N { return max(n*3/4, min(n, 1)) }

// runCalls runs calls until the program ends, which interrupts some of them.
func (w *moneyRun) runCalls(t *testing.T, l budget.Ledger) {
	t.Helper()
	check.Must(t, check.Err(l.Abandon(t.Context())))
	mortal := &crashingLedger{Ledger: l, world: w}
	keeper := &budget.Enforcer{
		Ledger: mortal, Rules: w.rulesNow,
		Now: func() time.Time { return at.Add(time.Duration(w.moment.Add(1)/40) * time.Hour) },
	}
	const callers, calls = 8, 15
	var wg sync.WaitGroup
	for i := range callers {
		r := rand.New(rand.NewPCG(w.rand.Uint64(), uint64(i)))
		wg.Go(func() {
			for n := range calls {
				if i == 0 && n == calls-2 {
					mortal.dead.Store(true)
				}
				w.call(t, keeper, r)
			}
		})
	}
	wg.Wait()
}

// call makes one call for a random person.
func (w *moneyRun) call(t *testing.T, k *budget.Enforcer, r *rand.Rand) {
	t.Helper()
	pick := func(of string, most int) string {
		if n := r.IntN(most + 1); n > 0 {
			return fmt.Sprintf("%s%d", of, n)
		}
		return ""
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx = llm.WithAccount(ctx, llm.Account{
		Task: pick("t", 9), Session: pick("s", 5), User: pick("u", 3),
		Guild: pick("g", 2),
	})
	text := strings.Repeat("x", r.IntN(2000))
	_, err := k.Model(&randomModel{rand: r, stop: cancel}).Generate(ctx,
		llm.Request{System: text, MaxTokens: 1 + r.IntN(1000)}, nil)
	if _, ok := errors.AsType[*llm.Error](err); err != nil && !errors.Is(err, context.Canceled) && !ok {
		t.Errorf("got %v, want what the model said or that the budget is spent", err)
	}
}

// checkTotals checks the sums at the end.
func (w *moneyRun) checkTotals(t *testing.T, l budget.Ledger) {
	t.Helper()
	check.Must(t, check.Err(l.Abandon(t.Context())))
	totals := make(map[budget.Level]budget.Amount)
	for _, level := range levels {
		sums, err := l.All(t.Context(), level, "", 1<<20)
		check.Must(t, err)
		for _, s := range sums {
			totals[level] = sum(totals[level], s.Amount)
			check.Equal(t, fmt.Sprintf("%+v holds although nothing runs", s.Key), s.Held, budget.Amount{})
			if level == budget.LevelDay || s.Key.ID != "" {
				w.checkSum(t, s)
			}
		}
	}
	for _, level := range levels {
		if totals[level] != totals[budget.LevelDay] {
			t.Errorf("level %s sums to %+v, the days to %+v", level, totals[level], totals[budget.LevelDay])
		}
	}
	if totals[budget.LevelDay].Calls == 0 {
		t.Log("no call was let through")
	}
}

func (w *moneyRun) checkSum(t *testing.T, s budget.Sum) {
	t.Helper()
	limit, most := w.rules.Limits[s.Key.Level], w.largest[s.Key]
	if limit.Calls > 0 && s.Amount.Calls > limit.Calls {
		t.Errorf("%+v: %d calls, want at most %d", s.Key, s.Amount.Calls, limit.Calls)
	}
	if limit.Tokens > 0 && s.Amount.Tokens > limit.Tokens+most.Tokens {
		t.Errorf("%+v: %d tokens, want at most %d and one call's %d", s.Key, s.Amount.Tokens, limit.Tokens, most.Tokens)
	}
	if limit.Money > 0 && s.Amount.Money > limit.Money+most.Money {
		t.Errorf("%+v: %s USD, want at most %s and one call's %s", s.Key, s.Amount.Money, limit.Money, most.Money)
	}
}

// crashingLedger is a ledger that records no results after the program has crashed.
type crashingLedger struct {
	budget.Ledger

	world *moneyRun
	dead  atomic.Bool
}

func (m *crashingLedger) Reserve(ctx context.Context, e budget.Entry, may func([]budget.Sum) error) (int64, error) {
	id, err := m.Ledger.Reserve(ctx, e, may)
	if err == nil {
		m.world.mu.Lock()
		for _, k := range e.Keys() {
			old := m.world.largest[k]
			m.world.largest[k] = budget.Amount{Tokens: max(old.Tokens, e.Amount.Tokens), Money: max(old.Money, e.Amount.Money)}
		}
		m.world.mu.Unlock()
	}
	return id, err
}

func (m *crashingLedger) Settle(ctx context.Context, id int64, real budget.Amount, state budget.EntryState,
	unpriced bool,
) error {
	if m.dead.Load() {
		return errors.New("the program is dead")
	}
	return m.Ledger.Settle(ctx, id, real, state, unpriced)
}

// randomModel is a model with random behavior.
type randomModel struct {
	rand *rand.Rand
	stop func()
}

func (m *randomModel) Name() string   { return "test:wild" }
func (m *randomModel) Caps() llm.Caps { return llm.Caps{} }

// Generate implements [llm.Model]. A token has at least one byte, and an answer respects its limit.
func (m *randomModel) Generate(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	for range m.rand.IntN(20) {
		runtime.Gosched()
	}
	usage := llm.Usage{
		Calls: 1, InputTokens: m.rand.IntN(len(req.System) + 1),
		OutputTokens: m.rand.IntN(req.MaxTokens + 1),
	}
	switch m.rand.IntN(8) {
	case 0:
		return llm.Reply{}, &llm.Error{Kind: llm.ErrRateLimited, Status: 429}
	case 1:
		return llm.Reply{Usage: usage}, &llm.Error{Kind: llm.ErrCutOff}
	case 2: // streams until it is canceled
		m.stop()
		<-ctx.Done()
		return llm.Reply{}, context.Cause(ctx)
	case 3: // does not report its usage
		return llm.Reply{}, nil
	case 4, 5: // the worst case
		usage.InputTokens, usage.OutputTokens = len(req.System), req.MaxTokens
	}
	usage.CachedTokens = m.rand.IntN(usage.InputTokens + 1)
	switch m.rand.IntN(12) { // reports impossible usage
	case 0:
		usage.InputTokens = -1_000_000
	case 1:
		usage.OutputTokens, usage.CachedTokens = -usage.OutputTokens-1, math.MaxInt
	case 2:
		usage.USD = math.NaN()
	case 3:
		usage.USD = -1_000
	}
	return llm.Reply{Usage: usage}, nil
}

// testCrowd starts many calls before the first has ended, each of which then takes twice its estimate. In tokens and
// in money the limit is exceeded by at most the estimate of one call.
func testCrowd(t *testing.T, l budget.Ledger) {
	t.Helper()
	const callers = 24
	for name, limit := range map[string]budget.Amount{
		"tokens": {Tokens: 12_000}, "money": {Money: budget.Dollars(0.012)},
	} {
		day := at.AddDate(0, 0, len(name)) // a separate day for each
		keeper := &budget.Enforcer{
			Ledger: l, Now: func() time.Time { return day },
			Rules: func() budget.Rules {
				return budget.Rules{
					Zone: time.UTC, Limits: budget.Limits{budget.LevelDay: limit},
					Prices: map[string]llm.Price{"crowd": {Input: 1, Cached: 1, Output: 1}},
				}
			},
		}
		m := &barrierModel{settled: make(chan struct{}, callers), open: make(chan struct{})}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				_, err := keeper.Model(m).Generate(t.Context(), llm.Request{System: strings.Repeat("x", 1000), MaxTokens: 500}, nil)
				var failed *llm.Error
				switch {
				case errors.As(err, &failed) && failed.Kind == llm.ErrBudgetSpent:
					m.settled <- struct{}{}
				case err != nil:
					t.Errorf("%s: %v", name, err)
					m.settled <- struct{}{}
				}
			})
		}
		for range callers {
			<-m.settled
		}
		most := heldByOne(t, l, day)
		close(m.open)
		wg.Wait()
		checkCrowd(t, name, limit, most, sumOf(t, l, day).Amount)
	}
}

func checkCrowd(t *testing.T, name string, limit, most, got budget.Amount) {
	t.Helper()
	if limit.Tokens > 0 && got.Tokens > limit.Tokens+most.Tokens {
		t.Errorf("%s: got %d, want at most %d and one call's %d", name, got.Tokens, limit.Tokens, most.Tokens)
	}
	if limit.Money > 0 && got.Money > limit.Money+most.Money {
		t.Errorf("%s: got %s, want at most %s and one call's %s", name, got.Money, limit.Money, most.Money)
	}
	if got.Calls < 4 {
		t.Errorf("%s: %d calls were let through, want some", name, got.Calls)
	}
}

// heldByOne returns the estimate of each call in progress.
func heldByOne(t *testing.T, l budget.Ledger, day time.Time) budget.Amount {
	t.Helper()
	s := sumOf(t, l, day)
	if s.Held.Calls == 0 {
		t.Fatal("no call is under way")
	}
	return budget.Amount{Tokens: s.Held.Tokens / s.Held.Calls, Money: s.Held.Money / budget.Money(s.Held.Calls)}
}

func sumOf(t *testing.T, l budget.Ledger, day time.Time) budget.Sum {
	t.Helper()
	sums, err := l.Sums(t.Context(), []budget.Key{{Level: budget.LevelDay, Day: day.Format(time.DateOnly)}})
	check.Must(t, err)
	return sums[0]
}

// barrierModel answers when all calls are in progress or refused, with a token for each byte of its input.
type barrierModel struct{ settled, open chan struct{} }

func (m *barrierModel) Name() string   { return "test:crowd" }
func (m *barrierModel) Caps() llm.Caps { return llm.Caps{} }

// Generate implements [llm.Model].
func (m *barrierModel) Generate(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	m.settled <- struct{}{}
	<-m.open
	return llm.Reply{Usage: llm.Usage{Calls: 1, InputTokens: 1500, OutputTokens: 500}}, nil
}
