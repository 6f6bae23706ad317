package voice

import (
	"context"
	"errors"
	"iter"
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
	PacketReceived EventKind = "heard" // Packet is set
	// Person is set; also of those who were there before us, and again when they are known better
	Joined      EventKind = "joined"
	Left        EventKind = "left"      // Person is set
	Connected   EventKind = "connected" // we can be heard, for the first time or again
	Interrupted EventKind = "trouble"   // we cannot be heard for now; Text says why, for people
	Moved       EventKind = "moved"     // somebody has moved us to another channel, which is Text
	// from now on those who carry the call can hear it; told where it is otherwise encrypted from end to end
	EncryptionOff EventKind = "exposed"
	EncryptionOn  EventKind = "sealed" // they cannot any more
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
var ErrUnavailable = errors.New("the call cannot carry sound at the moment")

// Rates of sound, in samples per second.
const (
	RateOpus     = 48000 // of Opus on the wire
	RateRealtime = 24000 // of provider-native conversation
	RateSpeech   = 16000 // of recognisers
)

// FrameTime is how long one packet of ours sounds.
const FrameTime = 20 * time.Millisecond

// Sound is a piece of decoded speech: 16-bit mono samples of one person, without a gap to the one before it unless Gap
// says so. The samples belong to the receiver.
type Sound struct {
	From    string // [Person.ID]
	Rate    int    // samples per second
	Samples []int16
	Gap     time.Duration // silence, or sound that never came, before the first sample
	At      time.Time     // when its last packet came
}

// Utterance holds what somebody said from the moment they began until they fell silent.
type Utterance struct {
	From    string
	Packets []Packet // in order, duplicates and late ones left out; the timestamps show gaps
	Began   time.Time
	Ended   time.Time
	Loud    bool // enough of it is louder than a room that is still
}

// Transcript is an utterance in words.
type Transcript struct {
	Text     string // empty if nothing was said
	Language string // BCP 47, if it is known
}

// Transcriber turns what was said into words. An error says what failed and the way out.
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

// Spotter listens for a few phrases without understanding the rest. It needs no key and no network.
type Spotter interface {
	// Listen begins to listen to one person, and calls found from a goroutine of its own for each phrase, until Close of
	// what it returns.
	Listen(ctx context.Context, from string, found func(SpottedPhrase)) (SpotterStream, error)
}

// SpotterStream takes the sound of one person at [RateSpeech]. Write does not block; Close ends it and what it has
// started. Prefer says what claim they have to be listened to, if not all can be: none, before it is called. It holds
// from their next words on.
type SpotterStream interface {
	Write(s Sound)
	SetPriority(c SpotterPriority)
	Close() error
}

// SpotterPriority is why somebody is listened to rather than others. The zero value is the least.
type SpotterPriority struct {
	Working       bool      // what they have asked for is being done
	LastAddressed time.Time // when they last spoke to us; zero: never
}

// Less reports whether o is the better claim: somebody whose wish is being done comes first, then who spoke to us last.
func (c SpotterPriority) Less(o SpotterPriority) bool {
	if c.Working != o.Working {
		return o.Working
	}
	return c.LastAddressed.Before(o.LastAddressed)
}
