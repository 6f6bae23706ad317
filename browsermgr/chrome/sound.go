package chrome

import (
	"encoding/binary"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// Format of [Sound]: 16-bit samples, left and right interleaved.
const (
	SoundRate     = 48000 // samples per second and channel
	SoundChannels = 2
	SoundFrame    = 20 * time.Millisecond // duration of one piece
)

// soundFrameBytes is the size of one piece on the pipe.
const soundFrameBytes = SoundRate / 50 * SoundChannels * 2

// soundAhead is how many pieces are buffered for a slow listener; older ones are dropped.
const soundAhead = 10

// Sound is the mixed audio of all pages of a browser. It is safe for concurrent use.
type Sound struct {
	pipe  *os.File
	files []string // to remove
	ended chan struct{}

	mu        sync.Mutex
	listeners []chan []int16
}

// newSound reads from pipe, which the browser writes, until close.
func newSound(pipe *os.File, files ...string) *Sound {
	s := &Sound{pipe: pipe, files: files, ended: make(chan struct{})}
	go s.run()
	return s
}

// Listen returns a channel of pieces of [SoundFrame] while something plays, until stop is called. Listeners share the
// slices and must not change them. The channel is closed when the browser has ended.
func (s *Sound) Listen() (pieces <-chan []int16, stop func()) {
	heard := make(chan []int16, soundAhead)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		close(heard)
		return heard, func() {}
	default:
	}
	s.listeners = append(s.listeners, heard)
	return heard, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listeners = slices.DeleteFunc(s.listeners, func(l chan []int16) bool { return l == heard })
	}
}

// run reads in real time even without listeners, since a page's video advances only as fast as its sound is read.
func (s *Sound) run() {
	defer s.end()
	buf := make([]byte, soundFrameBytes)
	var due time.Time
	for {
		if _, err := io.ReadFull(s.pipe, buf); err != nil {
			return
		}
		if late := time.Now().Add(-5 * SoundFrame); due.Before(late) {
			due = time.Now()
		}
		s.publish(buf)
		due = due.Add(SoundFrame)
		<-time.After(time.Until(due))
	}
}

func (s *Sound) publish(raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) == 0 {
		return
	}
	piece := make([]int16, len(raw)/2)
	for i := range piece {
		piece[i] = int16(binary.LittleEndian.Uint16(raw[2*i:])) //nolint:gosec // the bits of a sample
	}
	for _, l := range s.listeners {
		if len(l) == cap(l) {
			select {
			case <-l:
			default:
			}
		}
		l <- piece // no other goroutine sends
	}
}

func (s *Sound) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ended)
	for _, l := range s.listeners {
		close(l)
	}
	s.listeners = nil
}

// close ends run, waits for it, and removes its files.
func (s *Sound) close() {
	if s == nil {
		return
	}
	_ = s.pipe.Close()
	<-s.ended
	for _, f := range s.files {
		_ = os.Remove(f)
	}
}
