package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/aria"
	"clank/browsermgr/capture"
	"clank/browsermgr/outline"
)

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions = capture.Options

// Snapshot is a page as text.
type Snapshot = capture.Snapshot

// Ref is one ref of a snapshot.
type Ref = outline.Ref

// The ways in which the refs of a snapshot are numbered.
const (
	RefsOwn  = capture.RefsOwn
	RefsRole = capture.RefsRole
	RefsAria = capture.RefsAria
)

// EfficientSnapshot are the options of a small snapshot: interactive, compact, six levels, 8,000 characters. Each may be
// changed afterwards.
func EfficientSnapshot() SnapshotOptions { return capture.Efficient() }

// ErrFrameChanged says that the captured document gave way to another one meanwhile; trying again may help.
var ErrFrameChanged = capture.ErrFrameChanged

// snapshotLimit bounds a snapshot that is asked for without a limit.
const snapshotLimit = 20 * time.Second

// Snapshot describes the page, frames included. The refs in it are what the tab's refs mean from then on. If a dialog is
// open the error is a *[DialogError].
func (t *Tab) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	if err := opts.Validate(); err != nil {
		return Snapshot{}, err
	}
	var snap Snapshot
	err := t.exclusive(ctx, limitOr(opts.Timeout), func(ctx context.Context) error {
		var err error
		snap, err = t.capture(ctx, opts)
		return err
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of tab %s: %w", t.id, err)
	}
	return snap, nil
}

func limitOr(given time.Duration) time.Duration {
	if given <= 0 {
		return snapshotLimit
	}
	return given
}

// captureTries is how often a page may navigate under our hands before we say so; emptyWait, how long a page that shows
// nothing yet may go on loading.
const (
	captureTries = 4
	emptyWait    = 2 * time.Second
)

func (t *Tab) capture(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	patient := opts.Selector == "" && opts.Frame == ""
	for try := 0; ; try++ {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return Snapshot{}, err
		}
		snap, err := capture.Take(ctx, capture.Source{Frames: t.tree.All(), Refs: &t.refs}, opts)
		switch {
		case errors.Is(err, ErrFrameChanged) && opts.Frame == "" && try < captureTries:
			continue
		case err != nil:
			return Snapshot{}, err
		case snap.Reason != "" && patient && t.working():
			patient = false
			if err := t.untilWithin(ctx, emptyWait, func() bool { return t.load.Loaded && !t.load.BusySince(0) }); err != nil {
				return Snapshot{}, err
			}
			if _, err := t.painted(ctx, t.main); err != nil {
				return Snapshot{}, err
			}
			continue
		}
		return t.describe(snap), nil
	}
}

// working says that the page has not got all that it asked for.
func (t *Tab) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.load.Loaded || t.load.BusySince(0)
}

// describe adds what the tab knows of itself.
func (t *Tab) describe(snap Snapshot) Snapshot {
	if snap.Reason != "" && t.working() {
		snap.Reason += ": it is still loading"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if snap.Title != "" {
		t.title = snap.Title
	}
	snap.URL, snap.Title, snap.Status = t.url, t.title, t.load.Status
	return snap
}

// Node is one node of an accessibility tree.
type Node = aria.Node

// Tree returns the accessibility tree that Chromium makes of the page, frames in their places, at most limit nodes of it
// (0 means 500; 2,000 at most). Its refs act like those of snapshots, beside them. If a dialog is open the error is a
// *[DialogError].
func (t *Tab) Tree(ctx context.Context, limit int, timeout time.Duration) ([]Node, error) {
	var nodes []Node
	err := t.exclusive(ctx, limitOr(timeout), func(ctx context.Context) error {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return err
		}
		var err error
		nodes, err = aria.Take(ctx, t.tree.All(), &t.refs, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("accessibility tree of tab %s: %w", t.id, err)
	}
	return nodes, nil
}
