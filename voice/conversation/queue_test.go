package conversation_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsPutInComesOutInOrderAndWhatIsOfferedMayBeLost(t *testing.T) {
	b := conversation.NewInbox()
	var got []int
	for i := range 3000 {
		b.Offer(func(context.Context) { got = append(got, i) })
	}
	b.Put(func(context.Context) { got = append(got, -1) })
	<-b.Wake()
	for _, f := range b.Drain() {
		f(t.Context())
	}
	if n := len(got); n != 2049 || got[0] != 0 || got[2047] != 2047 || got[2048] != -1 {
		t.Errorf("%d came out, ending with %d", n, got[n-1])
	}
	select {
	case <-b.Wake():
		t.Error("woken for nothing")
	default:
	}
}

func TestMessagesAreWrittenInOrderUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := conversation.NewMessageWriter(t.Context(), func(ctx context.Context, m string) error {
			if m == "stuck" {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			got = append(got, m)
			return errors.New("is logged")
		}, slog.New(slog.DiscardHandler))
		for _, m := range []string{"one", "stuck", "two"} {
			s.Write(m)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Close(ctx)
		s.Write("too late")
		if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAScribeThatIsStuckDoesNotKeepTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := conversation.NewMessageWriter(t.Context(), func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}, slog.New(slog.DiscardHandler))
		for range 60 {
			s.Write("stuck")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if s.Close(ctx); time.Since(began) > 2*time.Second {
			t.Errorf("closing took %v", time.Since(began))
		}
	})
}

// fakeSpotterStream remembers what it is given.
type fakeSpotterStream struct {
	heard  int
	claim  voice.SpotterPriority
	closed bool
}

func (s *fakeSpotterStream) Write(voice.Sound)                   { s.heard++ }
func (s *fakeSpotterStream) SetPriority(c voice.SpotterPriority) { s.claim = c }
func (s *fakeSpotterStream) Close() error                        { s.closed = true; return nil }

func TestWhatIsSaidBeforeASpotterIsThereIsKeptForIt(t *testing.T) {
	var l conversation.BufferedSpotterStream
	var s, late fakeSpotterStream
	for range 150 {
		l.Write(voice.Sound{})
	}
	l.SetPriority(voice.SpotterPriority{Working: true})
	l.Attach(&s)
	if !s.claim.Working {
		t.Error("a claim that came before the spotter is lost")
	}
	l.Write(voice.Sound{})
	if s.heard != 101 {
		t.Errorf("heard %d pieces, want 101", s.heard)
	}
	if err := l.Close(); err != nil || !s.closed {
		t.Errorf("closed = %v, %v", s.closed, err)
	}
	l.Write(voice.Sound{})
	if l.Attach(&late); !late.closed || s.heard != 101 {
		t.Error("one that comes after the end listens")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
