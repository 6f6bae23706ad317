//go:build linux

package egress

// AskSocket, FindSocket and PeerUser find the owner of a socket.
var (
	AskSocket  = askSocket
	FindSocket = findSocket
	PeerUser   = peerUser
)
