package rtctest

import (
	_ "embed"
	"sync"
	"testing"
	"time"

	"clank/videosource"
	"clank/voice/rtc"
)

// VP8 key frames of one colour, 320 by 180.
var (
	//go:embed testdata/red.vp8
	red []byte
	//go:embed testdata/blue.vp8
	blue []byte
)

// Red and Blue are frames of one colour.
func Red() videosource.Frame  { return frame(red) }
func Blue() videosource.Frame { return frame(blue) } //nolint:revive // see Red

func frame(data []byte) videosource.Frame {
	return videosource.Frame{Data: data, Width: 320, Height: 180, Taken: time.Now()}
}

// Screen is a source of pictures that shows what it is told. Its zero value shows nothing.
type Screen struct {
	mu        sync.Mutex
	last      videosource.Frame
	looks     map[*look]struct{}
	refreshed int
}

// Show shows f to all who look.
func (s *Screen) Show(f videosource.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = f
	for l := range s.looks {
		l.put(f)
	}
}

// Looks is how many look.
func (s *Screen) Looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.looks)
}

// Refreshed is how often anybody has asked for a frame.
func (s *Screen) Refreshed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshed
}

// Watch begins to look.
func (s *Screen) Watch() rtc.Frames {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &look{screen: s, frames: make(chan videosource.Frame, 1)}
	if s.looks == nil {
		s.looks = make(map[*look]struct{})
	}
	s.looks[l] = struct{}{}
	if s.last.Data != nil {
		l.put(s.last)
	}
	return l
}

type look struct {
	screen *Screen
	frames chan videosource.Frame
}

func (l *look) put(f videosource.Frame) {
	select {
	case <-l.frames:
	default:
	}
	l.frames <- f
}

// Frames implements [rtc.Frames].
func (l *look) Frames() <-chan videosource.Frame { return l.frames }

// Refresh implements [rtc.Frames]: the last frame comes again.
func (l *look) Refresh() {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	l.screen.refreshed++
	if l.screen.last.Data != nil {
		l.put(l.screen.last)
	}
}

// Close implements [rtc.Frames].
func (l *look) Close() {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	delete(l.screen.looks, l)
}

// Engine is an engine on the loopback interface, which is closed when the test ends.
func Engine(tb testing.TB, e *rtc.Engine) *rtc.Engine {
	tb.Helper()
	e.Loopback = true
	if err := e.Open(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(within(tb)); err != nil {
			tb.Error(err)
		}
	})
	return e
}
