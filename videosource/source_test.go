package videosource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/videosource"
)

// screen is a fake page.
type screen struct {
	mu      sync.Mutex
	text    string // what the page shows
	url     string
	cost    time.Duration // time to take a screenshot
	err     error
	size    func(quality int, scale float64) int // size of a screenshot; nil: the length of text
	moving  bool                                 // each screenshot is different
	taken   []time.Time
	quality []string // as requested
}

func (s *screen) CaptureWebP(ctx context.Context, quality int, scale float64) ([]byte, string, error) {
	s.mu.Lock()
	s.taken = append(s.taken, time.Now())
	s.quality = append(s.quality, fmt.Sprintf("%d/%g", quality, scale))
	cost := s.cost
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, "", ctx.Err()
	case <-time.After(cost):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, "", s.err
	}
	text := s.text
	if s.moving {
		text = time.Now().String()
	}
	if s.size != nil {
		text = fmt.Sprintf("%0*d", s.size(quality, scale)-10, 7)
	}
	return riff(chunk("VP8 ", vp8(64, 48, text))), s.url, nil
}

func (s *screen) set(change func(s *screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// pass advances the fake clock.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the fake clock of synctest
}

// wantPictures fails unless between least and most screenshots were taken since the last call.
func (s *screen) wantPictures(t *testing.T, least, most int, what string) {
	t.Helper()
	if got := s.count(); got < least || got > most {
		t.Errorf("%d %s", got, what)
	}
}

func wantQuality(t *testing.T, src *videosource.Source, quality int, scale float64, what string) {
	t.Helper()
	if st := src.Stats(); st.Quality != quality || st.Scale != scale {
		t.Errorf("got quality %d, scale %g %s", st.Quality, st.Scale, what)
	}
}

// count returns how many screenshots were taken since the last call.
func (s *screen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.taken)
	s.taken = nil
	return n
}

// running runs a source in the bubble until the test ends or stop is called.
func running(t *testing.T, s *videosource.Source) (stop func(error)) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func(cause error) {
		once.Do(func() {
			cancel(cause)
			check.Fails(t, <-done, cause)
		})
	}
	t.Cleanup(func() { stop(context.Canceled) })
	return stop
}

// watch runs a source with one viewer.
func watch(t *testing.T, s *videosource.Source) (*videosource.Source, *videosource.Viewer) {
	t.Helper()
	running(t, s)
	v := s.Subscribe()
	t.Cleanup(v.Close)
	return s, v
}

// tale records the calls of OnTrouble.
type tale struct {
	mu   sync.Mutex
	errs []error
}

func (l *tale) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func (l *tale) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs)
}

// next returns the frame that has arrived by now and checks its reason; "" accepts any.
func next(t *testing.T, v *videosource.Viewer, why videosource.Reason) videosource.Frame {
	t.Helper()
	synctest.Wait()
	select {
	case f, ok := <-v.Frames():
		if !ok {
			t.Fatal("the frames have ended")
		}
		if why != "" && f.Reason != why {
			t.Errorf("got a frame %q, want %q", f.Reason, why)
		}
		return f
	default:
		t.Fatal("no frame has come")
	}
	return videosource.Frame{}
}

// none fails if a frame has arrived by now.
func none(t *testing.T, v *videosource.Viewer) {
	t.Helper()
	synctest.Wait()
	select {
	case f := <-v.Frames():
		t.Fatalf("got a frame %q, want none", f.Reason)
	default:
	}
}

func TestNobodyWatchingMeansNoPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a"}
		src := &videosource.Source{Screen: page}
		running(t, src)
		src.NoteActivity()
		pass(time.Minute)
		page.wantPictures(t, 0, 0, "pictures were taken before anybody watched, want none")
		v := src.Subscribe()
		if f := next(t, v, videosource.Initial); f.Width != 64 || f.Height != 48 {
			t.Errorf("got %+v, want the initial frame of 64 x 48", f)
		}
		v.Close()
		v.Close()
		if _, open := <-v.Frames(); open {
			t.Error("a closed viewer has frames")
		}
		page.count()
		pass(time.Minute)
		page.wantPictures(t, 0, 1, "pictures were taken after everybody had gone, want none")
	})
}

func TestPicturesAreTakenFastAfterAnActivityAndSlowlyOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{moving: true, cost: 20 * time.Millisecond}
		src, v := watch(t, &videosource.Source{Screen: page})
		pass(10 * time.Second)
		page.wantPictures(t, 19, 21, "pictures in 10 s of a page where nothing is done, want about 20")
		src.NoteActivity()
		pass(2400 * time.Millisecond)
		page.wantPictures(t, 18, 21, "pictures in 2.4 s after an activity, want about 19")
		next(t, v, videosource.Activity)
		pass(10 * time.Second)
		page.wantPictures(t, 19, 23, "pictures in the 10 s after that, want about 21")
		next(t, v, videosource.Poll)
	})
}

