package chrome_test

import (
	"net"
	"os"
	"testing"

	"clank/browsermgr/chrome"
	"clank/internal/test/check"
)

func TestMemoryOfAProcessGrows(t *testing.T) {
	before := chrome.MemoryMB(os.Getpid())
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 4 << 10 {
		block[i] = 1
	}
	after := chrome.MemoryMB(os.Getpid())
	if before == 0 || after-before < 60 || after-before > 200 {
		t.Errorf("%d MiB before and %d after %d MiB were written", before, after, len(block)>>20)
	}
}

func TestHolderOfAPortIsFound(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		check.Must(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		if got := chrome.FindPortHolder(port); got.PID != os.Getpid() {
			t.Errorf("%s: got %+v, want pid %d", l.Addr(), got, os.Getpid())
		}
		check.Must(t, l.Close())
		if got := chrome.FindPortHolder(port); got.PID != 0 {
			t.Errorf("%s: got %+v after it was closed", address, got)
		}
	}
}
