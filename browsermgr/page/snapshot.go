package page

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions = frame.SnapshotOptions

// Snapshot is a page as text.
type Snapshot = frame.Snapshot

// Ref is one ref of a snapshot.
type Ref = outline.Ref

// The ways in which the refs of a snapshot are numbered.
const (
	RefsOwn  = frame.RefsOwn
	RefsRole = frame.RefsRole
	RefsAria = frame.RefsAria
)

// ErrFrameChanged says that the captured document gave way to another one meanwhile; trying again may help.
var ErrFrameChanged = frame.ErrFrameChanged

// snapshotLimit bounds a snapshot that is asked for without a limit.
const snapshotLimit = 20 * time.Second

// Snapshot describes the page, frames included. The refs in it are what the tab's refs mean from then on. If a dialog is
// open the error is a *[DialogError].
func (t *Tab) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	if err := opts.Validate(); err != nil {
		return Snapshot{}, err
	}
	return readInTurn(ctx, t, "snapshot of", timeoutOrDefault(opts.Timeout), func(ctx context.Context) (Snapshot, error) {
		return t.captureSnapshot(ctx, opts)
	})
}

func timeoutOrDefault(given time.Duration) time.Duration {
	if given <= 0 {
		return snapshotLimit
	}
	return given
}

// snapshotTries is how often a page may navigate under our hands before we say so; emptyPageWait, how long a page that shows
// nothing yet may go on loading.
const (
	snapshotTries = 4
	emptyPageWait = 2 * time.Second
)

func (t *Tab) captureSnapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	patient := opts.Selector == "" && opts.Frame == ""
	for try := 0; ; try++ {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return Snapshot{}, err
		}
		snap, err := frame.TakeSnapshot(ctx, frame.SnapshotSource{Frames: t.tree.Frames(), Refs: &t.refs}, opts)
		switch {
		case errors.Is(err, ErrFrameChanged) && opts.Frame == "" && try < snapshotTries:
			continue
		case err != nil:
			return Snapshot{}, err
		case snap.Reason != "" && patient && t.isLoading():
			patient = false
			if err := t.waitUntilWithin(ctx, emptyPageWait, func() bool { return t.loadState.Loaded && !t.loadState.HasOpenSince(0) }); err != nil {
				return Snapshot{}, err
			}
			if _, err := t.awaitPainted(ctx, t.main); err != nil {
				return Snapshot{}, err
			}
			continue
		}
		return t.addTabState(snap), nil
	}
}

// isLoading says that the page has not got all that it asked for.
func (t *Tab) isLoading() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.loadState.Loaded || t.loadState.HasOpenSince(0)
}

// addTabState adds what the tab knows of itself.
func (t *Tab) addTabState(snap Snapshot) Snapshot {
	if snap.Reason != "" && t.isLoading() {
		snap.Reason += ": it is still loading"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if snap.Title != "" {
		t.title = snap.Title
	}
	snap.URL, snap.Title, snap.Status = t.url, t.title, t.loadState.Status
	return snap
}

// AccessibilityNode is one node of an accessibility tree.
type AccessibilityNode = frame.AccessibilityNode

// AccessibilityTree returns the accessibility tree that Chromium makes of the page, frames in their places, at most limit nodes of it
// (0 means 500; 2,000 at most). Its refs act like those of snapshots, beside them. If a dialog is open the error is a
// *[DialogError].
func (t *Tab) AccessibilityTree(ctx context.Context, limit int, timeout time.Duration) ([]AccessibilityNode, error) {
	return readInTurn(ctx, t, "accessibility tree of", timeoutOrDefault(timeout), func(ctx context.Context) ([]AccessibilityNode, error) {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return nil, err
		}
		return frame.AccessibilityTree(ctx, t.tree.Frames(), &t.refs, limit)
	})
}