func TestAnActivityIsSeenAtOnceNotAtTheNextSlowPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a"}
		src, v := watch(t, &videosource.Source{Screen: page, IdleFPS: 1})
		next(t, v, videosource.Initial)
		pass(200 * time.Millisecond)
		page.set(func(s *screen) { s.text = "b" })
		src.NoteActivity()
		next(t, v, videosource.Activity)
	})
}

func TestSlowPicturesTakeNoMoreThanTheirShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{moving: true, cost: 400 * time.Millisecond}
		src, _ := watch(t, &videosource.Source{Screen: page, MaxLoad: 0.5})
		for range 10 {
			src.NoteActivity()
			pass(time.Second)
		}
		page.wantPictures(t, 12, 13, "pictures of 0.4 s in 10 s, want 12 or 13: half of the time")
	})
}

func TestWhatIsNotSensibleIsBroughtIntoBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{moving: true}
		src, _ := watch(t, &videosource.Source{Screen: page, ActiveFPS: 1000, IdleFPS: 0.01, MaxLoad: 9})
		pass(5 * time.Second)
		page.wantPictures(t, 5, 6, "pictures in 5 s at 0.01 per second, want 5 or 6: one per second")
		src.NoteActivity()
		pass(time.Second)
		page.wantPictures(t, 29, 31, "pictures in 1 s at 1000 per second, want about 30")
	})
}

func TestAStillPageIsSentAgainOnlyAsHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a", url: "https://a.example/"}
		_, v := watch(t, &videosource.Source{Screen: page})
		next(t, v, videosource.Initial)
		pass(4900 * time.Millisecond)
		none(t, v)
		pass(200 * time.Millisecond)
		if f := next(t, v, videosource.Heartbeat); f.Sequence != 2 {
			t.Errorf("got frame %d %q, want 2 %q", f.Sequence, f.Reason, videosource.Heartbeat)
		}
		page.set(func(s *screen) { s.url = "https://b.example/" })
		pass(600 * time.Millisecond)
		if f := next(t, v, videosource.Poll); f.URL != "https://b.example/" {
			t.Errorf("got %q of %s, want another address to count as a change", f.Reason, f.URL)
		}
	})
}

func TestANewViewerGetsAFrameOfAStillPageAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a", cost: 50 * time.Millisecond}
		src, v := watch(t, &videosource.Source{Screen: page, IdleFPS: 1})
		pass(100 * time.Millisecond)
		next(t, v, videosource.Initial)
		second := src.Subscribe()
		defer second.Close()
		next(t, second, videosource.Initial)
		none(t, v) // a viewer that has the picture does not get it again
		v.Close()
		second.Close()
		pass(time.Minute)
		third := src.Subscribe()
		defer third.Close()
		none(t, third) // the last picture is too old to be shown
		pass(60 * time.Millisecond)
		if f := next(t, third, videosource.Initial); time.Since(f.Taken) > time.Second {
			t.Errorf("got %q of %s ago, want a new one", f.Reason, time.Since(f.Taken))
		}
	})
}

func TestLostPicturesAreSentAgainButNotInAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a"}
		src := &videosource.Source{Screen: page, IdleFPS: 1, Heartbeat: time.Hour}
		running(t, src)
		v, other := src.Subscribe(), src.Subscribe()
		defer v.Close()
		defer other.Close()
		v.Refresh() // before the first frame
		next(t, v, videosource.Initial)
		next(t, other, videosource.Initial)
		pass(250 * time.Millisecond)
		got := 0
		for range 100 {
			v.Refresh()
			synctest.Wait()
			select {
			case f := <-v.Frames():
				check.Equal(t, "got a frame", f.Reason, videosource.Requested)
				got++
			default:
			}
			pass(10 * time.Millisecond)
		}
		if got < 5 || got > 6 {
			t.Errorf("a hundred requests in a second gave %d frames, want 5 or 6", got)
		}
		none(t, other)
		if n := page.count(); n > 3 {
			t.Errorf("%d pictures were taken for it, want only those that were due", n)
		}
	})
}

func TestASlowViewerFindsTheNewestFrameAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{moving: true}
		src := &videosource.Source{Screen: page}
		running(t, src)
		slow, quick := src.Subscribe(), src.Subscribe()
		defer slow.Close()
		defer quick.Close()
		for range 10 {
			next(t, quick, "")
			pass(500 * time.Millisecond)
		}
		last := next(t, quick, "")
		check.Diff(t, "the slow one has another frame", last, next(t, slow, ""))
		none(t, slow)
	})
}

