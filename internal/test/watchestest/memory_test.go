package watchestest_test

import (
	"testing"

	"clank/internal/test/watchestest"
	"clank/internal/watches"
)

func TestMemoryIsAStore(t *testing.T) {
	watchestest.TestStore(t, func(*testing.T) watches.Store { return new(watchestest.Memory) })
}
