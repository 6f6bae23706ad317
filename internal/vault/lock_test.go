package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"clank/internal/vault"
)

func TestALockedVaultIsWaitedForAsLongAsTheCallerWants(t *testing.T) {
	opts := options(t)
	v, err := vault.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(filepath.Clean(opts.Path)+".lock", os.O_RDWR|os.O_CREATE, 0o600) // as another process has it
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	login := vault.NewEntry{Name: "shop", Origins: []string{"https://shop.example"}, Password: password}
	why := errors.New("a person gave up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	if err := v.Put(ctx, login); !errors.Is(err, why) {
		t.Errorf("err = %v, want why the caller gave up", err)
	}
	put := make(chan error, 1)
	go func() { put <- v.Put(t.Context(), login) }()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-put; err != nil {
		t.Errorf("after the lock was let go: %v", err)
	}
}
