package playout

import (
	"context"
	"fmt"
	"time"

	"clank/internal/untrusted"
	"clank/voice"
)

// packetsAhead is how much of a sentence is made before it is said, at most.
const packetsAhead = 30 * time.Second

// QueuedSentence is a sentence on its way.
type QueuedSentence struct {
	Sentence

	player       *Player
	started      bool          // it is being made into sound
	packets      chan []byte   // that were made
	synthesized  chan struct{} // closed when no more are made
	synthesisErr error         // why no more come; to be read when packets is closed
	stop         context.CancelCauseFunc
	flowing      bool   // there is enough to go on
	next         []byte // that the line could not carry yet

	played   PlayedSentence
	err      error
	finished bool
	done     chan struct{} // closed after said and err are set for good
}

func newQueuedSentence(s Sentence) *QueuedSentence {
	return &QueuedSentence{
		Sentence: s, played: PlayedSentence{Text: s.Text}, done: make(chan struct{}),
		packets: make(chan []byte, packetsAhead/voice.FrameTime), stop: func(error) {}, synthesized: make(chan struct{}),
	}
}

// Done returns a channel that is closed when the sentence was said or will not be.
func (s *QueuedSentence) Done() <-chan struct{} { return s.done }

// Played returns how much of it went out until now.
func (s *QueuedSentence) Played() time.Duration {
	s.player.mu.Lock()
	defer s.player.mu.Unlock()
	return s.played.Duration
}

// Wait waits until it was said. When ctx ends before, the rest is not said.
func (s *QueuedSentence) Wait(ctx context.Context) (PlayedSentence, error) {
	select {
	case <-s.done:
	case <-ctx.Done():
		s.player.dropSentence(s, context.Cause(ctx))
		<-s.done
	}
	return s.played, s.err
}

// finish sets what came of it. The mouth's mutex is held.
func (s *QueuedSentence) finish(err error) {
	if s.finished {
		return
	}
	s.finished, s.err = true, err
	s.played.Complete = err == nil
	if s.played.Duration > 0 {
		s.played.Ended = time.Now()
	}
	s.stop(context.Canceled)
	close(s.done)
}

// startSynthesis has it made into sound, by a goroutine that ends with ctx or with the sentence. The mouth's mutex is held.
func (s *QueuedSentence) startSynthesis(ctx context.Context) {
	s.started = true
	ctx, s.stop = context.WithCancelCause(ctx)
	s.player.synthesizing.Go(func() {
		defer s.player.wakeRun()
		defer close(s.synthesized)
		defer close(s.packets)
		for opus, err := range s.Sound(ctx) {
			if err != nil {
				s.synthesisErr = fmt.Errorf("make %q audible: %w", untrusted.Shorten(s.Text, 40), err)
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

// allSynthesized reports whether all of it is there.
func (s *QueuedSentence) allSynthesized() bool {
	select {
	case <-s.synthesized:
		return true
	default:
		return false
	}
}

// wakeRun wakes Run.
func (m *Player) wakeRun() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signal()
}
