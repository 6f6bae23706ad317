package page

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// SnapshotOptions configures a snapshot. The zero value shows the whole page.
type SnapshotOptions = frame.SnapshotOptions

// Snapshot is a page as text.
type Snapshot = frame.Snapshot

// Ref is a ref of a snapshot.
type Ref = outline.Ref

// How a snapshot numbers its refs.
const (
	RefsOwn  = frame.RefsOwn
	RefsRole = frame.RefsRole
	RefsAria = frame.RefsAria
)

// ErrFrameChanged is returned if a captured document navigated meanwhile; a retry may succeed.
var ErrFrameChanged = frame.ErrFrameChanged

// snapshotLimit is the default time limit of a snapshot.
const snapshotLimit = 20 * time.Second

// Snapshot describes the page including its frames. Its refs replace the tab's earlier ones. If a dialog is open the
// error is a *[DialogError].
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

// snapshotTries is how often a snapshot is attempted while the page navigates; emptyPageWait, how long to wait for a
// loading page that shows nothing yet.
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
		case snap.Reason != "" && patient && t.IsLoading():
			patient = false
			if err := t.waitUntilWithin(ctx, emptyPageWait, func() bool {
				return t.loadState.Loaded && !t.loadState.HasOpenSince(0)
			}); err != nil {
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

// IsLoading reports whether the page waits for responses.
func (t *Tab) IsLoading() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.loadState.Loaded || t.loadState.HasOpenSince(0)
}

// addTabState adds the tab's address, title and dialogs.
func (t *Tab) addTabState(snap Snapshot) Snapshot {
	if snap.Reason != "" && t.IsLoading() {
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

// AccessibilityTree returns Chromium's accessibility tree of the page, frames in their places, limited to limit nodes
// (0 means 500; 2,000 at most). Its refs work like those of snapshots, and do not replace them. If a dialog is open the
// error is a *[DialogError].
func (t *Tab) AccessibilityTree(ctx context.Context, limit int, timeout time.Duration) ([]AccessibilityNode, error) {
	return readInTurn(ctx, t, "accessibility tree of", timeoutOrDefault(timeout),
		func(ctx context.Context) ([]AccessibilityNode, error) {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return nil, err
			}
			return frame.AccessibilityTree(ctx, t.tree.Frames(), &t.refs, limit)
		})
}
