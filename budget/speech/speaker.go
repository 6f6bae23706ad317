package speech

import (
	"context"
	"errors"
	"iter"
	"time"
	"unicode/utf8"

	"clank/budget"
	"clank/llm"
	"clank/voice"
)

// slowest is how long speech takes for a character at most: quick speech has twenty in a second.
const slowest = time.Second / 8

// Speaker is a [voice.Speaker] within the budget.
type Speaker struct {
	Speaker voice.Speaker
	Keeper  *budget.Keeper
	Model   Model

	// Instead speaks where the budget is spent, for nothing; nil: nobody, and the error is an [*llm.Error] of the kind [llm.ErrSpent].
	Instead voice.Speaker

	// Spent is told when Instead speaks, and why. It may be nil.
	Spent func(err error)
}

var _ voice.Speaker = (*Speaker)(nil)

// errCut means that nobody wants to hear the rest. It may cost something all the same.
var errCut = errors.New("the rest is not wanted")

// Speak implements [voice.Speaker].
func (s *Speaker) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		longest := time.Duration(utf8.RuneCountInString(text)+8) * slowest
		e := budget.Estimate{Model: s.Model.ledger(), Usage: s.Model.saying(text, longest), Time: longest}
		err := s.Keeper.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
			n := 0
			length := func() time.Duration { return time.Duration(n) * voice.FrameTime }
			for packet, err := range s.Speaker.Speak(ctx, text) {
				if err != nil {
					return s.told(text, n), length(), err
				}
				n++
				if !yield(packet, nil) {
					return llm.Usage{}, length(), errCut
				}
			}
			return s.Model.saying(text, length()), length(), nil
		})
		var spent *llm.Error
		switch {
		case err == nil, errors.Is(err, errCut):
		case s.Instead != nil && errors.As(err, &spent) && spent.Kind == llm.ErrSpent:
			if s.Spent != nil {
				s.Spent(err)
			}
			s.Instead.Speak(ctx, text)(yield)
		default:
			yield(nil, err)
		}
	}
}

// told is what is known of speech that failed after n packets.
func (s *Speaker) told(text string, n int) llm.Usage {
	if n == 0 {
		return llm.Usage{}
	}
	return s.Model.saying(text, time.Duration(n)*voice.FrameTime)
}
