package conversation

import (
	"context"
	"iter"
	"time"

	"clank/llm"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
)

// longestPause is when a pause that nobody has ended is over. The rules of interruption end it long before.
const longestPause = 10 * time.Second

// maxSentencesAhead is how many sentences are given to a mouth before they are said.
const maxSentencesAhead = 8

// BindDetector has e tell what it hears: a [Conversation.NewDetector]. The functions of e are set by it; its other fields are the caller's.
func BindDetector(e *vad.Detector) func(SpeechEvents) SpeechDetector {
	return func(h SpeechEvents) SpeechDetector {
		e.Sound, e.Ended, e.Paused = h.Sound, h.Ended, h.Paused
		e.Speaking = func(s vad.SpeechProgress) { h.Speaking(s.From, s.Voiced, s.Ended) }
		return e
	}
}

// NewPlayer returns a [Player] that speaks through m, which nobody else may use. Where m has no speaker only sound is played, and words are written.
func NewPlayer(m *playout.Player) Player { return playerAdapter{m} }

type playerAdapter struct{ player *playout.Player }

// Run implements [Player].
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

// Play implements [Player].
func (l playerAdapter) Play(sound SoundFunc) ActivePlayback {
	return playbackAdapter{l.player.Queue(playout.Sentence{Sound: sound})}
}

type playbackAdapter struct{ *playout.QueuedSentence }

// Wait implements [ActivePlayback].
func (p playbackAdapter) Wait(ctx context.Context) error {
	_, err := p.QueuedSentence.Wait(ctx)
	return err
}

// Pause implements [Player].
func (l playerAdapter) Pause(on bool) {
	if on {
		l.player.PauseFor(longestPause)
		return
	}
	l.player.Resume()
}

// Silence implements [Player].
func (l playerAdapter) Silence(cause error) { l.player.Silence(cause) }
