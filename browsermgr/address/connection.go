package address

import "errors"

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
