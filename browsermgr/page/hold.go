package page

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrHeld is returned while a person controls the tab, so that nobody else may read or change it.
var ErrHeld = errors.New("a person works this page now: wait until they give it back")

// Hold is a person's exclusive hold on tabs. While it lasts, operations on the tabs need a context of [Hold.Context] or
// [Watching], and nothing that the tabs report is recorded.
type Hold struct{ _ byte }

type (
	holderKey  struct{}
	watcherKey struct{}
)

// Context returns a context whose operations may use the held tabs.
func (h *Hold) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

// HoldOf returns the hold of [Hold.Context] in ctx; nil for none.
func HoldOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holderKey{}).(*Hold)
	return h
}

// Watching returns a context whose operations may look at held tabs, on behalf of viewers that [Tab.MayShow] allows.
func Watching(ctx context.Context) context.Context {
	return context.WithValue(ctx, watcherKey{}, true)
}

// Admits reports whether operations with ctx may use a tab held by h. A nil Hold admits all.
func (h *Hold) Admits(ctx context.Context) bool { return h == nil || HoldOf(ctx) == h }

// BeginHold gives h exclusive use of the tab and of tabs that it opens, and cancels operations in progress.
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

// EndHold ends the tab's hold.
func (t *Tab) EndHold() {
	if t.Held() {
		t.freed.Store(time.Now().UnixMicro())
	}
	t.hold.Store(nil)
}

// MayShow reports whether a picture of the tab taken at some time may be shown to h or, if h is nil, to other viewers.
// While somebody holds the tab only they see it, and pictures from that time are never shown to others.
func (t *Tab) MayShow(h *Hold, taken time.Time) bool {
	if held := t.hold.Load(); held != nil {
		return held == h
	}
	return taken.UnixMicro() > t.freed.Load()
}

// Held reports whether a tab of the browser is held. begins is closed when the next hold begins.
func (b *Browser) Held() (held bool, begins <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.tabs, (*Tab).Held), b.holdBegins
}

// noteHold signals that a hold begins.
func (b *Browser) noteHold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.holdBegins)
	b.holdBegins = make(chan struct{})
}

// Held reports whether a person holds the tab, so that nothing it reports may be recorded.
func (t *Tab) Held() bool { return t.hold.Load() != nil }

// CleanRecords sets a function that masks recordings of the tab from now on. clean gets JSON and keeps its structure.
func (t *Tab) CleanRecords(clean func(json []byte) []byte) { t.clean.Store(&clean) }

// Recordable returns JSON from the tab with secrets masked for recording.
func (t *Tab) Recordable(json []byte) []byte {
	if clean := t.clean.Load(); clean != nil {
		return (*clean)(json)
	}
	return json
}

// mayUse reports whether operations with ctx may use the tab, or watch it with looks.
func (t *Tab) mayUse(ctx context.Context, looks bool) bool {
	return t.hold.Load().Admits(ctx) || looks && ctx.Value(watcherKey{}) != nil
}
