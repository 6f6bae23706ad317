package address

import "errors"

// Taken reports whether a program could not listen because another has the address.
func Taken(err error) bool { return errors.Is(err, taken) }

// Refused reports whether nobody listens at an address.
func Refused(err error) bool { return errors.Is(err, refused) }

// Broken reports whether a connection ended that was there.
func Broken(err error) bool {
	return errors.Is(err, reset) || errors.Is(err, aborted) || errors.Is(err, closed)
}

// Unreachable reports whether no way leads to a host or its network.
func Unreachable(err error) bool {
	return errors.Is(err, hostUnreachable) || errors.Is(err, networkUnreachable)
}

// TimedOut reports whether the system gave a connection up, as its other end did not answer.
func TimedOut(err error) bool { return errors.Is(err, timedOut) }
