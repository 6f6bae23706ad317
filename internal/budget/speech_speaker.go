package budget

import (
	"context"
	"errors"
	"iter"
	"time"
	"unicode/utf8"

	"clank/llm"
	"clank/voice"
)

// maxTimePerChar is how long speech takes for a character at most: quick speech has twenty in a second.
const maxTimePerChar = time.Second / 8

// LimitedSpeaker is a [voice.Synthesizer] within the budget.
type LimitedSpeaker struct {
	Speaker  voice.Synthesizer
	Enforcer *Enforcer
	Model    AudioModel

	// Fallback speaks where the budget is spent, for nothing; nil: nobody, and the error is an [*llm.Error] of the
	// kind [llm.ErrBudgetSpent].
	Fallback voice.Synthesizer

	// OnSpent is told when Instead speaks, and why. It may be nil.
	OnSpent func(err error)
}

var _ voice.Synthesizer = (*LimitedSpeaker)(nil)

// errListenerGone means that nobody wants to hear the rest. It may cost something all the same.
var errListenerGone = errors.New("the rest is not wanted")

// Speak implements [voice.Synthesizer].
func (s *LimitedSpeaker) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		longest := time.Duration(utf8.RuneCountInString(text)+8) * maxTimePerChar
		e := Estimate{Model: s.Model.ledgerName(), Usage: s.Model.speechUsage(text, longest), Time: longest}
		err := s.Enforcer.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
			n := 0
			length := func() time.Duration { return time.Duration(n) * voice.FrameTime }
			for packet, err := range s.Speaker.Speak(ctx, text) {
				if err != nil {
					return s.failedUsage(text, n), length(), err
				}
				n++
				if !yield(packet, nil) {
					return llm.Usage{}, length(), errListenerGone
				}
			}
			return s.Model.speechUsage(text, length()), length(), nil
		})
		var spent *llm.Error
		switch {
		case err == nil, errors.Is(err, errListenerGone):
		case s.Fallback != nil && errors.As(err, &spent) && spent.Kind == llm.ErrBudgetSpent:
			if s.OnSpent != nil {
				s.OnSpent(err)
			}
			s.Fallback.Speak(ctx, text)(yield)
		default:
			yield(nil, err)
		}
	}
}

// failedUsage returns what is known of the usage of speech that failed after n packets.
func (s *LimitedSpeaker) failedUsage(text string, n int) llm.Usage {
	if n == 0 {
		return llm.Usage{}
	}
	return s.Model.speechUsage(text, time.Duration(n)*voice.FrameTime)
}

// LimitedTranscriber is a [voice.Transcriber] within the budget. Where that is spent nothing is sent, and the error
// is an [*llm.Error] of the kind [llm.ErrBudgetSpent].
type LimitedTranscriber struct {
	voice.Transcriber

	Enforcer *Enforcer
	Model    AudioModel
}

// Transcribe implements [voice.Transcriber].
func (t *LimitedTranscriber) Transcribe(ctx context.Context, u voice.Utterance) (said voice.Transcript, err error) {
	if !u.Loud || len(u.Packets) == 0 { // nothing is sent
		return t.Transcriber.Transcribe(ctx, u)
	}
	length := max(u.Ended.Sub(u.Began), time.Duration(len(u.Packets))*voice.FrameTime)
	took := t.Model.transcriptionUsage(length)
	e := Estimate{Model: t.Model.ledgerName(), Usage: took, Time: length}
	err = t.Enforcer.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		said, err = t.Transcriber.Transcribe(ctx, u)
		return took, length, err
	})
	return said, err
}
