package conversation

import (
	"context"
	"errors"
	"iter"
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
	Play(sound SoundFunc) *playout.QueuedSentence

	// Pause is silent at once and keeps its place, or goes on from there.
	Pause(on bool)

	// Silence ends what is being said, at once. It does not concern what is said later.
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

// longestPause is when a pause that nobody has ended is over. The rules of interruption end it long before.
const longestPause = 10 * time.Second

// maxSentencesAhead is how many sentences are given to a mouth before they are said.
const maxSentencesAhead = 8

// BindDetector has e tell what it hears: a [Conversation.NewDetector]. The functions of e are set by it; its other fields are the caller's.
func BindDetector(e *vad.Detector) func(SpeechEvents) SpeechDetector {
	return func(h SpeechEvents) SpeechDetector {
		e.Sound, e.Ended, e.Paused, e.Speaking = h.Sound, h.Ended, h.Paused, h.Speaking
		return e
	}
}

// NewPlayer returns a [Player] that speaks through m, which nobody else may use. Where m has no speaker only sound is played, and words are written.
func NewPlayer(m *playout.Player) Player { return playerAdapter{m} }

type playerAdapter struct{ player *playout.Player }

func (l playerAdapter) Run(ctx context.Context) error { return l.player.Run(ctx) }

// Say implements [Player]. Some sentences are queued before their turn, so that one is made into sound while another is said.
func (l playerAdapter) Say(ctx context.Context, sentences <-chan string) (said int, err error) {
	if l.player.Synthesizer == nil {
		return 0, errNoSpeaker
	}
	var queued []*playout.QueuedSentence
	for {
		if len(queued) == 0 {
			select {
			case s := <-sentences:
				queued = append(queued, l.player.Queue(l.sentence(s, llm.AccountOf(ctx))))
			default:
				return said, nil
			}
		}
		more := sentences
		if len(queued) == maxSentencesAhead {
			more = nil
		}
		select {
		case s := <-more:
			queued = append(queued, l.player.Queue(l.sentence(s, llm.AccountOf(ctx))))
			continue
		case <-queued[0].Done():
		case <-ctx.Done():
		}
		if _, err := queued[0].Wait(ctx); err != nil {
			l.player.Silence(err)
			return said, err
		}
		queued, said = queued[1:], said+1
	}
}

// sentence returns text as a sentence whose sound is charged to a.
func (l playerAdapter) sentence(text string, a llm.Account) playout.Sentence {
	return playout.Sentence{Text: text, Sound: func(ctx context.Context) iter.Seq2[[]byte, error] {
		return l.player.Synthesizer.Speak(llm.WithAccount(ctx, a), text)
	}}
}

func (l playerAdapter) Play(sound SoundFunc) *playout.QueuedSentence {
	return l.player.Queue(playout.Sentence{Sound: sound})
}

func (l playerAdapter) Pause(on bool) {
	if on {
		l.player.PauseFor(longestPause)
		return
	}
	l.player.Resume()
}

func (l playerAdapter) Silence(cause error) { l.player.Silence(cause) }
