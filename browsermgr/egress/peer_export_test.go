//go:build linux

package egress

// AskSocket, FindSocket and PeerUser tell whose a socket is.
var (
	AskSocket  = askSocket
	FindSocket = findSocket
	PeerUser   = peerUser
)
