package queue

import (
	"sync"

	"clank/voice"
)

// maxHeld is how much sound waits for a spotter that is not ready yet: two seconds in pieces of 20 ms.
const maxHeld = 100

// Listening is a spotter's ear for one person. It takes time to be there, and what is said meanwhile is kept for it.
type Listening struct {
	mu     sync.Mutex
	to     voice.Listening // nil: not yet
	held   []voice.Sound
	claim  voice.Claim
	closed bool
}

// Open gives l its spotter and what it has missed.
func (l *Listening) Open(to voice.Listening) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = to.Close() // nobody listens any more, and there is nobody to tell
		return
	}
	to.Prefer(l.claim)
	for _, s := range l.held {
		to.Write(s)
	}
	l.to, l.held = to, nil
}

// Prefer says what claim the person has to be listened to, if not all can be.
func (l *Listening) Prefer(claim voice.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if claim == l.claim {
		return
	}
	l.claim = claim
	if l.to != nil {
		l.to.Prefer(claim)
	}
}

// Crowded reports whether the person is not listened to, as the spotter listens to others who have a better claim.
func (l *Listening) Crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	to, can := l.to.(interface{ Crowded() bool })
	return can && to.Crowded()
}

// Write passes on what is heard, or keeps it as long as there is no spotter.
func (l *Listening) Write(s voice.Sound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.to != nil:
		l.to.Write(s)
	case len(l.held) < maxHeld:
		l.held = append(l.held, s)
	}
}

// Close ends the spotter, if it is there; if it comes later, at once then.
func (l *Listening) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.held = true, nil
	if l.to == nil {
		return nil
	}
	to := l.to
	l.to = nil
	return to.Close()
}
