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

// Screenshot takes a picture of the current viewport, or of the element with this ref. Coordinates start at its upper
// left corner. The picture is scaled by device scale factor and pinch zoom; CSS zoom does not matter. Chromium draws
// nothing while a dialog is open: that is a [*page.DialogError].
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

// webpTimeout bounds one picture.
const webpTimeout = 15 * time.Second

// errNoPage says that there is no page to show.
var errNoPage = errors.New("no page is open")

// CaptureWebP returns a picture of the current viewport as lossy WebP, for video, and the address of the page. quality
// is 1 to 99. A scale below 1 shrinks the picture relative to device pixels. CaptureWebP does not wait for actions and
// starts nothing: a window without an open page is an error. Secrets are covered. While a dialog is open nothing is
// drawn: that is a [*page.DialogError].
func (w *Window) CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error) {
	u, _, err := w.castableTab()
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
		return nil, "", w.explain(ctx, b, fmt.Errorf("screenshot of tab %s: %w", tab.ID(), err))
	}
	return data, url, nil
}

// castableTab returns the current tab if it can be shown, and a channel that is closed when another tab becomes
// current. The caller releases it.
func (w *Window) castableTab() (u tabLease, switched <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, tab := w.browser, w.tabs.Current()
	switch {
	case w.closed:
		return u, nil, errWindowClosed
	case b == nil || tab == nil || !b.acquire():
		return u, nil, errNoPage
	}
	if open := tab.Dialogs().Pending; len(open) > 0 && w.takeover == nil {
		b.release()
		return u, nil, &page.DialogError{Dialog: open[0]}
	}
	return tabLease{browser: b, tab: tab}, w.tabs.Switched(), nil
}
