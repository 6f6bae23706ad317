// Package budgettest defines what a Ledger must do, with the property that money adds up.
package budgettest
