package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/videosource"
)

// watchOptions are the options of [Window.Screencast]: smooth motion for a fraction of a CPU core.
var watchOptions = screenshot.WatchOptions{MaxWidth: 1600, MaxHeight: 1200, Quality: 80, FPS: 20}

// errTabSwitched ends the screencast of a tab that is no longer current.
var errTabSwitched = errors.New("another tab is the current one")

// Screencast implements [videosource.Screencaster] by following the current tab. Like CaptureWebP it does not wait for
// actions and starts nothing, and it ends with a [*page.DialogError] when a dialog opens. During a takeover it shows a
// sign that says so, except to the person in control ([Takeover.Context]).
func (w *Window) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	return w.ScreencastWith(ctx, watchOptions, show)
}

// ScreencastWith is Screencast with other options.
func (w *Window) ScreencastWith(ctx context.Context, o screenshot.WatchOptions, show func(videosource.Picture)) error {
	for {
		u, switched, err := w.castableTab()
		if err != nil {
			return err
		}
		if name, held := w.heldFrom(ctx); held {
			u.release()
			err = showSign(ctx, name, switched, show)
		} else {
			err = castTab(ctx, u, o, switched, show)
		}
		if !errors.Is(err, errTabSwitched) && !errors.Is(err, page.ErrTabGone) {
			return err
		}
	}
}

// heldFrom returns the name of the person in control of the window, unless ctx is theirs.
func (w *Window) heldFrom(ctx context.Context) (name string, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.takeover == nil || w.takeover.hold == page.HoldOf(ctx) {
		return "", false
	}
	return w.takeover.name, true
}

// showSign shows who is in control of the window until that may have changed.
func showSign(ctx context.Context, name string, switched <-chan struct{}, show func(videosource.Picture)) error {
	sign, err := videosource.Sign(name)
	if err != nil {
		return err
	}
	show(sign)
	select {
	case <-switched:
		return errTabSwitched
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// castTab shows one tab until ctx ends, another tab becomes current, a takeover begins or a dialog opens. It releases
// u.
func castTab(
	ctx context.Context, u tabLease, o screenshot.WatchOptions, switched <-chan struct{}, show func(videosource.Picture),
) error {
	view, err := u.browser.casts.Watch(ctx, u.tab, o)
	u.release() // a screencast does not keep the browser running
	if err != nil {
		return err
	}
	defer view.Close()
	ctx, stop := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop(nil)
	watching.Go(func() { stop(awaitEnd(ctx, u, switched)) })
	for {
		f, err := view.Next(ctx)
		if err != nil {
			return fmt.Errorf("screencast of tab %s: %w", u.tab.ID(), err)
		}
		if f.Type == "jpeg" {
			show(videosource.Picture{
				JPEG: f.Data, Width: f.Width, Height: f.Height,
				View: videosource.Size{Width: f.ViewWidth, Height: f.ViewHeight}, URL: u.tab.URL(), Drawn: f.At,
			})
		}
	}
}

// awaitEnd waits until the screencast must end and returns why. Meanwhile it counts as use of the browser.
func awaitEnd(ctx context.Context, u tabLease, switched <-chan struct{}) error {
	tick := time.Tick(time.Second)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-switched:
			return errTabSwitched
		case <-tick:
			if !u.browser.acquire() {
				return errNoPage
			}
			u.browser.release()
			if open := u.tab.Dialogs().Pending; len(open) > 0 && page.HoldOf(ctx) == nil {
				return &page.DialogError{Dialog: open[0]}
			}
		}
	}
}
