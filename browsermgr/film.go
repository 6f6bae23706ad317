package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// filmLimit bounds one picture of a film.
const filmLimit = 15 * time.Second

// errNoPage says that there is nothing to film.
var errNoPage = errors.New("no page is open")

// WebP is a picture of the current viewport as lossy WebP, of a quality of 1 to 99, for video, and the address of the page. A scale
// under 1 makes it that much smaller than the page is in device pixels. It waits for no action and starts nothing: a window without
// an open page is an error. What pictures must not show is covered. Behind a dialog, which is a [*page.DialogError], nothing is drawn.
func (w *Window) WebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error) {
	w.mu.Lock()
	b, tab, closed := w.browser, w.tabs.Current(), w.closed
	w.mu.Unlock()
	switch {
	case closed:
		return nil, "", errWindowClosed
	case b == nil || tab == nil || !b.enter():
		return nil, "", errNoPage
	}
	defer b.leave()
	if open := tab.Dialogs().Pending; len(open) > 0 {
		return nil, "", &page.DialogError{Dialog: open[0]}
	}
	url = tab.URL()
	err = tab.Within(ctx, filmLimit, func(ctx context.Context) error {
		data, err = shootFilm(ctx, tab, min(max(quality, 1), 99), scale)
		return err
	})
	if err != nil {
		return nil, "", w.explain(ctx, b, fmt.Errorf("film tab %s: %w", tab.ID(), err))
	}
	return data, url, nil
}

// shootFilm takes one picture. Chromium's own WebP cannot be drawn over, so that of a page with something to cover is made from
// a picture that was.
func shootFilm(ctx context.Context, tab *page.Tab, quality int, scale float64) ([]byte, error) {
	req := proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatWebp, Quality: &quality}
	if scale > 0 && scale < 1 {
		view, err := tab.Main().Viewport(ctx)
		if err != nil {
			return nil, err
		}
		req.Clip = &proto.PageViewport{X: view.X, Y: view.Y, Width: view.Width, Height: view.Height, Scale: scale}
	}
	hides, err := tab.Hides(ctx)
	if err != nil {
		return nil, err
	}
	if !hides { // if it does by the time that the picture is taken, Capture refuses to give it
		return tab.Capture(ctx, filmLimit, req)
	}
	req.Format, req.Quality = proto.PageCaptureScreenshotFormatPng, nil
	covered, err := tab.Capture(ctx, filmLimit, req)
	if err != nil {
		return nil, err
	}
	return frame.Apply[[]byte](ctx, tab.Main(), toWebP, nil, map[string]any{"png": covered, "quality": float64(quality) / 100})
}

// toWebP makes WebP of a PNG, in our own world of the page, which the page's scripts cannot look into.
const toWebP = `async (_, {png, quality}) => {
	const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
	const picture = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
	const canvas = new OffscreenCanvas(picture.width, picture.height);
	canvas.getContext("2d", {alpha: false}).drawImage(picture, 0, 0);
	picture.close();
	const blob = await canvas.convertToBlob({type: "image/webp", quality});
	return new Promise((done, failed) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
		reader.onerror = () => failed(reader.error);
		reader.readAsDataURL(blob);
	});
}`
