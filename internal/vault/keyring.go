package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringService is what a keyring files our keys under.
const keyringService = "clank"

// keyringTimeout bounds one question to a keyring, which may ask the person to unlock it.
const keyringTimeout = time.Minute

// SystemKeyring is the keyring of this operating system: Keychain, Credential Manager, or the Secret Service over
// D-Bus.
type SystemKeyring struct{}

// errNoKeyring says that this machine, or this login, has none.
var errNoKeyring = errors.New("no keyring here")

// checkSessionBus keeps the library from starting a message bus of its own where there is none: that would outlive us.
func checkSessionBus() error {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	bus := filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")
	if _, err := os.Stat(bus); err != nil {
		return fmt.Errorf("%w: there is no session bus to ask for one", errNoKeyring)
	}
	return nil
}

// askKeyring runs a question that takes no context. One that is not answered in time is left behind: it ends with the
// keyring's own answer, or the program.
func askKeyring(ctx context.Context, ask func() (string, error)) (string, error) {
	if err := checkSessionBus(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keyringTimeout, errors.New("the keyring did not answer"))
	defer cancel()
	type reply struct {
		text string
		err  error
	}
	done := make(chan reply, 1)
	go func() {
		text, err := ask()
		done <- reply{text, err}
	}()
	select {
	case r := <-done:
		if errors.Is(r.err, keyring.ErrNotFound) {
			return "", ErrNotInKeyring
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Get implements [Keyring].
func (SystemKeyring) Get(ctx context.Context, name string) (string, error) {
	return askKeyring(ctx, func() (string, error) { return keyring.Get(keyringService, name) })
}

// Set implements [Keyring].
func (SystemKeyring) Set(ctx context.Context, name, secret string) error {
	_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Set(keyringService, name, secret) })
	return err
}

// Delete implements [Keyring].
func (SystemKeyring) Delete(ctx context.Context, name string) error {
	_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Delete(keyringService, name) })
	return err
}
