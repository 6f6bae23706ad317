package address

import "golang.org/x/sys/windows"

const (
	errTaken              = windows.WSAEADDRINUSE
	errRefused            = windows.WSAECONNREFUSED
	errReset              = windows.WSAECONNRESET
	errAborted            = windows.WSAECONNABORTED
	errClosed             = windows.WSAESHUTDOWN
	errHostUnreachable    = windows.WSAEHOSTUNREACH
	errNetworkUnreachable = windows.WSAENETUNREACH
	errTimedOut           = windows.WSAETIMEDOUT
)
