package golive_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/rtctest"
	"clank/videosource"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
)

// board is where previews are shown.
type board struct {
	mu    sync.Mutex
	keys  []string
	fails error
	hangs bool
}

func (b *board) show(ctx context.Context, key string, frame []byte) error {
	if b.hangs {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(frame) != 12 {
		return errors.New("no such frame was made")
	}
	b.keys = append(b.keys, key)
	return b.fails
}

// count returns how many were shown, all of the stream that there is.
func (b *board) count(t *testing.T) int {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.keys {
		if k != key {
			t.Errorf("a preview of %s", k)
		}
	}
	return len(b.keys)
}

func TestAPreviewIsShownAtTheStartAndFromTimeToTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := newTown(t), &board{}
		w.pub.Preview = b.show
		s := w.start(t, nil)
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 0}) // nobody watches: those who do not are whom it is for
		pass(10 * time.Second)
		if got := b.count(t); got != 1 {
			t.Errorf("%d previews at the start, want one", got)
		}
		pass(11 * time.Minute)
		if got := b.count(t); got != 3 {
			t.Errorf("%d previews in eleven minutes, want three", got)
		}
		s.Pause()
		pass(time.Hour)
		if got := b.count(t); got != 3 {
			t.Errorf("%d previews were shown of a stream that is paused", got-3)
		}
		s.Resume()
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 100})
		pass(6 * time.Minute)
		if got := b.count(t); got < 4 {
			t.Error("none was shown after the pause")
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := b.count(t)
		pass(time.Hour)
		if got := b.count(t); got != before {
			t.Errorf("%d previews were shown after the end", got-before)
		}
	})
}

func TestAPreviewThatFailsHarmsNothingAndIsNotedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := newTown(t), &board{fails: errors.New("code 403")}
		var log bytes.Buffer
		w.pub.Preview, w.pub.Logger = b.show, slog.New(slog.NewTextHandler(&log, nil))
		s := w.start(t, nil)
		pass(16 * time.Minute)
		if st := s.State(); st.Status != golive.Playing || b.count(t) != 4 {
			t.Errorf("after %d tries the stream is %+v", b.count(t), st)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(log.String(), "code 403"); got != 1 {
			t.Errorf("it was noted %d times:\n%s", got, log.String())
		}
	})
}

func TestNobodyWaitsForAPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := newTown(t), &board{hangs: true}
		w.pub.Preview = b.show
		s := w.start(t, nil)
		pass(10 * time.Second)
		if st := s.State(); st.Status != golive.Playing || st.Sent == 0 {
			t.Errorf("got %+v while a preview is uploaded", st)
		}
		began := time.Now()
		if err := s.Stop(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("error %v, and the stream took %s to end", err, time.Since(began))
		}
	})
}

// poster is a page that is red.
type poster struct{}

func (poster) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	return framed(rtctest.Red().Data), "", nil
}

func TestDiscordGetsThePreview(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	eve := w.CreateAccount("eve", "of eve")
	a := w.signIn(t, eve, true)
	a.Publisher().Preview = (&golive.PreviewPoster{API: w.URL + "/api/v9", Token: eve.Token}).Post
	src := &videosource.Source{Screen: poster{}, IdleFPS: 20}
	running, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = src.Run(running) }()
	defer func() { end(); <-over }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: src})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the preview", func() bool {
		return strings.HasPrefix(w.Streams()[s.State().Key].Preview, "data:image/jpeg;base64,")
	})
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}
