package transport

import "golang.org/x/sys/windows"

const (
	errRefused = windows.WSAECONNREFUSED
	errReset   = windows.WSAECONNRESET
	errClosed  = windows.WSAECONNABORTED
)
