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

// keyringService is the service name of our keys in a keyring.
const keyringService = "clank"

// keyringTimeout bounds one request to a keyring, which may ask the person to unlock it.
const keyringTimeout = time.Minute

// SystemKeyring is the keyring of this operating system: Keychain, Credential Manager, or the Secret Service over
// D-Bus.
type SystemKeyring struct{}

// errNoKeyring means that this machine, or this login session, has none.
var errNoKeyring = errors.New("no keyring here")

// checkSessionBus keeps the D-Bus library from starting a message bus where there is none: that would outlive us.
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

// askKeyring runs a request that takes no context. If it does not finish in time its goroutine is abandoned: it ends
// when the keyring answers.
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
