//go:build unix

package address

import "syscall"

const (
	errTaken              = syscall.EADDRINUSE
	errRefused            = syscall.ECONNREFUSED
	errReset              = syscall.ECONNRESET
	errAborted            = syscall.ECONNABORTED
	errClosed             = syscall.EPIPE
	errHostUnreachable    = syscall.EHOSTUNREACH
	errNetworkUnreachable = syscall.ENETUNREACH
	errTimedOut           = syscall.ETIMEDOUT
)
