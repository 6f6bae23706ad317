package browsermgr

import (
	"context"
	"iter"
	"time"
)

// soundRetry is how long it takes until a window that cannot be heard is tried again.
const soundRetry = time.Second

// Sound returns what the window's browser plays until ctx ends: pieces of [chrome.SoundFrame] in the form of [chrome.Sound], none while
// nothing plays. Chromium mixes all its pages: those of other windows are heard, too. Nothing is heard while a person works the window's.
func (w *Window) Sound(ctx context.Context) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for ctx.Err() == nil {
			if !w.hear(ctx, yield) {
				return
			}
			select {
			case <-time.After(soundRetry):
			case <-ctx.Done():
			}
		}
	}
}

// hear yields what the present browser plays until it has ended, and reports whether more is wanted.
func (w *Window) hear(ctx context.Context, yield func([]int16) bool) bool {
	w.mu.Lock()
	b := w.browser
	w.mu.Unlock()
	if b == nil || b.process == nil || b.process.Sound == nil {
		return true
	}
	pieces, stop := b.process.Sound.Listen()
	defer stop()
	for {
		select {
		case p, more := <-pieces:
			if !more {
				return true
			}
			if w.isHeard(b) && !yield(p) {
				return false
			}
		case <-ctx.Done():
			return true
		}
	}
}

// isHeard reports whether b is the window's browser and nobody works its pages.
func (w *Window) isHeard(b *browser) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.browser == b && w.hands == nil
}
