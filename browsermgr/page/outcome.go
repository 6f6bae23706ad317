package page

import (
	"context"
	"slices"
	"time"

	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// navigationWait is how long an action waits for the page that it led to; requestsWait, for the requests it made;
	// navigationStartWait, for Chromium to take up a navigation that the page asked for.
	navigationWait      = 5 * time.Second
	requestsWait        = time.Second
	navigationStartWait = 300 * time.Millisecond
)

// actionBaseline is the state before an action, to tell afterwards what it led to.
type actionBaseline struct {
	LoadCounts

	openedTabs int
}

func (t *Tab) takeBaseline() actionBaseline {
	t.mu.Lock()
	defer t.mu.Unlock()
	return actionBaseline{LoadCounts: t.loadState.LoadCounts, openedTabs: len(t.openedTabs)}
}

// resultSince describes what happened since the mark.
func (t *Tab) resultSince(m actionBaseline) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.loadState
	r := Result{
		URL: t.url, Navigated: l.Documents != m.Documents || l.SameDocument != m.SameDocument,
		Downloading: l.Downloads != m.Downloads,
		Loading:     l.Pending || (l.Documents != m.Documents && !l.Parsed),
		Opened:      slices.Clone(t.openedTabs[min(m.openedTabs, len(t.openedTabs)):]),
	}
	if l.Documents != m.Documents {
		r.Status = l.Status
	}
	return r
}

// sendAndWait returns when what an action set off is there to be seen: at once if it set off nothing, when the new document is
// parsed if it navigated, when the answers are in if it asked the server for something. f is where the action happened.
// events are sent first. It reports whether the input reached its target, as the script saw it: "hit", "miss" or "".
func (t *Tab) sendAndWait(ctx context.Context, f *frame.Frame, m actionBaseline, events []proto.Request) (string, error) {
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

// awaitPainted waits until the page is calm and has been drawn.
func (t *Tab) awaitPainted(ctx context.Context, f *frame.Frame) (string, error) {
	return t.awaitQuiet(ctx, f, func() (frame.QuietState, error) { return f.AwaitQuiet(ctx, true) })
}

// awaitQuiet waits until the page is calm, and takes over what its title is now: Chromium does not tell when it changes.
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
	if f == t.main && calm.Title != "" {
		t.setTitleOf(document, calm.Title)
	}
	return calm.Outcome, err
}

// awaitNavigation waits for the document or tab that the page asked for since the mark, if any.
func (t *Tab) awaitNavigation(ctx context.Context, m actionBaseline) error {
	t.mu.Lock()
	l := &t.loadState
	here := l.Navigations != m.Navigations && l.Pending
	fresh := l.Documents != m.Documents
	tabs := l.NewTabs != m.NewTabs && len(t.openedTabs) == m.openedTabs
	t.mu.Unlock()
	if tabs {
		if err := t.waitUntilWithin(ctx, requestsWait, func() bool { return len(t.openedTabs) != m.openedTabs }); err != nil {
			return err
		}
	}
	if here {
		err := t.waitUntilWithin(ctx, navigationStartWait, func() bool { return !l.Pending || l.Started || l.Documents != m.Documents })
		if err != nil {
			return err
		}
		err = t.waitUntilWithin(ctx, navigationWait, func() bool { return !l.Pending || !l.Started || l.Documents != m.Documents })
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
