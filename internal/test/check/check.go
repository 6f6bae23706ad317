// Package check ends tests where a step of theirs fails that is not what they are about.
package check

import "testing"

// Must ends the test if there is an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Err returns the error of a call whose result does not matter.
func Err[T any](_ T, err error) error { return err }
