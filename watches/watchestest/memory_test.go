package watchestest_test

import (
	"testing"

	"clank/watches"
	"clank/watches/watchestest"
)

func TestMemoryIsAStore(t *testing.T) {
	watchestest.TestStore(t, func(*testing.T) watches.Store { return new(watchestest.Memory) })
}
