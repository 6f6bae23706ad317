package playout_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/voice"
	"clank/voice/speech/playout"
)

var errStop = errors.New("ada said stop")

// line writes down what it is given, and when.
type line struct {
	t      *testing.T // of the bubble
	mu     sync.Mutex
	played []string
	at     []time.Time
	hushed []time.Time
	err    error
}

func (l *line) Play(opus []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.played, l.at = append(l.played, string(opus)), append(l.at, time.Now())
	return nil
}

func (l *line) EndSpeech() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hushed = append(l.hushed, time.Now())
	return l.err
}

func (l *line) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *line) seen() (played []string, at, hushed []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.played), slices.Clone(l.at), slices.Clone(l.hushed)
}

// says says a sentence to its end.
func (l *line) says(m *playout.Player, s playout.SoundFunc) {
	l.t.Helper()
	check.Must(l.t, m.Play(s).Wait(l.t.Context()))
}

// sound makes n packets, each after a time.
func sound(name string, n int, each time.Duration) playout.SoundFunc {
	return func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i := range n {
				select {
				case <-time.After(each):
				case <-ctx.Done():
					return
				}
				if !yield(fmt.Appendf(nil, "%s%d", name, i), nil) {
					return
				}
			}
		}
	}
}

func sentence(name string, n int) playout.SoundFunc { return sound(name, n, 0) }

// speak runs a mouth in a bubble for the length of do.
func speak(t *testing.T, do func(m *playout.Player, l *line)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t}
		m := &playout.Player{Line: l}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		do(m, l)
	})
}

func TestAPacketGoesOutEveryTwentyMilliseconds(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		s := m.Play(sentence("a", 500))
		if err := s.Wait(l.t.Context()); err != nil || s.Played() != 10*time.Second {
			l.t.Fatalf("%v of it, %v", s.Played(), err)
		}
		synctest.Wait()
		played, at, hushed := l.seen()
		if len(played) != 500 || played[499] != "a499" {
			l.t.Fatalf("%d packets", len(played))
		}
		for i := range at {
			if want := at[0].Add(time.Duration(i) * 20 * time.Millisecond); !at[i].Equal(want) {
				l.t.Fatalf("packet %d is %v off", i, at[i].Sub(want))
			}
		}
		check.Equal(t, "len(hushed)", len(hushed), 1)
	})
}

func TestSentencesFollowWithoutAGap(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		var sayings []*playout.QueuedSentence
		for _, name := range []string{"a", "b", "c"} {
			sayings = append(sayings, m.Play(sentence(name, 10)))
		}
		for _, s := range sayings {
			check.Must(l.t, s.Wait(l.t.Context()))
		}
		synctest.Wait()
		played, at, hushed := l.seen()
		if len(played) != 30 || played[10] != "b0" || played[29] != "c9" {
			l.t.Fatalf("played %v", played)
		}
		check.Equal(t, "thirty packets took", at[29].Sub(at[0]), 29*20*time.Millisecond)
		check.Equal(t, "len(hushed)", len(hushed), 1)
	})
}

func TestNothingBeginsBeforeThereIsEnoughToGoOn(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		began := time.Now()
		l.says(m, sound("a", 20, 18*time.Millisecond))
		_, at, _ := l.seen()
		if wait := at[0].Sub(began); wait < 54*time.Millisecond || wait > 80*time.Millisecond {
			t.Errorf("it began after %v, want three packets of 18ms", wait)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d != 20*time.Millisecond {
				t.Errorf("%v before packet %d", d, i)
			}
		}
	})
}

func TestASpeakerThatIsSlowIsWaitedForAndTheOthersAreTold(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		s := m.Play(sound("a", 10, 200*time.Millisecond))
		if err := s.Wait(l.t.Context()); err != nil || s.Played() != 200*time.Millisecond {
			l.t.Fatalf("%v of it, %v", s.Played(), err)
		}
		synctest.Wait()
		played, _, hushed := l.seen()
		if len(played) != 10 || len(hushed) < 2 {
			t.Errorf("%d packets, hushed %d times", len(played), len(hushed))
		}
	})
}

func TestSilenceFallsAtOnceAndTellsWhatWasHeard(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		a, b, c := m.Play(sentence("a", 5)), m.Play(sentence("b", 500)), m.Play(sentence("c", 5))
		<-time.After(505 * time.Millisecond)
		now := time.Now()
		m.Silence(errStop)
		if played := b.Played(); played < 380*time.Millisecond || played > 420*time.Millisecond || c.Played() != 0 {
			t.Errorf("%v were heard of the second, %v of the third", played, c.Played())
		}
		for s, want := range map[*playout.QueuedSentence]error{a: nil, b: errStop, c: errStop} {
			if err := s.Wait(l.t.Context()); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		<-time.After(time.Second)
		_, at, hushed := l.seen()
		if at[len(at)-1].After(now) || len(hushed) != 1 || hushed[0].Sub(now) > 20*time.Millisecond {
			t.Errorf("the last packet %v, hushed %v after the silence", at[len(at)-1].Sub(now), hushed[0].Sub(now))
		}
		m.Silence(errStop)
		l.says(m, sentence("d", 3))
	})
}

func TestWhoEverStopsWaitingStopsTheSentence(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		ctx, cancel := context.WithCancelCause(l.t.Context())
		go func() {
			<-time.After(time.Second)
			cancel(errStop)
		}()
		s := m.Play(sentence("a", 500))
		if err := s.Wait(ctx); !errors.Is(err, errStop) || s.Played() < 900*time.Millisecond || s.Played() > time.Second {
			t.Errorf("%v of it, %v", s.Played(), err)
		}
		l.says(m, sentence("b", 3))
		played, _, _ := l.seen()
		check.Equal(t, "the last", played[len(played)-1], "b2")
	})
}

