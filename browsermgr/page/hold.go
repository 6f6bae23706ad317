package page

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrHeld says that a person works the page of a tab, so that nobody else reads or changes it.
var ErrHeld = errors.New("a person works this page now: wait until they give it back")

// Hold is a person's hold on tabs. While it lasts nothing is done or read there but with a context of [Hold.Context] or
// [Watching], and nothing that the tabs tell is recorded.
type Hold struct{ _ byte }

type (
	holderKey  struct{}
	watcherKey struct{}
)

// Context lets what is done with it work the tabs that are held.
func (h *Hold) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

// HoldOf returns the hold that what runs with ctx belongs to; nil for none.
func HoldOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holderKey{}).(*Hold)
	return h
}

// Watching lets what is done with it look at tabs that are held, for whoever [Tab.MayShow] allows to see them.
func Watching(ctx context.Context) context.Context {
	return context.WithValue(ctx, watcherKey{}, true)
}

// Admits reports whether what runs with ctx may work a tab that h holds. The nil Hold holds nobody off.
func (h *Hold) Admits(ctx context.Context) bool { return h == nil || HoldOf(ctx) == h }

// BeginHold keeps everybody but h away from the tab, and from tabs that it opens, and ends what they are about to do.
func (t *Tab) BeginHold(h *Hold) {
	t.mu.Lock()
	t.hold.Store(h)
	for w := range t.watchers {
		if !w.watches {
			w.cancel(ErrHeld)
		}
	}
	t.mu.Unlock()
	t.browser.noteHold()
}

// EndHold gives the tab back.
func (t *Tab) EndHold() {
	if t.Held() {
		t.freed.Store(time.Now().UnixMicro())
	}
	t.hold.Store(nil)
}

// MayShow reports whether a picture of the tab that was taken at some time may be shown to h, or if it is nil, to people
// who watch: while somebody works the page they alone see it, and what was to be seen then is never shown to others.
func (t *Tab) MayShow(h *Hold, taken time.Time) bool {
	if held := t.hold.Load(); held != nil {
		return held == h
	}
	return taken.UnixMicro() > t.freed.Load()
}

// Held reports whether a person works a page of the browser. begins is closed when somebody begins to.
func (b *Browser) Held() (held bool, begins <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.tabs, (*Tab).Held), b.holdBegins
}

// noteHold tells that a person begins to work a page.
func (b *Browser) noteHold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.holdBegins)
	b.holdBegins = make(chan struct{})
}

// Held reports whether a person works the tab, so that nothing it tells may be recorded.
func (t *Tab) Held() bool { return t.hold.Load() != nil }

// CleanRecords has what is recorded of the tab from now on pass through clean: JSON, of which it keeps the shape.
func (t *Tab) CleanRecords(clean func(json []byte) []byte) { t.clean.Store(&clean) }

// Recordable returns JSON that the tab has told as it may be recorded.
func (t *Tab) Recordable(json []byte) []byte {
	if clean := t.clean.Load(); clean != nil {
		return (*clean)(json)
	}
	return json
}

// mayUse reports whether what runs with ctx may work the tab, or look at it if it only watches.
func (t *Tab) mayUse(ctx context.Context, looks bool) bool {
	return t.hold.Load().Admits(ctx) || looks && ctx.Value(watcherKey{}) != nil
}
