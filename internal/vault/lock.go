package vault

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout bounds the wait for another process, which may hold the lock while a person is asked to unlock a
// keyring.
const lockTimeout = keyringTimeout + 15*time.Second

// lockFile keeps other processes from changing the vault until unlock is called. It waits for the lock until ctx ends
// or lockTimeout has passed.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	late := fmt.Errorf("another process keeps %s locked: wait until it has ended, or end it", path)
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, late)
	defer cancel()
	lock := flock.New(path)
	if ok, err := lock.TryLockContext(ctx, 10*time.Millisecond); !ok {
		return nil, fmt.Errorf("lock the vault: %w", cmp.Or(context.Cause(ctx), err))
	}
	return func() { _ = lock.Unlock() }, nil
}
