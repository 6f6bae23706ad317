package browsermgr

import (
	"context"
	"iter"
	"time"

	"clank/cancel"
)

// soundRetry is how long to wait before listening again to a window without sound.
const soundRetry = time.Second

// Sound returns the audio of the window's browser until ctx ends, as pieces of [chrome.SoundFrame] samples in the
// format of [chrome.Sound], and nothing while it is silent. Chromium mixes all its pages, so the pages of other windows
// are included. During a takeover there is no sound.
func (w *Window) Sound(ctx context.Context) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for ctx.Err() == nil {
			if !w.yieldSound(ctx, yield) {
				return
			}
			_ = cancel.Sleep(ctx, soundRetry)
		}
	}
}

// yieldSound yields the audio of the present browser until it has ended, and reports whether the consumer wants more.
func (w *Window) yieldSound(ctx context.Context, yield func([]int16) bool) bool {
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
			if w.isAudible(b) && !yield(p) {
				return false
			}
		case <-ctx.Done():
			return true
		}
	}
}

// isAudible reports whether b is the window's browser and nobody controls the window.
func (w *Window) isAudible(b *browser) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.browser == b && w.takeover == nil
}
