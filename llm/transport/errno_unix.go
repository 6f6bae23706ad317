//go:build unix

package transport

import "syscall"

const (
	errRefused = syscall.ECONNREFUSED
	errReset   = syscall.ECONNRESET
	errClosed  = syscall.EPIPE
)
