package voice

import (
	"context"
	"iter"
	"time"
)

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

// Utterance is what somebody said from the moment they began until they fell silent.
type Utterance struct {
	From    string
	Packets []Packet // in order, duplicates and late ones left out; the timestamps tell of gaps
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

// Synthesizer turns words into sound: Opus packets of [FrameTime] each, at 48 kHz, as soon as they are there. The sequence ends with
// the last packet or with an error as its last element. Stopping to range, or the end of ctx, ends the work behind it.
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

// SpotterStream takes the sound of one person at [RateSpeech]. Write does not block; Close ends it and what it has started. Prefer says
// what claim they have to be listened to, if not all can be: none, before it is called. It holds from their next words on.
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

// Decoder turns the Opus packets of one stream into mono samples at a rate of its own. A nil packet stands for one that was lost:
// the decoder conceals it. It is not safe for concurrent use.
type Decoder interface {
	Decode(opus []byte) ([]int16, error)
	Rate() int
}

// Encoder turns mono samples at a rate of its own into Opus packets of [FrameTime], 48 kHz. It is not safe for concurrent use.
type Encoder interface {
	Encode(samples []int16) ([]byte, error)
	Rate() int
}
