package budgettest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"clank/internal/budget"
)

// Ledger is a [budget.Ledger] in memory that adds up anew whenever it is asked.
// The zero value is empty and ready to use.
type Ledger struct {
	// Fail, where it is set, is asked before each call, with the name of the
	// method; its error is the call's. Set it before the first call.
	Fail func(method string) error

	mu      sync.Mutex
	last    int64
	entries []budget.Entry
	days    map[budget.Key]budget.Sum // of what was forgotten
}

var _ budget.Ledger = (*Ledger)(nil)

// begin takes the lock, which the caller must give back unless there is an
// error.
func (l *Ledger) begin(ctx context.Context, method string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.Fail != nil {
		if err := l.Fail(method); err != nil {
			return err
		}
	}
	l.mu.Lock()
	return nil
}

// Reserve implements [budget.Ledger].
func (l *Ledger) Reserve(ctx context.Context, e budget.Entry, may func([]budget.Sum) error) (int64, error) {
	if err := l.begin(ctx, "Reserve"); err != nil {
		return 0, err
	}
	defer l.mu.Unlock()
	if err := may(l.sums(e.Keys())); err != nil {
		return 0, err
	}
	l.last++
	e.ID, e.State = l.last, budget.StateHeld
	l.entries = append(l.entries, e)
	return e.ID, nil
}

// Settle implements [budget.Ledger].
func (l *Ledger) Settle(ctx context.Context, id int64, real budget.Amount, state budget.EntryState, unpriced bool) error {
	if err := l.begin(ctx, "Settle"); err != nil {
		return err
	}
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.entries, func(e budget.Entry) bool { return e.ID == id })
	if i < 0 {
		return budget.ErrNoEntry
	}
	if e := &l.entries[i]; e.State == budget.StateHeld {
		e.Amount, e.State, e.Unpriced = real, state, unpriced
	}
	return nil
}

// Abandon implements [budget.Ledger].
func (l *Ledger) Abandon(ctx context.Context) (n int, err error) {
	if err := l.begin(ctx, "Abandon"); err != nil {
		return 0, err
	}
	defer l.mu.Unlock()
	for i := range l.entries {
		if l.entries[i].State == budget.StateHeld {
			l.entries[i].State = budget.StateEstimated
			n++
		}
	}
	return n, nil
}

// Sums implements [budget.Ledger].
func (l *Ledger) Sums(ctx context.Context, keys []budget.Key) ([]budget.Sum, error) {
	if err := l.begin(ctx, "Sums"); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	return l.sums(keys), nil
}

func (l *Ledger) sums(keys []budget.Key) []budget.Sum {
	out := make([]budget.Sum, len(keys))
	for i, k := range keys {
		out[i] = l.days[k]
		out[i].Key = k
		for _, e := range l.entries {
			if slices.Contains(e.Keys(), k) {
				out[i] = with(out[i], e)
			}
		}
	}
	return out
}

func with(s budget.Sum, e budget.Entry) budget.Sum {
	s.Amount = s.Amount.Add(e.Amount)
	if e.State == budget.StateHeld {
		s.Held = s.Held.Add(e.Amount)
	}
	if e.Unpriced {
		s.Unpriced++
	}
	return s
}

// gather adds up the entries that key gives a key.
func (l *Ledger) gather(limit int, key func(budget.Entry) (budget.Key, bool)) []budget.Sum {
	found := make(map[budget.Key]budget.Sum)
	for k, s := range l.days {
		if as, ok := key(budget.Entry{Day: k.Day}); ok && as == k {
			found[k] = s
		}
	}
	for _, e := range l.entries {
		if k, ok := key(e); ok {
			s := with(found[k], e)
			s.Key = k
			found[k] = s
		}
	}
	var out []budget.Sum
	for _, s := range found {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b budget.Sum) int {
		return cmp.Or(cmp.Compare(b.Key.Day, a.Key.Day), cmp.Compare(b.Amount.Money, a.Amount.Money), cmp.Compare(a.Key.ID, b.Key.ID))
	})
	return out[:min(limit, len(out))]
}

// All implements [budget.Ledger].
func (l *Ledger) All(ctx context.Context, level budget.Level, day string, limit int) ([]budget.Sum, error) {
	if err := l.begin(ctx, "All"); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	return l.gather(limit, func(e budget.Entry) (budget.Key, bool) {
		i := slices.IndexFunc(e.Keys(), func(k budget.Key) bool { return k.Level == level })
		k := e.Keys()[i]
		return k, day == "" || k.Day == day
	}), nil
}

// People implements [budget.Ledger].
func (l *Ledger) People(ctx context.Context, guild, day string, limit int) ([]budget.Sum, error) {
	if err := l.begin(ctx, "People"); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	sums := l.gather(limit, func(e budget.Entry) (budget.Key, bool) {
		return budget.Key{Level: budget.LevelUser, ID: e.Account.User, Day: e.Day}, e.Account.Guild == guild && e.Day == day
	})
	for i := range sums {
		sums[i].Held = budget.Amount{}
	}
	return sums, nil
}

// Calls implements [budget.Ledger].
func (l *Ledger) Calls(ctx context.Context, limit int) ([]budget.Entry, error) {
	if err := l.begin(ctx, "Calls"); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	var calls []budget.Entry
	for _, e := range slices.Backward(l.entries) {
		if e.Amount.Calls > 0 && len(calls) < limit {
			calls = append(calls, e)
		}
	}
	return calls, nil
}

// Forget implements [budget.Ledger].
func (l *Ledger) Forget(ctx context.Context, before string) error {
	if err := l.begin(ctx, "Forget"); err != nil {
		return err
	}
	defer l.mu.Unlock()
	if l.days == nil {
		l.days = make(map[budget.Key]budget.Sum)
	}
	l.entries = slices.DeleteFunc(l.entries, func(e budget.Entry) bool {
		if e.Day >= before || e.State == budget.StateHeld {
			return false
		}
		k := budget.Key{Level: budget.LevelDay, Day: e.Day}
		s := with(l.days[k], e)
		s.Key = k
		l.days[k] = s
		return true
	})
	return nil
}
