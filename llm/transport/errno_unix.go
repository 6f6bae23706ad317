//go:build unix

package transport

import "syscall"

const (
	refused = syscall.ECONNREFUSED
	reset   = syscall.ECONNRESET
	closed  = syscall.EPIPE
)
