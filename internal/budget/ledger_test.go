package budget_test

import (
	"testing"

	"clank/internal/budget"
	"clank/internal/test/budgettest"
)

func TestTheLedgerInMemoryDoesWhatALedgerMust(t *testing.T) {
	budgettest.TestLedger(t, func(*testing.T) budget.Ledger { return new(budgettest.Ledger) })
}

func TestNoLimitIsPassedByMoreThanOneCallAndSumsAgree(t *testing.T) {
	budgettest.TestMoney(t, 25, func(*testing.T) func() budget.Ledger {
		l := new(budgettest.Ledger)
		return func() budget.Ledger { return l }
	})
}
