package mouth

import (
	"context"
	"fmt"
	"time"

	"clank/voice"
)

// inAdvance is how much of a sentence is made before it is said, at most.
const inAdvance = 30 * time.Second

// Saying is a sentence on its way.
type Saying struct {
	Sentence

	mouth   *Mouth
	begun   bool          // it is being made into sound
	packets chan []byte   // that were made
	whole   chan struct{} // closed when no more are made
	failed  error         // why no more come; to be read when packets is closed
	stop    context.CancelCauseFunc
	flowing bool   // there is enough to go on
	next    []byte // that the line could not carry yet

	said Said
	err  error
	over bool
	done chan struct{} // closed after said and err are set for good
}

func newSaying(s Sentence) *Saying {
	return &Saying{
		Sentence: s, said: Said{Text: s.Text}, done: make(chan struct{}),
		packets: make(chan []byte, inAdvance/voice.FrameTime), stop: func(error) {}, whole: make(chan struct{}),
	}
}

// Done is closed when the sentence was said, or will not be.
func (s *Saying) Done() <-chan struct{} { return s.done }

// Played is how much of it went out until now.
func (s *Saying) Played() time.Duration {
	s.mouth.mu.Lock()
	defer s.mouth.mu.Unlock()
	return s.said.Played
}

// Wait waits until it was said. When ctx ends before, the rest is not said.
func (s *Saying) Wait(ctx context.Context) (Said, error) {
	select {
	case <-s.done:
	case <-ctx.Done():
		s.mouth.drop(s, context.Cause(ctx))
		<-s.done
	}
	return s.said, s.err
}

// finish sets what came of it. The mouth's mutex is held.
func (s *Saying) finish(err error) {
	if s.over {
		return
	}
	s.over, s.err = true, err
	s.said.Whole = err == nil
	if s.said.Played > 0 {
		s.said.Ended = time.Now()
	}
	s.stop(context.Canceled)
	close(s.done)
}

// begin has it made into sound, by a goroutine that ends with ctx or with the sentence. The mouth's mutex is held.
func (s *Saying) begin(ctx context.Context) {
	s.begun = true
	ctx, s.stop = context.WithCancelCause(ctx)
	s.mouth.started.Go(func() {
		defer s.mouth.prod()
		defer close(s.whole)
		defer close(s.packets)
		for opus, err := range s.Sound(ctx) {
			if err != nil {
				s.failed = fmt.Errorf("make %q audible: %w", short(s.Text), err)
				return
			}
			select {
			case s.packets <- opus:
			case <-ctx.Done():
				return
			}
		}
	})
}

// made reports whether all of it is there.
func (s *Saying) made() bool {
	select {
	case <-s.whole:
		return true
	default:
		return false
	}
}

// prod wakes Run.
func (m *Mouth) prod() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nudge()
}

func short(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
