package conversation_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/voice"
	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

// chatFunc is a chat that does one thing.
type chatFunc func(ctx context.Context, m conversation.Message) error

func (chatFunc) ShowLine(conversation.TranscriptLine) {}

func (f chatFunc) Write(ctx context.Context, m conversation.Message) error { return f(ctx, m) }

func TestMessagesAreWrittenInOrderUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := conversation.NewMessageWriter(t.Context(), chatFunc(func(ctx context.Context, m conversation.Message) error {
			if m.Text == "stuck" {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			got = append(got, m.Text)
			return errors.New("is logged")
		}), slog.New(slog.DiscardHandler))
		for _, text := range []string{"one", "stuck", "two"} {
			s.Write(conversation.Message{Text: text})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Close(ctx)
		s.Write(conversation.Message{Text: "too late"})
		if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAChatThatIsStuckDoesNotKeepTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := conversation.NewMessageWriter(t.Context(), stuck{}, slog.New(slog.DiscardHandler))
		for range 60 {
			s.Write(conversation.Message{})
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
	check.Equal(t, "s.heard", s.heard, 101)
	if err := l.Close(); err != nil || !s.closed {
		t.Errorf("closed = %v, %v", s.closed, err)
	}
	l.Write(voice.Sound{})
	if l.Attach(&late); !late.closed || s.heard != 101 {
		t.Error("one that comes after the end listens")
	}
	check.Must(t, l.Close())
}

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func TestAConversationIsRememberedForAWhileInItsOrder(t *testing.T) {
	var l conversation.History
	old := l.Add(assistant.ChatLine{Text: "old"}, noon.Add(-time.Hour))
	asked := l.Add(assistant.ChatLine{Text: "asked"}, noon)
	gone := l.Add(assistant.ChatLine{Text: "gone"}, noon)
	l.Add(assistant.ChatLine{Text: "since"}, noon)
	l.Remove(gone)
	l.Remove(gone)
	want := []assistant.ChatLine{{Text: "since"}, {Text: "asked"}}
	if diff := cmp.Diff(want, l.LinesUntil(asked, noon)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 100 {
		l.Add(assistant.ChatLine{Text: strconv.Itoa(i)}, noon)
	}
	if got := l.LinesUntil(old, noon); len(got) != 41 || got[0].Text != "60" || got[40].Text != "old" {
		t.Errorf("%d lines, from %q", len(got), got[0].Text)
	}
}

func TestWhatWeSaidIsKnownWhenItComesBack(t *testing.T) {
	var s conversation.EchoDetector
	a := s.Begin("You can say stop", noon)
	a.Append("at any time.")
	at := noon.Add(time.Second)
	if !s.IsEcho("say stop at any time", at, at) || !s.MayBeEcho("stop", at) {
		t.Error("not known while it is said")
	}
	if s.IsEcho("look up the ferries", at, at) || s.MayBeEcho("clank stop", at) {
		t.Error("other words are taken for it")
	}
	a.End(at)
	for after, want := range map[time.Duration]bool{900 * time.Millisecond: true, 1100 * time.Millisecond: false} {
		then := at.Add(after)
		if got := s.IsEcho("say stop at any time", then, then); got != want || s.MayBeEcho("stop", then) != want {
			t.Errorf("%v after its end: %v, want %v", after, got, want)
		}
	}
	if then := at.Add(100 * time.Millisecond); s.IsEcho("stop", then, then) {
		t.Error("a single word after its end is taken for it")
	}
}

func TestACallLastsAsLongAsItMay(t *testing.T) {
	for limit, want := range map[time.Duration]map[time.Duration]string{
		10 * time.Minute: {8 * time.Minute: conversation.LimitSoonText, 9*time.Minute +
			15*time.Second: conversation.LimitNearText, 10 * time.Minute: conversation.LimitReachedText},
		2 * time.Minute: {75 * time.Second: conversation.LimitNearText, 2 * time.Minute: conversation.LimitReachedText},
		0:               {},
	} {
		w := &conversation.CallLimits{AloneTimeout: time.Minute, MaxDuration: limit, StartedAt: time.Unix(1, 0)}
		texts := map[time.Duration]string{}
		var end error
		for at := time.Duration(0); at < time.Hour; at += time.Second {
			for _, notice := range w.Check(w.StartedAt.Add(at), 2) {
				texts[at] += notice.Text
				if notice.End != nil {
					end = notice.End
				}
			}
		}
		if errors.Is(end, conversation.ErrCallTooLong) != (limit > 0) || len(texts) != len(want) {
			t.Errorf("limit %v: told %v, ended with %v", limit, texts, end)
		}
		for at, text := range want {
			if texts[at] != text {
				t.Errorf("limit %v: after %v told %q, want %q", limit, at, texts[at], text)
			}
		}
	}
}
