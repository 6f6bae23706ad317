package conversation

import (
	"context"
	"time"

	"clank/internal/assistant"
	"clank/llm"
	"clank/voice"
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
	Run(ctx context.Context, on vad.Events) error
}

// Player speaks into the call; [playout.Player] is one. Say is called by one goroutine at a time, the others by any.
type Player interface {
	Run(ctx context.Context) error
	Say(ctx context.Context, sentences <-chan string) (said int, err error)
	Play(sound playout.SoundFunc) *playout.QueuedSentence
	Pause(on bool)
	Silence(cause error)
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
