package agent_test

import (
	"os"
	"testing"

	"clank/internal/test/check"
)

func TestMain(m *testing.M) { os.Exit(check.Main(m)) }
