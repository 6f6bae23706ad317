package page

import (
	"context"
	"slices"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/load"

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
	load.Counts

	opened int
}

func (t *Tab) mark() mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mark{Counts: t.load.Counts, opened: len(t.opened)}
}

// outcome describes what happened since the mark.
func (t *Tab) outcome(m mark) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.load
	r := Result{
		URL: t.url, Navigated: l.Documents != m.Documents || l.Within != m.Within,
		Downloading: l.Saves != m.Saves,
		Loading:     l.Pending || (l.Documents != m.Documents && !l.Parsed),
		Opened:      slices.Clone(t.opened[min(m.opened, len(t.opened)):]),
	}
	if l.Documents != m.Documents {
		r.Status = l.Status
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
	busy := func() bool { return t.load.Documents == m.Documents && t.load.BusySince(m.Requests) }
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
		t.load.Saves++
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
	here := l.Begun != m.Begun && l.Pending
	fresh := l.Documents != m.Documents
	tabs := l.NewTabs != m.NewTabs && len(t.opened) == m.opened
	t.mu.Unlock()
	if tabs {
		if err := t.untilWithin(ctx, quietLimit, func() bool { return len(t.opened) != m.opened }); err != nil {
			return err
		}
	}
	if here {
		err := t.untilWithin(ctx, takeUp, func() bool { return !l.Pending || l.Started || l.Documents != m.Documents })
		if err != nil {
			return err
		}
		err = t.untilWithin(ctx, arrivalLimit, func() bool { return !l.Pending || !l.Started || l.Documents != m.Documents })
		if err != nil {
			return err
		}
		fresh = true
	}
	if !fresh || t.documents() == m.Documents {
		return nil
	}
	if err := t.awaitParsed(ctx, arrivalLimit); err != nil {
		return err
	}
	if err := t.untilWithin(ctx, loadGrace, func() bool { return t.load.Loaded }); err != nil {
		return err
	}
	t.readTitle(ctx)
	return nil
}
