package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
)

// webpTimeout bounds one picture of a film.
const webpTimeout = 15 * time.Second

// errNoPage says that there is nothing to film.
var errNoPage = errors.New("no page is open")

// CaptureWebP returns a picture of the current viewport as lossy WebP, of a quality of 1 to 99, for video, and the address of the page. A scale
// under 1 makes it that much smaller than the page is in device pixels. It waits for no action and starts nothing: a window without
// an open page is an error. What pictures must not show is covered. Behind a dialog, which is a [*page.DialogError], nothing is drawn.
func (w *Window) CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error) {
	w.mu.Lock()
	b, tab, closed := w.browser, w.tabs.Current(), w.closed
	w.mu.Unlock()
	switch {
	case closed:
		return nil, "", errWindowClosed
	case b == nil || tab == nil || !b.acquire():
		return nil, "", errNoPage
	}
	defer b.release()
	if open := tab.Dialogs().Pending; len(open) > 0 {
		return nil, "", &page.DialogError{Dialog: open[0]}
	}
	url = tab.URL()
	err = tab.RunConcurrently(ctx, webpTimeout, func(ctx context.Context) error {
		data, err = screenshot.TakeWebP(ctx, tab, min(max(quality, 1), 99), scale)
		return err
	})
	if err != nil {
		return nil, "", w.explain(ctx, b, fmt.Errorf("film tab %s: %w", tab.ID(), err))
	}
	return data, url, nil
}
