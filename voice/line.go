package voice

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Person is a participant of a call.
type Person struct {
	ID   string // as the place of the call knows them
	Name string // for display; may be empty
	Bot  bool
}

// Packet is one decrypted Opus packet (RFC 6716) that someone sent.
type Packet struct {
	From      string // [Person.ID]
	Sequence  uint16 // of RTP, RFC 3550
	Timestamp uint32 // of RTP, at 48 kHz (RFC 7587)
	Opus      []byte // the receiver's own
	At        time.Time
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of event.
const (
	PacketReceived EventKind = "heard" // Packet is set
	// Person is set. Also sent for those who were there before us, and again when more is known about them.
	Joined      EventKind = "joined"
	Left        EventKind = "left"      // Person is set
	Connected   EventKind = "connected" // we can be heard, for the first time or again
	Interrupted EventKind = "trouble"   // we cannot be heard for now; Text is the reason, for people
	Moved       EventKind = "moved"     // someone moved us to another channel, which is Text
	// The servers that carry the call can hear it from now on. Sent only where calls are otherwise end-to-end encrypted.
	EncryptionOff EventKind = "exposed"
	EncryptionOn  EventKind = "sealed" // they no longer can
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
	// Events returns the events of the call in order. The channel is closed when the call has ended. A reader that falls
	// behind loses the oldest packets of sound, but no other events.
	Events() <-chan Event

	// Play sends one Opus packet of 20 ms at 48 kHz. The caller keeps the pace: one packet every 20 ms while there is
	// something to say. A packet that cannot be sent (no connection yet, or an encryption handshake is running) is dropped
	// and reported as [ErrUnavailable].
	Play(opus []byte) error

	// EndSpeech tells the others that nothing follows for now: it sends five packets of silence, then the speaking state.
	EndSpeech() error

	// Err returns why the call ended, once Events is closed; nil after Close.
	Err() error

	// Close leaves the call. It waits, at most until ctx ends, for everything that the line started. It may be called
	// twice.
	Close(ctx context.Context) error
}

// ErrUnavailable is returned by [Line.Play] for a packet that could not be sent. Later packets may succeed.
var ErrUnavailable = errors.New("the call cannot carry sound at the moment")

// Rates of sound, in samples per second.
const (
	RateOpus     = 48000 // of Opus on the wire
	RateRealtime = 24000 // of provider-native conversation
	RateSpeech   = 16000 // of recognisers
)

// FrameTime is the duration of each packet that we send.
const FrameTime = 20 * time.Millisecond

// Sound is a piece of decoded speech: 16-bit mono samples of one person, which continue the previous piece unless Gap
// is set. The samples belong to the receiver.
type Sound struct {
	From    string // [Person.ID]
	Rate    int    // samples per second
	Samples []int16
	Gap     time.Duration // silence, or sound that never came, before the first sample
	At      time.Time     // when its last packet came
}

// Utterance is what a person said from the first word until they fell silent.
type Utterance struct {
	From    string
	Packets []Packet // in order, without duplicates and late packets; the timestamps show gaps
	Began   time.Time
	Ended   time.Time
	Loud    bool // enough of it is louder than a quiet room
}

// Transcript is an utterance in words.
type Transcript struct {
	Text     string // empty if nothing was said
	Language string // BCP 47, if it is known
}

// Transcriber turns speech into text. Its errors say what failed and what to do.
type Transcriber interface {
	Transcribe(ctx context.Context, u Utterance) (Transcript, error)
}

// Synthesizer turns words into sound: Opus packets of [FrameTime] each, at 48 kHz, as soon as they are there. The
// sequence ends with the last packet or with an error as its last element. Stopping to range, or the end of ctx, ends
// the work behind it.
type Synthesizer interface {
	Speak(ctx context.Context, text string) iter.Seq2[[]byte, error]
}

// SpottedPhrase is a phrase that was heard in running speech.
type SpottedPhrase struct {
	From   string
	Phrase string
	At     time.Time // when the sound that ends it had come
}

// Spotter listens for a few phrases and does not understand the rest. It needs no key and no network.
type Spotter interface {
	// Listen begins to listen to one person, and calls found from a goroutine of its own for each phrase, until Close of
	// what it returns.
	Listen(ctx context.Context, from string, found func(SpottedPhrase)) (SpotterStream, error)
}

// SpotterStream receives the sound of one person at [RateSpeech]. Write does not block. Close ends the stream and
// everything that it started. Prefer sets the priority of the person if not everyone can be listened to; it is the
// lowest until the first call, and applies from their next words on.
type SpotterStream interface {
	Write(s Sound)
	SetPriority(c SpotterPriority)
	Close() error
}

// SpotterPriority is how urgently a person must be listened to. The zero value is the lowest priority.
type SpotterPriority struct {
	Working       bool      // what they have asked for is being done
	LastAddressed time.Time // when they last spoke to us; zero: never
}

// Less reports whether o has priority over c: first people whose request is being carried out, then whoever spoke to us
// last.
func (c SpotterPriority) Less(o SpotterPriority) bool {
	if c.Working != o.Working {
		return o.Working
	}
	return c.LastAddressed.Before(o.LastAddressed)
}
