package sessionstest_test

import (
	"testing"

	"clank/sessions"
	"clank/sessions/sessionstest"
)

func TestTheStoreInMemoryIsAStore(t *testing.T) {
	sessionstest.TestStore(t, func(*testing.T) sessions.Store { return &sessionstest.Store{} })
}
