package conn

import "context"

// Transport carries packets between us and a voice server. One is made for each session: Select, then Start, then Send as
// often as there is something, then Close. Send may be called while Close is.
type Transport interface {
	// Select makes ready for what the gateway offers, and returns what to tell it (op 1).
	Select(ctx context.Context, r Ready) (protocol string, data any, err error)

	// Start begins with what the gateway has settled.
	Start(ctx context.Context, d Description) error

	// Send sends a packet of RTP or RTCP. It does not keep it.
	Send(packet []byte) error

	// Close ends what the transport has started and waits for it.
	Close() error
}

// SourceTransport is a [Transport] that chooses sources of its own, which are known once it has started; 0 leaves the gateway's. It also sends
// again by itself what was lost.
type SourceTransport interface {
	Sources() (video, rtx uint32)
}

// NewTransport makes a transport. It calls received for each packet of RTP or RTCP that came, decrypted, from one goroutine;
// the packet belongs to the receiver. It calls failed once if it cannot go on.
type NewTransport func(received func(packet []byte), failed func(error)) Transport
