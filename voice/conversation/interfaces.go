package conversation

import (
	"context"
	"errors"
	"time"

	"clank/internal/assistant"
	"clank/llm"
	"clank/voice"
)

// Replier answers people. [assistant.Assistant] is one.
type Replier interface {
	Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)
}

// SpeechEvents is where an [BindDetector] tells what it hears. The functions may be called from any goroutine, and do not block.
type SpeechEvents struct {
	Sound func(voice.Sound)     // live, as it is decoded
	Ended func(voice.Utterance) // when somebody has fallen silent

	// Paused tells what somebody has said until now who may have ended: they have been silent for a while. Speaking follows if they go
	// on, and Said in either case.
	Paused func(voice.Utterance)

	// Speaking tells that somebody has begun to speak, goes on (every 100 ms of speech or so) or has ended. voiced is how much of it
	// was speech until now.
	Speaking func(person string, voiced time.Duration, over bool)
}

// SpeechDetector turns packets into speech. [clank/voice/vad.Detector] is one, by package senses.
type SpeechDetector interface {
	Write(p voice.Packet) // does not block
	Forget(person string) // they left, or do not want to be heard: what is kept of them goes

	// Run listens until ctx ends. Nothing is told after it has returned.
	Run(ctx context.Context) error
}

// errNoSpeaker is a [NewPlayer]'s who has nobody to speak words: they are to be written.
var errNoSpeaker = errors.New("nobody speaks words here")

// Player speaks into the call; package senses makes one. Say is called by one goroutine at a time, the others by any.
type Player interface {
	// Run speaks until ctx ends. Then nothing more can be said.
	Run(ctx context.Context) error

	// Say speaks sentences one after the other, also such as come while it speaks, and returns how many were heard to their end. It
	// blocks until all are said that are there, or Silence has been called, whose cause it then returns, or ctx has ended, or a sentence
	// could not be spoken ([errNoSpeaker] if none ever are). The channel is not closed.
	Say(ctx context.Context, sentences <-chan string) (said int, err error)

	// Play begins to play sound that is made elsewhere, after what is being said. It does not block.
	Play(sound SoundFunc) ActivePlayback

	// Pause is silent at once and keeps its place, or goes on from there.
	Pause(on bool)

	// Silence ends what is being said, at once. It does not concern what is said later.
	Silence(cause error)
}

// ActivePlayback is sound on its way.
type ActivePlayback interface {
	PlaybackPosition

	// Wait waits until it was played, or says why not all of it was. When ctx ends before, the rest is dropped.
	Wait(ctx context.Context) error
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

// Privacy is who does not want to be heard. [clank/voice/voice.PrivacyList] is one.
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
