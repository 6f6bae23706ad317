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

// service is what a keyring files our keys under.
const service = "clank"

// keyringLimit bounds one question to a keyring, which may ask the person to unlock it.
const keyringLimit = time.Minute

// SystemKeyring is the keyring of this operating system: Keychain, Credential Manager, or the Secret Service over D-Bus.
type SystemKeyring struct{}

// errNoKeyring says that this machine, or this login, has none.
var errNoKeyring = errors.New("no keyring here")

// available keeps the library from starting a message bus of its own where there is none: that would outlive us.
func available() error {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	bus := filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")
	if _, err := os.Stat(bus); err != nil {
		return fmt.Errorf("%w: there is no session bus to ask for one", errNoKeyring)
	}
	return nil
}

// answer runs a question that takes no context. One that is not answered in time is left behind: it ends with the keyring's
// own answer, or the program.
func answer(ctx context.Context, ask func() (string, error)) (string, error) {
	if err := available(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keyringLimit, errors.New("the keyring did not answer"))
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
			return "", ErrNoSecret
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Get implements [Keyring].
func (SystemKeyring) Get(ctx context.Context, name string) (string, error) {
	return answer(ctx, func() (string, error) { return keyring.Get(service, name) })
}

// Set implements [Keyring].
func (SystemKeyring) Set(ctx context.Context, name, secret string) error {
	_, err := answer(ctx, func() (string, error) { return "", keyring.Set(service, name, secret) })
	return err
}

// Delete implements [Keyring].
func (SystemKeyring) Delete(ctx context.Context, name string) error {
	_, err := answer(ctx, func() (string, error) { return "", keyring.Delete(service, name) })
	return err
}
