package files_test

import (
	"errors"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestADownloadIsMarkedWithWhereItCameFrom(t *testing.T) {
	b, site := open(t, nil), serveUnsafeFiles(t)
	tab := b.tab(t, site+"/?q=1#part")
	got := b.press(t, tab, "Paper")
	if len(got) != 1 || got[0].Path == "" {
		t.Fatalf("got %+v, want a file", got)
	}
	for name, want := range map[string]string{"user.xdg.origin.url": site + "/paper", "user.xdg.referrer.url": site +
		"/?q=1"} {
		value := make([]byte, 2048)
		n, err := unix.Getxattr(got[0].Path, name, value)
		if errors.Is(err, syscall.ENOTSUP) {
			t.Skip("this file system holds no attributes")
		}
		if err != nil || string(value[:n]) != want {
			t.Errorf("%s: got %q, %v; want %q", name, value[:max(n, 0)], err, want)
		}
	}
}
