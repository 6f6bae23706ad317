package address

import "golang.org/x/sys/windows"

const (
	taken              = windows.WSAEADDRINUSE
	refused            = windows.WSAECONNREFUSED
	reset              = windows.WSAECONNRESET
	aborted            = windows.WSAECONNABORTED
	closed             = windows.WSAESHUTDOWN
	hostUnreachable    = windows.WSAEHOSTUNREACH
	networkUnreachable = windows.WSAENETUNREACH
	timedOut           = windows.WSAETIMEDOUT
)
