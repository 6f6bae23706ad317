package sqlitetest

import (
	"context"
	"testing"

	"clank/internal/budget"
)

// Ledger is a [budget.Ledger] in a temporary file whose calls can be made to fail.
type Ledger struct {
	budget.Ledger
	// Fail, if set, is called with the method's name before each call; its error is returned.
	Fail func(method string) error
}

// OpenLedger returns an empty ledger, which is closed when the test ends.
func OpenLedger(tb testing.TB) *Ledger {
	tb.Helper()
	return &Ledger{Ledger: Open(tb)}
}

func (l *Ledger) fail(method string) error {
	if l.Fail == nil {
		return nil
	}
	return l.Fail(method)
}

// Reserve implements [budget.Ledger].
func (l *Ledger) Reserve(ctx context.Context, e budget.Entry, may func([]budget.Sum) error) (int64, error) {
	if err := l.fail("Reserve"); err != nil {
		return 0, err
	}
	return l.Ledger.Reserve(ctx, e, may)
}

// Settle implements [budget.Ledger].
func (l *Ledger) Settle(ctx context.Context, id int64, real budget.Amount, state budget.EntryState,
	unpriced bool,
) error {
	if err := l.fail("Settle"); err != nil {
		return err
	}
	return l.Ledger.Settle(ctx, id, real, state, unpriced)
}

// Sums implements [budget.Ledger].
func (l *Ledger) Sums(ctx context.Context, keys []budget.Key) ([]budget.Sum, error) {
	if err := l.fail("Sums"); err != nil {
		return nil, err
	}
	return l.Ledger.Sums(ctx, keys)
}

// All implements [budget.Ledger].
func (l *Ledger) All(ctx context.Context, level budget.Level, day string, limit int) ([]budget.Sum, error) {
	if err := l.fail("All"); err != nil {
		return nil, err
	}
	return l.Ledger.All(ctx, level, day, limit)
}

// Calls implements [budget.Ledger].
func (l *Ledger) Calls(ctx context.Context, limit int) ([]budget.Entry, error) {
	if err := l.fail("Calls"); err != nil {
		return nil, err
	}
	return l.Ledger.Calls(ctx, limit)
}

// Forget implements [budget.Ledger].
func (l *Ledger) Forget(ctx context.Context, before string) error {
	if err := l.fail("Forget"); err != nil {
		return err
	}
	return l.Ledger.Forget(ctx, before)
}
