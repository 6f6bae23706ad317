package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockTimeout bounds the wait for another process, which may hold the lock for as long as a person is asked to unlock a keyring.
const lockTimeout = keyringTimeout + 15*time.Second

// lockFile keeps other processes from changing the vault until unlock. It waits for one that does, no longer than ctx allows.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the vault: %w", err)
	}
	late := fmt.Errorf("another process keeps %s locked: wait until it has ended, or end it", path)
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, late)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("lock the vault: %w", err), f.Close())
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock the vault: %w", context.Cause(ctx)), f.Close())
		}
	}
}
