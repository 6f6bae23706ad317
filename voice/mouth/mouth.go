// Package mouth says things in a call: it keeps what is to be said in a queue, sends one packet every 20 ms by a clock
// that does not drift, falls silent at once when it is told to, and remembers what could be heard of what it said.
//
// It makes no sound itself, which is the business of a [voice.Speaker], and does not decide who may speak; voice/talk does.
package mouth

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/voice"
)

const (
	queued  = 64               // sentences, at most
	ahead   = 3                // sentences that are made into sound at the same time
	latelyN = 64               // sentences that are remembered
	latelyT = 60 * time.Second // and for how long
)

// Line is where packets go. A [voice.Line] is one.
type Line interface {
	Play(opus []byte) error
	Hush() error
}

// Sentence is one thing to say.
type Sentence struct {
	Text string

	// Sound makes packets of [voice.FrameTime]; nil is the speaker's. It is called a little before its turn, and has to end when
	// ctx does.
	Sound func(ctx context.Context) iter.Seq2[[]byte, error]
}

// Said is what could be heard of a sentence.
type Said struct {
	Text   string
	Began  time.Time     // when its first packet went out; zero if none did
	Ended  time.Time     // when its last one did; zero while it is being said
	Played time.Duration // of it that went out
	Whole  bool          // all of it did
}

// Mouth says things over one line. Set the fields, then Run. Its methods are safe for concurrent use.
type Mouth struct {
	Line    Line
	Speaker voice.Speaker // for sentences without a sound of their own; may be nil

	// Ahead is how much sound there must be before a sentence begins or goes on, so that it does not stutter; 60 ms when zero.
	Ahead time.Duration

	Logger *slog.Logger

	mu      sync.Mutex
	queue   []*Saying // the first is being said
	held    time.Time // until when nothing is sent
	ended   error     // why nothing more can be said
	lately  []Said
	wake    chan struct{}
	started sync.WaitGroup
}

// ErrFull is returned when too much waits to be said.
var ErrFull = errors.New("too much is waiting to be said")

// Queue has a sentence said after those before it. It does not wait.
func (m *Mouth) Queue(s Sentence) *Saying {
	saying := newSaying(s)
	saying.mouth = m
	if saying.Sound == nil {
		saying.Sound = m.speak(s.Text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ended != nil:
		saying.finish(m.ended)
	case saying.Sound == nil:
		saying.finish(errors.New("say something: nothing here can speak"))
	case len(m.queue) >= queued:
		saying.finish(ErrFull)
	default:
		m.queue = append(m.queue, saying)
		m.nudge()
	}
	return saying
}

func (m *Mouth) speak(text string) func(context.Context) iter.Seq2[[]byte, error] {
	if m.Speaker == nil {
		return nil
	}
	return func(ctx context.Context) iter.Seq2[[]byte, error] { return m.Speaker.Speak(ctx, text) }
}

// Say has a sentence said after those before it, and waits until it was. It returns what could be heard of it, and why not
// all of it could: the end of ctx, what Silence was given, or an error of the speaker or the line.
func (m *Mouth) Say(ctx context.Context, s Sentence) (Said, error) { return m.Queue(s).Wait(ctx) }

// Silence falls silent at once and drops what waits. It returns what could be heard of each sentence, the one that was being
// said first; cause is what those who wait for them are told.
func (m *Mouth) Silence(cause error) []Said {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Said
	for _, s := range m.queue {
		m.done(s, cause)
		all = append(all, s.said)
	}
	m.queue, m.held = nil, time.Time{}
	m.nudge()
	return all
}

// Hold pauses for a time, or until Resume or Silence.
func (m *Mouth) Hold(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = time.Now().Add(d)
}

// Resume goes on after Hold.
func (m *Mouth) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = time.Time{}
	m.nudge()
}

// Speaking reports whether something is being said, or about to be.
func (m *Mouth) Speaking() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue) > 0
}

// Lately returns what was said within a time until now, up to a minute, in order; also what is being said.
func (m *Mouth) Lately(within time.Duration) []Said {
	since := time.Now().Add(-within)
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.lately)
	if len(m.queue) > 0 && m.queue[0].said.Played > 0 {
		all = append(all, m.queue[0].said)
	}
	return slices.DeleteFunc(all, func(s Said) bool { return !s.Ended.IsZero() && s.Ended.Before(since) })
}

// done ends a sentence and remembers it. m.mu is held.
func (m *Mouth) done(s *Saying, err error) {
	s.finish(err)
	if s.said.Played == 0 {
		return
	}
	old := time.Now().Add(-latelyT)
	m.lately = append(slices.DeleteFunc(m.lately, func(s Said) bool { return s.Ended.Before(old) }), s.said)
	if n := len(m.lately) - latelyN; n > 0 {
		m.lately = slices.Delete(m.lately, 0, n)
	}
}

// drop takes a sentence out of the queue.
func (m *Mouth) drop(s *Saying, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.queue, s); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		m.done(s, cause)
		m.nudge()
	}
}

// nudge wakes Run. m.mu is held.
func (m *Mouth) nudge() {
	select {
	case m.woken() <- struct{}{}:
	default:
	}
}

// woken is made by whoever comes first. m.mu is held.
func (m *Mouth) woken() chan struct{} {
	if m.wake == nil {
		m.wake = make(chan struct{}, 1)
	}
	return m.wake
}

// end drops everything for good.
func (m *Mouth) end(cause error) {
	m.mu.Lock()
	m.ended = fmt.Errorf("the call is over: %w", cause)
	m.mu.Unlock()
	m.Silence(m.ended)
	m.started.Wait()
}

func (m *Mouth) logger() *slog.Logger {
	if m.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.Logger
}
