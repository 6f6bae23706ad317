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

// filmed is how a screencast for people is taken: as fast as makes a movement smooth for a fraction of a core.
var filmed = screenshot.WatchOptions{MaxWidth: 1600, MaxHeight: 1200, Quality: 80, FPS: 20}

// errTabSwitched ends the film of a tab that is the current one no more.
var errTabSwitched = errors.New("another tab is the current one")

// Screencast implements [videosource.Screencaster] with the tab that is the current one at each moment. Like
// CaptureWebP it waits for no action and starts nothing, and ends with a [*page.DialogError] when a dialog opens. While
// a person works the pages it shows a sign that says so, but to them ([Hands.Context]).
func (w *Window) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	return w.Film(ctx, filmed, show)
}

// Film is Screencast for who would like other pictures.
func (w *Window) Film(ctx context.Context, o screenshot.WatchOptions, show func(videosource.Picture)) error {
	for {
		u, switched, err := w.filmedTab()
		if err != nil {
			return err
		}
		if name, held := w.heldFrom(ctx); held {
			u.release()
			err = showSign(ctx, name, switched, show)
		} else {
			err = film(ctx, u, o, switched, show)
		}
		if !errors.Is(err, errTabSwitched) && !errors.Is(err, page.ErrTabGone) {
			return err
		}
	}
}

// heldFrom returns the name of the person who works the window, unless ctx is theirs.
func (w *Window) heldFrom(ctx context.Context) (name string, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hands == nil || w.hands.hold == page.HoldOf(ctx) {
		return "", false
	}
	return w.hands.name, true
}

// showSign shows who works the pages, until that may be over.
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

// film shows one tab until ctx ends, the tab is switched, somebody begins to work it or a dialog opens. It releases u.
func film(
	ctx context.Context, u tabLease, o screenshot.WatchOptions, switched <-chan struct{}, show func(videosource.Picture),
) error {
	view, err := u.browser.casts.Watch(ctx, u.tab, o)
	u.release() // a film keeps nobody from ending the browser
	if err != nil {
		return err
	}
	defer view.Close()
	ctx, stop := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop(nil)
	watching.Go(func() { stop(attend(ctx, u, switched)) })
	for {
		f, err := view.Next(ctx)
		if err != nil {
			return fmt.Errorf("film tab %s: %w", u.tab.ID(), err)
		}
		if f.Type == "jpeg" {
			show(videosource.Picture{
				JPEG: f.Data, Width: f.Width, Height: f.Height,
				View: videosource.Size{Width: f.ViewWidth, Height: f.ViewHeight}, URL: u.tab.URL(), Drawn: f.At,
			})
		}
	}
}

// attend returns why a film cannot go on. While it does, the browser is in use.
func attend(ctx context.Context, u tabLease, switched <-chan struct{}) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-switched:
			return errTabSwitched
		case <-tick.C:
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
