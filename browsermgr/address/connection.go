package address

import "errors"

// Taken reports whether a program could not listen because another has the address.
func Taken(err error) bool { return errors.Is(err, errTaken) }

// Refused reports whether nobody listens at an address.
func Refused(err error) bool { return errors.Is(err, errRefused) }

// Broken reports whether a connection ended that was there.
func Broken(err error) bool {
	return errors.Is(err, errReset) || errors.Is(err, errAborted) || errors.Is(err, errClosed)
}

// Unreachable reports whether no way leads to a host or its network.
func Unreachable(err error) bool {
	return errors.Is(err, errHostUnreachable) || errors.Is(err, errNetworkUnreachable)
}

// TimedOut reports whether the system gave a connection up, as its other end did not answer.
func TimedOut(err error) bool { return errors.Is(err, errTimedOut) }
