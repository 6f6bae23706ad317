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
	Forget(person string) // they left, or do not want to be heard: what is kept of them goes

	// Run listens until ctx ends. Nothing is told after it has returned.
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

// Message is something to write beside the call.
type Message struct {
	Text     string // Markdown
	Images   []llm.Image
	IsNotice bool // that we listen, and how to be left out: for those who come later, too
}

// Chat is where the call writes: the text chat of the voice channel, or the page of the call.
type Chat interface {
	Write(ctx context.Context, m Message) error

	// ShowLine shows what was understood, and what we say without writing it, to those who are in the call now; a chat
	// that has no place for that leaves it out. It must not block.
	ShowLine(l TranscriptLine)
}

// Host is what a conversation asks the program about people and places. Its methods are safe for concurrent use; those
// without a context do not block.
type Host interface {
	// Origin returns who somebody is to those who do what they ask.
	Origin(p voice.Person) sessions.Origin

	// SameRights reports whether two people may use the same browsers and logins. What both have asked a native model for,
	// in one turn, is done only then.
	SameRights(ctx context.Context, a, b sessions.Origin) bool

	// IsOwnAccount reports whether somebody is an account of ours that sits in the call beside us, to show something: it
	// is nobody's company.
	IsOwnAccount(id string) bool

	// DisabledReason says why somebody may not ask for anything now, in words for people; empty if they may.
	DisabledReason(ctx context.Context, o sessions.Origin) string

	// CheckChannel says why the call must not go on in a channel to which somebody has moved us, in words for people.
	CheckChannel(channel string) error
}

// Recorder keeps what was said in words.
type Recorder interface {
	Record(l TranscriptLine) // must not block
}

// Privacy is who does not want to be heard. [voice.PrivacyList] is one.
type Privacy interface {
	OptedOut(guild, user string) bool
	Set(ctx context.Context, guild, user string, out bool) error
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
	// Run holds the conversation until ctx ends, which is no error, or it cannot go on: its error tells the way out.
	Run(ctx context.Context, on realtime.Listener) error

	Hear(s voice.Sound) // what somebody says, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on

	// Cancel ends the answer and the tools that person asked for, or all if that is empty: somebody has stopped it.
	Cancel(cause error, person string)
}

// PendingPlayback is an answer: it knows how much was heard as soon as it is being played. Its methods are safe for
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

// maxPreWakeSounds is how much of what somebody said is kept: three seconds in pieces of 20 ms.
const maxPreWakeSounds = 150

// PreWakeBuffer holds what people have said lately who may be about to say our name. The zero value is empty; its
// methods must not be called at once.
type PreWakeBuffer struct {
	sounds map[string][]voice.Sound
}

// Add adds to what somebody has said; the oldest goes.
func (b *PreWakeBuffer) Add(s voice.Sound) {
	if b.sounds == nil {
		b.sounds = map[string][]voice.Sound{}
	}
	all := append(b.sounds[s.From], s)
	b.sounds[s.From] = all[max(0, len(all)-maxPreWakeSounds):]
}

// Drain returns what somebody has said, and forgets it.
func (b *PreWakeBuffer) Drain(id string) []voice.Sound {
	all := b.sounds[id]
	delete(b.sounds, id)
	return all
}
