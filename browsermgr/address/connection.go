package address

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Listen listens for TCP connections at host:port; see [ExplainTaken] for the error.
func Listen(ctx context.Context, at string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	return listener, ExplainTaken(err, at)
}

// ExplainTaken returns err, and what to do if another program is listening at host:port.
func ExplainTaken(err error, at string) error {
	if Taken(err) {
		return fmt.Errorf("another program uses %s; end it or choose another address (%w)", at, err)
	}
	return err
}

// Taken reports whether err means that another program is listening on the address.
func Taken(err error) bool { return errors.Is(err, errTaken) }

// Refused reports whether err means that nothing listens at an address.
func Refused(err error) bool { return errors.Is(err, errRefused) }

// Broken reports whether err means that an established connection broke.
func Broken(err error) bool {
	return errors.Is(err, errReset) || errors.Is(err, errAborted) || errors.Is(err, errClosed)
}

// Unreachable reports whether err means that a host or network is unreachable.
func Unreachable(err error) bool {
	return errors.Is(err, errHostUnreachable) || errors.Is(err, errNetworkUnreachable)
}

// TimedOut reports whether err means that the system gave up a connection because its peer did not answer.
func TimedOut(err error) bool { return errors.Is(err, errTimedOut) }
