// Package senses fits an ear and a mouth to a conversation.
//
// What is heard and said is no business of it.
package senses

import (
	"context"
	"iter"
	"time"

	"clank/llm"
	"clank/voice/ear"
	"clank/voice/mouth"
	"clank/voice/talk"
	"clank/voice/talk/native"
)

// longestPause is when a pause that nobody has ended is over. The rules of interruption end it long before.
const longestPause = 10 * time.Second

// maxAhead is how many sentences are given to a mouth before they are said.
const maxAhead = 8

// Ear has e tell what it hears: a [talk.Talk.NewEar]. The functions of e are set by it; its other fields are the caller's.
func Ear(e *ear.Ear) func(talk.Heard) talk.Ear {
	return func(h talk.Heard) talk.Ear {
		e.Sound, e.Said, e.Pausing = h.Sound, h.Said, h.Paused
		e.Speaking = func(s ear.Speech) { h.Speaking(s.From, s.Voiced, s.Over) }
		return e
	}
}

// Mouth is a [talk.Mouth] that speaks through m, which nobody else may use. Where m has no speaker only sound is played, and words are written.
func Mouth(m *mouth.Mouth) talk.Mouth { return lips{m} }

type lips struct{ mouth *mouth.Mouth }

// Run implements [talk.Mouth].
func (l lips) Run(ctx context.Context) error { return l.mouth.Run(ctx) }

// Say implements [talk.Mouth]. Some sentences are queued before their turn, so that one is made into sound while another is said.
func (l lips) Say(ctx context.Context, sentences <-chan string) (said int, err error) {
	if l.mouth.Speaker == nil {
		return 0, talk.ErrNoWords
	}
	var queued []*mouth.Saying
	for {
		if len(queued) == 0 {
			select {
			case s := <-sentences:
				queued = append(queued, l.mouth.Queue(l.sentence(s, llm.AccountOf(ctx))))
			default:
				return said, nil
			}
		}
		more := sentences
		if len(queued) == maxAhead {
			more = nil
		}
		select {
		case s := <-more:
			queued = append(queued, l.mouth.Queue(l.sentence(s, llm.AccountOf(ctx))))
			continue
		case <-queued[0].Done():
		case <-ctx.Done():
		}
		if _, err := queued[0].Wait(ctx); err != nil {
			l.mouth.Silence(err)
			return said, err
		}
		queued, said = queued[1:], said+1
	}
}

// sentence is text whose sound is put down to a.
func (l lips) sentence(text string, a llm.Account) mouth.Sentence {
	return mouth.Sentence{Text: text, Sound: func(ctx context.Context) iter.Seq2[[]byte, error] {
		return l.mouth.Speaker.Speak(llm.WithAccount(ctx, a), text)
	}}
}

// Play implements [talk.Mouth].
func (l lips) Play(sound native.Sound) talk.Playing {
	return playing{l.mouth.Queue(mouth.Sentence{Sound: sound})}
}

type playing struct{ *mouth.Saying }

// Wait implements [talk.Playing].
func (p playing) Wait(ctx context.Context) error {
	_, err := p.Saying.Wait(ctx)
	return err
}

// Pause implements [talk.Mouth].
func (l lips) Pause(on bool) {
	if on {
		l.mouth.Hold(longestPause)
		return
	}
	l.mouth.Resume()
}

// Silence implements [talk.Mouth].
func (l lips) Silence(cause error) { l.mouth.Silence(cause) }
