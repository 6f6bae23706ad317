package playout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/internal/untrusted"
	"clank/voice"
)

const (
	maxQueued      = 64 // sentences, at most
	sentencesAhead = 3  // sentences that are made into sound at the same time
)

// Line is where packets go. A [voice.Line] is one.
type Line interface {
	Play(opus []byte) error
	EndSpeech() error
}

// Sentence is one thing to say.
type Sentence struct {
	Text string

	// Sound makes packets of [voice.FrameTime]; nil cannot be said. It is called a little before its turn, and has to end when
	// ctx does.
	Sound func(ctx context.Context) iter.Seq2[[]byte, error]
}

// PlayedSentence is what could be heard of a sentence.
type PlayedSentence struct {
	Text     string
	Duration time.Duration // of it that went out
	Complete bool          // all of it did
}

// Player says things over one line. Set the fields, then Run. Its methods are safe for concurrent use.
type Player struct {
	Line        Line
	Synthesizer voice.Synthesizer // for whoever makes sentences of words; may be nil

	Logger *slog.Logger

	mu           sync.Mutex
	queue        []*QueuedSentence // the first is being said
	pausedUntil  time.Time         // until when nothing is sent
	ended        error             // why nothing more can be said
	wake         chan struct{}
	synthesizing sync.WaitGroup
}

// ErrFull is returned when too much waits to be said.
var ErrFull = errors.New("too much is waiting to be said")

// Queue has a sentence said after those before it. It does not wait.
func (m *Player) Queue(s Sentence) *QueuedSentence {
	saying := newQueuedSentence(s)
	saying.player = m
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ended != nil:
		saying.finish(m.ended)
	case saying.Sound == nil:
		saying.finish(errors.New("say something: nothing here can speak"))
	case len(m.queue) >= maxQueued:
		saying.finish(ErrFull)
	default:
		m.queue = append(m.queue, saying)
		m.signal()
	}
	return saying
}

// Silence falls silent at once and drops what waits. It returns what could be heard of each sentence, the one that was being
// said first; cause is what those who wait for them are told.
func (m *Player) Silence(cause error) []PlayedSentence {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []PlayedSentence
	for _, s := range m.queue {
		s.finish(cause)
		all = append(all, s.played)
	}
	m.queue, m.pausedUntil = nil, time.Time{}
	m.signal()
	return all
}

// PauseFor pauses for a time, or until Resume or Silence.
func (m *Player) PauseFor(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pausedUntil = time.Now().Add(d)
}

// Resume goes on after Hold.
func (m *Player) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pausedUntil = time.Time{}
	m.signal()
}

// dropSentence takes a sentence out of the queue.
func (m *Player) dropSentence(s *QueuedSentence, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.queue, s); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		s.finish(cause)
		m.signal()
	}
}

// signal wakes Run. m.mu is held.
func (m *Player) signal() {
	select {
	case m.wakeChannel() <- struct{}{}:
	default:
	}
}

// wakeChannel returns the wake channel, which the first caller creates. The caller holds m.mu.
func (m *Player) wakeChannel() chan struct{} {
	if m.wake == nil {
		m.wake = make(chan struct{}, 1)
	}
	return m.wake
}

// end drops everything for good.
func (m *Player) end(cause error) {
	m.mu.Lock()
	m.ended = fmt.Errorf("the call is over: %w", cause)
	m.mu.Unlock()
	m.Silence(m.ended)
	m.synthesizing.Wait()
}

func (m *Player) logger() *slog.Logger { return cmp.Or(m.Logger, slog.New(slog.DiscardHandler)) }

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
	s.stop(context.Canceled)
	close(s.done)
}

// startSynthesis has it made into sound, by a goroutine that ends with ctx or with the sentence. The mouth's mutex is held.
func (s *QueuedSentence) startSynthesis(ctx context.Context) {
	s.started = true
	ctx, s.stop = context.WithCancelCause(ctx)
	s.player.synthesizing.Go(func() {
		defer func() {
			s.player.mu.Lock()
			defer s.player.mu.Unlock()
			s.player.signal()
		}()
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

func (s *QueuedSentence) allSynthesized() bool {
	select {
	case <-s.synthesized:
		return true
	default:
		return false
	}
}
