package browsermgr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/llm"
	"clank/sessions"
)

// Screenshot takes a picture of the current viewport, or of the element with this ref. Coordinates are counted from its upper left corner. The picture
// has device scale factor times pinch as many pixels in a row. CSS zoom is the page's own business and changes neither.
// Chromium draws nothing while a dialog is open: that is a [*page.DialogError].
func (w *Window) Screenshot(ctx context.Context, ref string) (shot sessions.Screenshot, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) error {
		if open := tab.Dialogs().Pending; len(open) > 0 {
			return &page.DialogError{Dialog: open[0]}
		}
		data, err := tab.Screenshot(ctx, page.ScreenshotOptions{Format: "jpeg", Ref: ref})
		if err != nil {
			return err
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("size of the picture: %w", err)
		}
		scale, err := screenshot.PixelScale(ctx, tab)
		shot = sessions.Screenshot{
			Image: llm.Image{MediaType: "image/jpeg", Data: data},
			Width: float64(config.Width) / scale, Height: float64(config.Height) / scale,
		}
		return err
	})
	if err != nil {
		return sessions.Screenshot{}, err
	}
	return shot, nil
}

// webpTimeout bounds one picture of a film.
const webpTimeout = 15 * time.Second

// errNoPage says that there is nothing to film.
var errNoPage = errors.New("no page is open")

// CaptureWebP returns a picture of the current viewport as lossy WebP, of a quality of 1 to 99, for video, and the
// address of the page. A scale under 1 makes it that much smaller than the page is in device pixels. It waits for no
// action and starts nothing: a window without an open page is an error. What pictures must not show is covered. Behind
// a dialog, which is a [*page.DialogError], nothing is drawn.
func (w *Window) CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error) {
	u, _, err := w.filmedTab()
	if err != nil {
		return nil, "", err
	}
	defer u.release()
	b, tab := u.browser, u.tab
	if tab.Held() {
		return nil, "", page.ErrHeld
	}
	url = tab.URL()
	err = tab.RunConcurrently(page.Watching(ctx), webpTimeout, func(ctx context.Context) error {
		data, err = screenshot.TakeWebP(ctx, tab, min(max(quality, 1), 99), scale)
		return err
	})
	if err != nil {
		return nil, "", w.explain(ctx, b, fmt.Errorf("film tab %s: %w", tab.ID(), err))
	}
	return data, url, nil
}

// filmedTab returns the current tab as far as it can be filmed, and what is closed when another becomes the current
// one. The caller releases it.
func (w *Window) filmedTab() (u tabLease, switched <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, tab := w.browser, w.tabs.Current()
	switch {
	case w.closed:
		return u, nil, errWindowClosed
	case b == nil || tab == nil || !b.acquire():
		return u, nil, errNoPage
	}
	if open := tab.Dialogs().Pending; len(open) > 0 && w.hands == nil {
		b.release()
		return u, nil, &page.DialogError{Dialog: open[0]}
	}
	return tabLease{browser: b, tab: tab}, w.tabs.Switched(), nil
}
