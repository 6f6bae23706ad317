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
	"clank/llm"
	"clank/voice"
)

const (
	maxQueued      = 64 // sentences, at most
	sentencesAhead = 3  // sentences that are made into sound at the same time
)

// Line sends packets. A [voice.Line] is one.
type Line interface {
	Play(opus []byte) error
	EndSpeech() error
}

// SoundFunc returns packets of [voice.FrameTime]. It is called shortly before its turn, and must end when ctx does.
type SoundFunc = func(ctx context.Context) iter.Seq2[[]byte, error]

// Player plays speech and sound on one line. Set the fields, then Run. Its methods are safe for concurrent use.
type Player struct {
	Line        Line
	Synthesizer voice.Synthesizer // turns sentences into speech; nil: only sound is played
	Logger      *slog.Logger

	mu           sync.Mutex
	queue        []*QueuedSentence // the first is being said
	pausedUntil  time.Time         // until when nothing is sent
	ended        error             // why nothing more can be said
	background   *background       // what sounds while nothing is said; nil: nothing
	wake         chan struct{}
	synthesizing sync.WaitGroup
}

// Why something is not said.
var (
	ErrFull          = errors.New("too much is waiting to be said")
	ErrNoSynthesizer = errors.New("nothing here makes words audible")
)

// maxSentencesAhead is how many sentences Say queues before they are said.
const maxSentencesAhead = 8

// Say plays sentences one after the other, including those that arrive meanwhile, and returns how many were played
// completely. It blocks until all available sentences were played, or Silence is called, whose cause it returns, or ctx
// ends, or a sentence fails. It does not close the channel. Synthesis is charged to the account of ctx.
func (m *Player) Say(ctx context.Context, sentences <-chan string) (said int, err error) {
	if m.Synthesizer == nil {
		return 0, ErrNoSynthesizer
	}
	account := llm.AccountOf(ctx)
	queue := func(text string) *QueuedSentence {
		return m.queueSentence(text, func(ctx context.Context) iter.Seq2[[]byte, error] {
			return m.Synthesizer.Speak(llm.WithAccount(ctx, account), text)
		})
	}
	var queued []*QueuedSentence
	for {
		if len(queued) == 0 {
			select {
			case s := <-sentences:
				queued = append(queued, queue(s))
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
			queued = append(queued, queue(s))
			continue
		case <-queued[0].done:
		case <-ctx.Done():
		}
		if err := queued[0].Wait(ctx); err != nil {
			m.Silence(err)
			return said, err
		}
		queued, said = queued[1:], said+1
	}
}

// Play queues a sound after what is being played. It does not wait.
func (m *Player) Play(sound SoundFunc) *QueuedSentence { return m.queueSentence("", sound) }

func (m *Player) queueSentence(text string, sound SoundFunc) *QueuedSentence {
	s := &QueuedSentence{
		player: m, text: text, sound: sound, done: make(chan struct{}), synthesized: make(chan struct{}),
		packets: make(chan []byte, packetsAhead/voice.FrameTime), stop: func(error) {},
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ended != nil:
		s.finish(m.ended)
	case len(m.queue) >= maxQueued:
		s.finish(ErrFull)
	default:
		m.queue = append(m.queue, s)
		m.signal()
	}
	return s
}

// Silence stops playback immediately and drops the queue; cause is the error of those who wait for it.
func (m *Player) Silence(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.queue {
		s.finish(cause)
	}
	m.queue, m.pausedUntil = nil, time.Time{}
	m.signal()
}

// longestPause is when a pause ends by itself.
const longestPause = 10 * time.Second

// Pause stops playback immediately, or continues it at the same position.
func (m *Player) Pause(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pausedUntil = time.Time{}
	if on {
		m.pausedUntil = time.Now().Add(longestPause)
	}
	m.signal()
}

// dropSentence removes a sentence from the queue.
func (m *Player) dropSentence(s *QueuedSentence, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.queue, s); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		s.finish(cause)
		m.signal()
	}
}

// background is a sound that is heard while nothing is said.
type background struct {
	packets chan []byte
	stop    context.CancelFunc
	heard   time.Time // when its last packet went out; the Player's lock guards it
}

const (
	backgroundPackets = 5           // that wait, at most: it is live
	backgroundFirst   = 2           // before it begins, so that it does not stutter
	backgroundHeard   = time.Second // after its last packet it has fallen silent by itself
)

// PlayBackground plays sound while nothing else is played, until it or ctx ends or [Player.StopBackground] is called.
// Sound that arrives during speech is lost. It replaces the previous background sound.
func (m *Player) PlayBackground(ctx context.Context, sound SoundFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &background{packets: make(chan []byte, backgroundPackets), stop: cancel}
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		return m.ended
	}
	before := m.background
	m.background = b
	m.mu.Unlock()
	if before != nil {
		before.stop()
	}
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.background == b {
			m.background = nil
		}
	}()
	for opus, err := range sound(ctx) {
		if err != nil {
			return fmt.Errorf("play a background sound: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
		m.mu.Lock()
		if len(b.packets) == cap(b.packets) {
			<-b.packets // only Run takes them, with the same lock
		}
		b.packets <- opus
		m.signal()
		m.mu.Unlock()
	}
	return nil
}

// StopBackground ends the sound of [Player.PlayBackground], and reports whether part of it was audible.
func (m *Player) StopBackground() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.background
	if b == nil {
		return false
	}
	m.background = nil
	b.stop()
	return time.Since(b.heard) < backgroundHeard
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

// end drops everything permanently.
func (m *Player) end(cause error) {
	m.mu.Lock()
	m.ended = fmt.Errorf("the call is over: %w", cause)
	m.mu.Unlock()
	m.Silence(m.ended)
	m.StopBackground()
	m.synthesizing.Wait()
}

func (m *Player) logger() *slog.Logger { return cmp.Or(m.Logger, slog.New(slog.DiscardHandler)) }

// packetsAhead is how much of a sentence is made before it is said, at most.
const packetsAhead = 30 * time.Second

// QueuedSentence is a sentence on its way.
type QueuedSentence struct {
	player       *Player
	text         string // for messages; may be empty
	sound        SoundFunc
	started      bool          // it is being made into sound
	packets      chan []byte   // that were made
	synthesized  chan struct{} // closed when synthesis has ended
	synthesisErr error         // why it ended; valid once packets is closed
	stop         context.CancelCauseFunc
	flowing      bool   // enough packets are ready to play without gaps
	next         []byte // that the line could not carry yet

	played   time.Duration // that went out
	err      error
	finished bool
	done     chan struct{} // closed once played and err are final
}

// Played returns how much was played so far.
func (s *QueuedSentence) Played() time.Duration {
	s.player.mu.Lock()
	defer s.player.mu.Unlock()
	return s.played
}

// Wait waits until everything was played; its error is why it was not. If ctx ends first, the rest is dropped.
func (s *QueuedSentence) Wait(ctx context.Context) error {
	select {
	case <-s.done:
	case <-ctx.Done():
		s.player.dropSentence(s, context.Cause(ctx))
		<-s.done
	}
	return s.err
}

// finish sets the result. The caller holds the player's lock.
func (s *QueuedSentence) finish(err error) {
	if s.finished {
		return
	}
	s.finished, s.err = true, err
	s.stop(context.Canceled)
	close(s.done)
}

// startSynthesis starts a goroutine that synthesizes the sentence and ends with ctx or with the sentence. The caller
// holds the player's lock.
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
		for opus, err := range s.sound(ctx) {
			if err != nil {
				s.synthesisErr = fmt.Errorf("make %q audible: %w", untrusted.Shorten(s.text, 40), err)
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
