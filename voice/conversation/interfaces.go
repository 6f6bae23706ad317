package conversation

import (
	"context"
	"sync/atomic"
	"time"

	"clank/internal/assistant"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
)

// Replier answers people. [assistant.Assistant] is one.
type Replier interface {
	Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)
}

// SpeechDetector turns packets into speech. [vad.Detector] is one.
type SpeechDetector interface {
	Write(p voice.Packet) // does not block
	Forget(person string) // they left or opted out: their data is removed

	// Run detects speech until ctx ends. It makes no calls after it has returned.
	Run(ctx context.Context, on vad.Listener) error
}

// Player speaks into the call; [playout.Player] is one. Say is called by one goroutine at a time, the others by any.
type Player interface { //nolint:interfacebloat // what there is to do with one
	Run(ctx context.Context) error
	Say(ctx context.Context, sentences <-chan string) (said int, err error)
	Play(sound playout.SoundFunc) *playout.QueuedSentence
	Pause(on bool)
	Silence(cause error)
	StopBackground() bool // what a shared page sounds like
}

// Message is a message for the chat of the call.
type Message struct {
	Text     string // Markdown
	Images   []llm.Image
	IsNotice bool // the notice that we listen and how to opt out, also for people who join later
}

// Chat is where the call writes: the text chat of the voice channel, or the page of the call.
type Chat interface {
	Write(ctx context.Context, m Message) error

	// ShowLine shows what was understood, and what we say without writing it, to the people in the call. A chat without a
	// place for that ignores it. It must not block.
	ShowLine(l TranscriptLine)
}

// Host answers a conversation's questions about people and channels. Its methods are safe for concurrent use; those
// without a context do not block.
type Host interface {
	// Origin returns the origin of a person's requests.
	Origin(p voice.Person) sessions.Origin

	// SameRights reports whether two people may use the same browsers and logins. What both have asked a native model for,
	// in one turn, is done only then.
	SameRights(ctx context.Context, a, b sessions.Origin) bool

	// IsOwnAccount reports whether an account in the call is another one of ours, which shows something: it does not count
	// as a participant.
	IsOwnAccount(id string) bool

	// DisabledReason returns why a person may not make requests now, for people; empty if they may.
	DisabledReason(ctx context.Context, o sessions.Origin) string

	// CheckChannel returns an error, for people, if the call must not continue in a channel to which someone moved us.
	CheckChannel(channel string) error
}

// Recorder stores transcripts.
type Recorder interface {
	Record(l TranscriptLine) // must not block
}

// TranscriptLine is something that was understood or said.
type TranscriptLine struct {
	Speaker voice.Person // zero if we said it
	Text    string
	At      time.Time
}

// NativeModel is a conversation with a model that hears and speaks by itself. Its tools are its own business; what they
// browse is stopped like any other work in the channel. Its methods do not block, but for Run.
type NativeModel interface {
	// Run holds the conversation until ctx ends, which is no error, or it cannot continue; its error says what to do.
	Run(ctx context.Context, on realtime.Listener) error

	Hear(s voice.Sound) // speech of a person, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on

	// Cancel ends the answer and the tools that person asked for, or all if person is empty, because someone stopped them.
	Cancel(cause error, person string)
}

// PendingPlayback is an answer to be played. It knows how much was heard once playback begins. Its methods are safe for
// concurrent use.
type PendingPlayback struct {
	attached atomic.Pointer[realtime.PlaybackPosition]
}

// Played implements [realtime.PlaybackPosition].
func (p *PendingPlayback) Played() time.Duration {
	if of := p.attached.Load(); of != nil {
		return (*of).Played()
	}
	return 0
}

// Attach notes what plays the answer.
func (p *PendingPlayback) Attach(of realtime.PlaybackPosition) { p.attached.Store(&of) }

// maxPreWakeSounds is how much speech is kept: three seconds in pieces of 20 ms.
const maxPreWakeSounds = 150

// PreWakeBuffer keeps the latest speech of people who may be about to say our name. The zero value is empty; its
// methods must not be called concurrently.
type PreWakeBuffer struct {
	sounds map[string][]voice.Sound
}

// Add adds to a person's speech; the oldest piece is dropped.
func (b *PreWakeBuffer) Add(s voice.Sound) {
	if b.sounds == nil {
		b.sounds = map[string][]voice.Sound{}
	}
	all := append(b.sounds[s.From], s)
	b.sounds[s.From] = all[max(0, len(all)-maxPreWakeSounds):]
}

// Drain returns and forgets a person's speech.
func (b *PreWakeBuffer) Drain(id string) []voice.Sound {
	all := b.sounds[id]
	delete(b.sounds, id)
	return all
}
