package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/budget"
	"clank/budget/budgettest"
	"clank/sqlite"
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
