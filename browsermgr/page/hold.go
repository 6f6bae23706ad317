package page

import (
	"context"
	"errors"
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

// Watching lets what is done with it look at tabs that are held, for people who watch.
func Watching(ctx context.Context) context.Context {
	return context.WithValue(ctx, watcherKey{}, true)
}

// Admits reports whether what runs with ctx may work a tab that h holds. The nil Hold holds nobody off.
func (h *Hold) Admits(ctx context.Context) bool { return h == nil || ctx.Value(holderKey{}) == h }

// BeginHold keeps everybody but h away from the tab, and from tabs that it opens, and ends what they are about to do.
func (t *Tab) BeginHold(h *Hold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hold.Store(h)
	for w := range t.watchers {
		if !w.watches {
			w.cancel(ErrHeld)
		}
	}
}

// EndHold gives the tab back.
func (t *Tab) EndHold() { t.hold.Store(nil) }

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
