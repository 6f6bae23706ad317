//go:build unix

package address

import "syscall"

const (
	taken              = syscall.EADDRINUSE
	refused            = syscall.ECONNREFUSED
	reset              = syscall.ECONNRESET
	aborted            = syscall.ECONNABORTED
	closed             = syscall.EPIPE
	hostUnreachable    = syscall.EHOSTUNREACH
	networkUnreachable = syscall.ENETUNREACH
	timedOut           = syscall.ETIMEDOUT
)
