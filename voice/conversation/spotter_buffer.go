package conversation

import (
	"sync"

	"clank/voice"
)

// maxBufferedSounds is how much sound waits for a spotter that is not ready yet: two seconds in pieces of 20 ms.
const maxBufferedSounds = 100

// BufferedSpotterStream is a spotter's ear for one person. It takes time to be there, and what is said meanwhile is kept for it.
type BufferedSpotterStream struct {
	mu       sync.Mutex
	stream   voice.SpotterStream // nil: not yet
	buffered []voice.Sound
	claim    voice.SpotterPriority
	closed   bool
}

// Attach gives l its spotter and what it has missed.
func (l *BufferedSpotterStream) Attach(to voice.SpotterStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = to.Close() // nobody listens any more, and there is nobody to tell
		return
	}
	to.SetPriority(l.claim)
	for _, s := range l.buffered {
		to.Write(s)
	}
	l.stream, l.buffered = to, nil
}

// SetPriority says what claim the person has to be listened to, if not all can be.
func (l *BufferedSpotterStream) SetPriority(claim voice.SpotterPriority) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if claim == l.claim {
		return
	}
	l.claim = claim
	if l.stream != nil {
		l.stream.SetPriority(claim)
	}
}

// Crowded reports whether the person is not listened to, as the spotter listens to others who have a better claim.
func (l *BufferedSpotterStream) Crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	to, can := l.stream.(interface{ Crowded() bool })
	return can && to.Crowded()
}

// Write passes on what is heard, or keeps it as long as there is no spotter.
func (l *BufferedSpotterStream) Write(s voice.Sound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.stream != nil:
		l.stream.Write(s)
	case len(l.buffered) < maxBufferedSounds:
		l.buffered = append(l.buffered, s)
	}
}

// Close ends the spotter, if it is there; if it comes later, at once then.
func (l *BufferedSpotterStream) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.buffered = true, nil
	if l.stream == nil {
		return nil
	}
	to := l.stream
	l.stream = nil
	return to.Close()
}
