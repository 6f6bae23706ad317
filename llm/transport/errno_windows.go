package transport

import "golang.org/x/sys/windows"

const (
	refused = windows.WSAECONNREFUSED
	reset   = windows.WSAECONNRESET
	closed  = windows.WSAECONNABORTED
)
