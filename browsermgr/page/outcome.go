package page

import (
	"context"
	"slices"
	"time"

	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// Time limits of an action: navigationWait for the page it leads to, requestsWait for the requests it makes,
	// navigationStartWait for Chromium to start a navigation that the page requested.
	navigationWait      = 5 * time.Second
	requestsWait        = time.Second
	navigationStartWait = 300 * time.Millisecond
)

// actionBaseline is the state before an action, to compare with the state afterwards.
type actionBaseline struct {
	LoadCounts

	openedCount int
}

func (t *Tab) takeBaseline() actionBaseline {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rejected = nil
	return actionBaseline{LoadCounts: t.loadState.LoadCounts, openedCount: t.openedCount}
}

// resultSince describes what happened since m.
func (t *Tab) resultSince(m actionBaseline) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.loadState
	r := Result{
		Rejected: t.rejected,
		URL:      t.url, Navigated: l.Documents != m.Documents || l.SameDocument != m.SameDocument,
		Downloading: l.Downloads != m.Downloads,
		Loading:     l.Pending || (l.Documents != m.Documents && !l.Parsed && !IsErrorPage(t.url)),
		Opened:      slices.Clone(t.openedTabs[max(len(t.openedTabs)-(t.openedCount-t.openedTold), 0):]),
	}
	t.openedTold = t.openedCount
	if l.Documents != m.Documents {
		r.Status = l.Status
	}
	return r
}

// sendAndWait sends events to the page and returns when the effects of the action are visible: at once if there are
// none, when the new document is parsed if it navigated, when the responses have arrived if it sent requests. f is the
// frame the action happened in. It returns whether the input reached its target, as our script saw it: "hit", "miss" or
// "".
func (t *Tab) sendAndWait(ctx context.Context, f *frame.Frame, m actionBaseline,
	events []proto.Request,
) (string, error) {
	seen, err := t.awaitQuiet(ctx, f, func() (frame.QuietState, error) {
		if len(events) > 0 {
			return f.SendInput(ctx, t.main.Session, events)
		}
		return f.AwaitQuiet(ctx, false)
	})
	if err != nil {
		return seen, err
	}
	if err := t.awaitNavigation(ctx, m); err != nil {
		return seen, err
	}
	busy := func() bool { return t.loadState.Documents == m.Documents && t.loadState.HasOpenSince(m.Requests) }
	t.mu.Lock()
	wait := busy()
	t.mu.Unlock()
	if !wait {
		return seen, nil
	}
	if err := t.waitUntilWithin(ctx, requestsWait, func() bool { return !busy() }); err != nil {
		return seen, err
	}
	if _, err := t.awaitPainted(ctx, f); err != nil {
		return seen, err
	}
	return seen, t.awaitNavigation(ctx, m)
}

// awaitPainted waits until the page is quiet and has been drawn.
func (t *Tab) awaitPainted(ctx context.Context, f *frame.Frame) (string, error) {
	return t.awaitQuiet(ctx, f, func() (frame.QuietState, error) { return f.AwaitQuiet(ctx, true) })
}

// awaitQuiet waits until the page is quiet and updates the title, for whose change there is no event.
func (t *Tab) awaitQuiet(ctx context.Context, f *frame.Frame, wait func() (frame.QuietState, error)) (string, error) {
	document := t.documentCount()
	calm, err := wait()
	if err != nil && ctx.Err() != nil {
		actionTab{tab: t}.TerminateScripts(ctx, f)
	}
	if calm.Download {
		t.mu.Lock()
		t.loadState.Downloads++
		t.mu.Unlock()
	}
	if calm.Rejected != nil {
		t.mu.Lock()
		t.rejected = calm.Rejected
		t.mu.Unlock()
	}
	if f == t.main && calm.Title != "" {
		t.setTitleOf(document, calm.Title)
	}
	return calm.Outcome, err
}

// awaitNavigation waits for the document or tab that the page requested since m, if any.
func (t *Tab) awaitNavigation(ctx context.Context, m actionBaseline) error {
	t.mu.Lock()
	l := &t.loadState
	here := l.Navigations != m.Navigations && l.Pending
	fresh := l.Documents != m.Documents
	tabs := l.NewTabs != m.NewTabs && t.openedCount == m.openedCount
	t.mu.Unlock()
	if tabs {
		if err := t.waitUntilWithin(ctx, requestsWait, func() bool { return t.openedCount != m.openedCount }); err != nil {
			return err
		}
	}
	if here {
		err := t.waitUntilWithin(ctx, navigationStartWait, func() bool {
			return !l.Pending || l.Started || l.Documents != m.Documents
		})
		if err != nil {
			return err
		}
		err = t.waitUntilWithin(ctx, navigationWait, func() bool {
			return !l.Pending || !l.Started || l.Documents != m.Documents
		})
		if err != nil {
			return err
		}
		fresh = true
	}
	if !fresh || t.documentCount() == m.Documents {
		return nil
	}
	return t.awaitLoaded(ctx, navigationWait)
}
