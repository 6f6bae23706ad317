package access

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// tokenLockWait bounds the wait for another process, which holds the lock for the writing of a small file.
const tokenLockWait = 5 * time.Second

// lockTokenFile keeps other processes from changing the tokens until release.
func lockTokenFile(path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	late := time.After(tokenLockWait)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-again.C:
		case <-late:
			return nil, errors.Join(errors.New("another process keeps "+path+" locked"), f.Close())
		}
	}
}
