package page

import (
	"context"
	"slices"
	"time"

	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// arrivalLimit is how long an action waits for the page that it led to; quietLimit, for the requests it made;
	// takeUp, for Chromium to take up a navigation that the page asked for.
	arrivalLimit = 5 * time.Second
	quietLimit   = time.Second
	takeUp       = 300 * time.Millisecond
)

// mark is the state before an action, to tell afterwards what it led to.
type mark struct {
	document, within, begun, newTabs, requests, opened, saves int
}

func (t *Tab) mark() mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.load
	return mark{
		document: l.document, within: l.within, begun: l.begun, newTabs: l.newTabs, requests: l.requests, opened: len(t.opened),
		saves: l.saves,
	}
}

// outcome describes what happened since the mark.
func (t *Tab) outcome(m mark) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.load
	r := Result{
		URL: t.url, Navigated: l.document != m.document || l.within != m.within,
		Downloading: l.saves != m.saves,
		Loading:     l.pending || (l.document != m.document && !l.parsed),
		Opened:      slices.Clone(t.opened[min(m.opened, len(t.opened)):]),
	}
	if l.document != m.document {
		r.Status = l.status
	}
	return r
}

// settle returns when what an action set off is there to be seen: at once if it set off nothing, when the new document is
// parsed if it navigated, when the answers are in if it asked the server for something. f is where the action happened.
// events are sent first. It reports whether the input reached its target, as the script saw it: "hit", "miss" or "".
func (t *Tab) settle(ctx context.Context, f *frame.Frame, m mark, events []proto.Request) (string, error) {
	seen, err := t.quiet(ctx, f, func() (frame.Calm, error) {
		if len(events) > 0 {
			return f.Input(ctx, t.main.Session, events)
		}
		return f.Quiet(ctx, false)
	})
	if err != nil {
		return seen, err
	}
	if err := t.arrive(ctx, m); err != nil {
		return seen, err
	}
	busy := func() bool { return t.load.document == m.document && t.load.busySince(m.requests) }
	t.mu.Lock()
	wait := busy()
	t.mu.Unlock()
	if !wait {
		return seen, nil
	}
	if err := t.untilWithin(ctx, quietLimit, func() bool { return !busy() }); err != nil {
		return seen, err
	}
	if _, err := t.painted(ctx, f); err != nil {
		return seen, err
	}
	return seen, t.arrive(ctx, m)
}

// painted waits until the page is calm and has been drawn.
func (t *Tab) painted(ctx context.Context, f *frame.Frame) (string, error) {
	return t.quiet(ctx, f, func() (frame.Calm, error) { return f.Quiet(ctx, true) })
}

// quiet waits until the page is calm, and takes over what its title is now: Chromium does not tell when it changes.
func (t *Tab) quiet(ctx context.Context, f *frame.Frame, wait func() (frame.Calm, error)) (string, error) {
	document := t.documents()
	calm, err := wait()
	if err != nil && ctx.Err() != nil {
		stage{tab: t}.Stuck(ctx, f)
	}
	if calm.Download {
		t.mu.Lock()
		t.load.saves++
		t.mu.Unlock()
	}
	if f == t.main && calm.Title != "" {
		t.noteTitle(document, calm.Title)
	}
	return calm.Outcome, err
}

// arrive waits for the document or tab that the page asked for since the mark, if any.
func (t *Tab) arrive(ctx context.Context, m mark) error {
	t.mu.Lock()
	l := &t.load
	here := l.begun != m.begun && l.pending
	fresh := l.document != m.document
	tabs := l.newTabs != m.newTabs && len(t.opened) == m.opened
	t.mu.Unlock()
	if tabs {
		if err := t.untilWithin(ctx, quietLimit, func() bool { return len(t.opened) != m.opened }); err != nil {
			return err
		}
	}
	if here {
		err := t.untilWithin(ctx, takeUp, func() bool { return !l.pending || l.started || l.document != m.document })
		if err != nil {
			return err
		}
		err = t.untilWithin(ctx, arrivalLimit, func() bool { return !l.pending || !l.started || l.document != m.document })
		if err != nil {
			return err
		}
		fresh = true
	}
	if !fresh || t.documents() == m.document {
		return nil
	}
	if err := t.awaitParsed(ctx, arrivalLimit); err != nil {
		return err
	}
	if err := t.untilWithin(ctx, loadGrace, func() bool { return t.load.loaded }); err != nil {
		return err
	}
	t.readTitle(ctx)
	return nil
}
