package hardening_test

import (
	"testing"

	"clank/internal/hardening"
	"clank/internal/test/check"

	"golang.org/x/sys/unix"
)

func TestNoCoreDumpIsWritten(t *testing.T) {
	check.Must(t, hardening.DisableCoreDumps())
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 || limit.Max != 0 {
		t.Errorf("limit %+v, %v", limit, err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable %d, %v", dumpable, err)
	}
}