func TestAHoldPausesForATimeOrUntilItGoesOn(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		s := m.Play(sentence("a", 100))
		<-time.After(300 * time.Millisecond)
		m.Pause(true)
		<-time.After(time.Second)
		before := s.Played()
		if before > 340*time.Millisecond {
			t.Errorf("%v played while it was held", before)
		}
		m.Pause(false)
		<-time.After(200 * time.Millisecond)
		if got := s.Played() - before; got < 180*time.Millisecond {
			t.Errorf("%v played after it went on", got)
		}
		m.Pause(true)
		if err := s.Wait(l.t.Context()); err != nil {
			t.Error(err)
		}
		_, _, hushed := l.seen()
		if len(hushed) < 2 {
			t.Errorf("hushed %d times, want at each hold", len(hushed))
		}
	})
}

func TestALineThatIsMuteForAMomentLosesNothing(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		l.fail(voice.ErrUnavailable)
		s := m.Play(sentence("a", 10))
		<-time.After(2 * time.Second)
		l.fail(nil)
		if err := s.Wait(l.t.Context()); err != nil || s.Played() != 200*time.Millisecond {
			t.Errorf("%v of it, %v", s.Played(), err)
		}
		played, _, _ := l.seen()
		check.Equal(t, "it begins with", played[0], "a0")
	})
}

func TestTroubleEndsASentenceAndSaysWhy(t *testing.T) {
	broken := func(context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			_ = yield([]byte("x"), nil) && yield(nil, errors.New("no key"))
		}
	}
	for name, c := range map[string]struct {
		line  error
		sound playout.SoundFunc
		want  string
	}{
		"the line is mute for good": {voice.ErrUnavailable, sound("a", 5, 0), "cannot carry sound"},
		"the line is gone":          {errors.New("hung up"), sound("a", 5, 0), "hung up"},
		"the speaker fails":         {nil, broken, `audible: no key`},
	} {
		t.Run(name, func(t *testing.T) {
			speak(t, func(m *playout.Player, l *line) {
				l.fail(c.line)
				check.Fails(t, m.Play(c.sound).Wait(l.t.Context()), nil, c.want)
				l.fail(nil)
				l.says(m, sentence("b", 3))
			})
		})
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	m := &playout.Player{Line: &line{}}
	for range 64 {
		m.Play(sentence("a", 5))
	}
	check.Fails(t, m.Play(sentence("b", 5)).Wait(t.Context()), playout.ErrFull)
}

func TestTheEndOfTheCallEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{}
		m := &playout.Player{Line: l}
		ctx, cancel := context.WithCancelCause(t.Context())
		s := m.Play(sentence("a", 5000))
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		<-time.After(time.Second)
		cancel(errStop)
		check.Must(t, <-done)
		check.Fails(t, s.Wait(t.Context()), errStop)
		check.Fails(t, m.Play(sentence("b", 5)).Wait(t.Context()), errStop)
		if _, _, hushed := l.seen(); len(hushed) != 1 {
			t.Errorf("hushed %d times", len(hushed))
		}
	})
}

// live makes packets for as long as it is wanted, and none while pause says so.
func live(name string, pause func() bool) playout.SoundFunc {
	return func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for {
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
					return
				}
				if !pause() && !yield([]byte(name), nil) {
					return
				}
			}
		}
	}
}

func TestABackgroundSoundIsHeardWhileNothingIsSaid(t *testing.T) {
	speak(t, func(m *playout.Player, l *line) {
		ctx, cancel := context.WithCancel(l.t.Context())
		defer cancel()
		var quiet atomic.Bool
		ended := make(chan error, 2)
		go func() { ended <- m.PlayBackground(ctx, live("x", quiet.Load)) }()
		<-time.After(time.Second)
		l.says(m, sentence("a", 10))
		<-time.After(time.Second)
		played, at, hushed := l.seen()
		said := strings.Join(played, "")
		if before, after, whole := strings.Cut(said, "a0a1a2a3a4a5a6a7a8a9"); !whole || len(before) < 45 || len(after) < 45 ||
			len(hushed) > 0 {
			l.t.Errorf("played %s, hushed %d times", said, len(hushed))
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap > 60*time.Millisecond {
				l.t.Errorf("a gap of %v before packet %d", gap, i)
			}
		}
		quiet.Store(true)
		<-time.After(2 * time.Second)
		if _, _, hushed := l.seen(); len(hushed) != 1 {
			l.t.Errorf("hushed %d times after it fell silent, want once", len(hushed))
		}
		if m.StopBackground() {
			l.t.Error("something was heard after a second of silence")
		}
		if err := <-ended; err != nil {
			l.t.Error(err)
		}

		quiet.Store(false)
		go func() { ended <- m.PlayBackground(ctx, live("y", quiet.Load)) }()
		<-time.After(time.Second)
		go func() { ended <- m.PlayBackground(ctx, live("z", quiet.Load)) }()
		if err := <-ended; err != nil { // the one that was replaced
			l.t.Error(err)
		}
		<-time.After(time.Second)
		if !m.StopBackground() {
			l.t.Error("nothing was heard")
		}
		now := time.Now()
		if err := <-ended; err != nil {
			l.t.Error(err)
		}
		<-time.After(time.Second)
		if played, at, _ := l.seen(); played[len(played)-1] != "z" || at[len(at)-1].After(now) {
			l.t.Errorf("the last is %s, %v after the stop", played[len(played)-1], at[len(at)-1].Sub(now))
		}

		broken := errors.New("no encoder")
		check.Fails(l.t, m.PlayBackground(ctx, func(context.Context) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) { yield(nil, broken) }
		}), broken)
	})
}