func TestAPictureThatCannotBeTakenIsLeftOutAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("a dialog is open")
		page := &screen{text: "a"}
		var told tale
		src, v := watch(t, &videosource.Source{Screen: page, OnTrouble: told.add})
		next(t, v, videosource.Initial)
		page.set(func(s *screen) { s.err = broken })
		pass(2 * time.Second)
		if got := told.all(); len(got) > 0 {
			t.Errorf("told %v after 2 s, want patience", got)
		}
		pass(30 * time.Second)
		next(t, v, videosource.Heartbeat)
		late := src.Subscribe()
		defer late.Close()
		pass(time.Second)
		next(t, late, videosource.Initial)
		page.set(func(s *screen) { s.err = nil })
		pass(2 * time.Second)
		if got := told.all(); len(got) != 2 || !errors.Is(got[0], broken) || got[1] != nil {
			t.Errorf("told %v, want the trouble once and then its end", got)
		}
		if st := src.Stats(); st.Failed < 50 || st.Failed > 70 || st.Captures <= st.Failed {
			t.Errorf("got %+v, want the failures counted", st)
		}
	})
}

func TestAPageThatHangsIsGivenUpAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &screen{text: "a", cost: time.Hour}
		var told tale
		src := &videosource.Source{Screen: page, OnTrouble: told.add}
		stop := running(t, src)
		v := src.Subscribe()
		defer v.Close()
		pass(40 * time.Second)
		errs := told.all()
		if got := src.Stats(); got.Captures != 2 || got.Failed != 2 || len(errs) != 1 ||
			errs[0].Error() != "the page gave no picture within 15s" {
			t.Errorf("got %+v, told %v, want two pictures given up after 15 s each", got, errs)
		}
		began := time.Now()
		stop(errors.New("the call has ended"))
		check.Equal(t, "time.Since(began)", time.Since(began), 0)
		if _, open := <-v.Frames(); open {
			t.Error("the viewer of a source that has ended has frames")
		}
		if _, open := <-src.Subscribe().Frames(); open {
			t.Error("who comes after the end has frames")
		}
		check.Fails(t, src.Run(t.Context()), nil, "it has ended")
	})
}

func TestQualityGivesWayBeforeSizeAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bytes := func(large float64) func(int, float64) int {
			return func(quality int, scale float64) int { return int(large * float64(quality) / 80 * scale * scale) }
		}
		page := &screen{size: bytes(100_000)}
		src, _ := watch(t, &videosource.Source{Screen: page, MaxFrameBytes: 150_000})
		pass(5 * time.Second)
		wantQuality(t, src, 80, 1, "for a light page, want the best")
		page.set(func(s *screen) { s.size = bytes(220_000) })
		pass(5 * time.Second)
		if st := src.Stats(); st.Quality >= 80 || st.Quality < 30 || st.Scale != 1 {
			t.Errorf("got quality %d, scale %g for a heavy page, want less quality only", st.Quality, st.Scale)
		}
		page.set(func(s *screen) { s.size = bytes(900_000) })
		pass(5 * time.Second)
		heavy := src.Stats()
		if heavy.Scale >= 1 {
			t.Errorf("got quality %d, scale %g for a very heavy page, want it smaller", heavy.Quality, heavy.Scale)
		}
		page.set(func(s *screen) { s.quality = nil })
		pass(time.Minute)
		page.set(func(s *screen) {
			for _, q := range s.quality {
				if want := fmt.Sprintf("%d/%g", heavy.Quality, heavy.Scale); q != want {
					t.Errorf("the pictures wander from %s to %s", want, q)
					break
				}
			}
			s.size = bytes(30_000)
		})
		pass(3 * time.Second)
		wantQuality(t, src, heavy.Quality, heavy.Scale, "3 s after the page became light, want it to wait for what lasts")
		pass(time.Minute)
		wantQuality(t, src, 80, 1, "when the page is light again, want the best")
	})
}

func TestManyMayComeAndGoAtOnce(t *testing.T) {
	page := &screen{moving: true}
	src := &videosource.Source{Screen: page, ActiveFPS: 30}
	running(t, src)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			v := src.Subscribe()
			v.Refresh()
			src.NoteActivity()
			<-v.Frames()
			v.Close()
			v.Refresh()
		})
	}
	all.Wait()
	check.Equal(t, "viewers", src.Stats().Viewers, 0)
}
