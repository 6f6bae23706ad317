package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/internal/budget"
	"clank/internal/sqlite"
	"clank/internal/test/budgettest"
)

func TestTheLedgerDoesWhatALedgerMust(t *testing.T) {
	budgettest.TestLedger(t, func(t *testing.T) budget.Ledger {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "clank.db"))
	})
}

func TestMoneyIsKeptOverRestarts(t *testing.T) {
	budgettest.TestMoney(t, 4, func(t *testing.T) func() budget.Ledger {
		t.Helper()
		path := filepath.Join(t.TempDir(), "clank.db")
		var last *sqlite.DB
		return func() budget.Ledger {
			if last != nil {
				if err := last.Close(); err != nil {
					t.Error(err)
				}
			}
			last = open(t, path)
			return last
		}
	})
}

// BenchmarkLedger measures what the budget adds to every call of a model.
func BenchmarkLedger(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "clank.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	e := budget.Entry{At: noon, Day: "2026-03-01", Amount: budget.Amount{Calls: 1, Money: 5}}
	e.Account.Task, e.Account.Session, e.Account.User, e.Account.Guild = "t", "s", "u", "g"
	for b.Loop() {
		id, err := db.Reserve(b.Context(), e, func([]budget.Sum) error { return nil })
		if err == nil {
			err = db.Settle(b.Context(), id, e.Amount, budget.StateSettled, false)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
