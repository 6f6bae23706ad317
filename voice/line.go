package voice

import (
	"context"
	"time"
)

// Person is somebody in a call.
type Person struct {
	ID   string // as the place of the call knows them
	Name string // as people read it; may be empty
	Bot  bool
}

// Packet is one Opus packet (RFC 6716) that somebody sent, already decrypted.
type Packet struct {
	From      string // [Person.ID]
	Sequence  uint16 // of RTP, RFC 3550
	Timestamp uint32 // of RTP, at 48 kHz (RFC 7587)
	Opus      []byte // the receiver's own
	At        time.Time
}

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of event.
const (
	PacketReceived EventKind = "heard"     // Packet is set
	Joined         EventKind = "joined"    // Person is set; also of those who were there before us, and again when they are known better
	Left           EventKind = "left"      // Person is set
	Connected      EventKind = "connected" // we can be heard, for the first time or again
	Interrupted    EventKind = "trouble"   // we cannot be heard for now; Text says why, for people
	Moved          EventKind = "moved"     // somebody has moved us to another channel, which is Text
	EncryptionOff  EventKind = "exposed"   // from now on those who carry the call can hear it; told where it is otherwise encrypted from end to end
	EncryptionOn   EventKind = "sealed"    // they cannot any more
)

// Event is one thing that happened in a call.
type Event struct {
	Kind   EventKind
	Packet Packet
	Person Person
	Text   string
}

// Line is our end of one call: voice/discord and voice/webcall have one each. Its methods are safe for concurrent use.
type Line interface {
	// Events tells what happens, in order, until the call has ended; then the channel is closed. A reader that falls
	// behind loses the oldest packets of sound, never another event.
	Events() <-chan Event

	// Play sends one Opus packet of 20 ms, 48 kHz. The caller keeps the time: a packet every 20 ms while there is
	// something to say. What cannot be sent (no connection yet, a handshake of the encryption under way) is dropped
	// and reported as [ErrUnavailable].
	Play(opus []byte) error

	// EndSpeech tells the others that nothing more follows for now: five packets of silence, then the speaking state.
	EndSpeech() error

	// Err says why the call has ended, once Events is closed; nil after Close.
	Err() error

	// Close leaves the call. It waits for what the line has started, at most until ctx ends, and may be called twice.
	Close(ctx context.Context) error
}

// ErrUnavailable is what [Line.Play] returns for a packet that could not be sent now. A later one may be.
var ErrUnavailable = unavailableError{}

type unavailableError struct{}

func (unavailableError) Error() string { return "the call cannot carry sound at the moment" }
