package browsermgr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/page"
)

// Shot is a picture of the current viewport, and its size in CSS pixels, in which the coordinates of actions are counted
// from its upper left corner. The picture has device scale factor times pinch as many pixels in a row. CSS zoom is the
// page's own business and changes neither. Chromium draws nothing while a dialog is open: that is a [*page.DialogError].
func (w *Window) Shot(ctx context.Context) (data []byte, mediaType string, width, height float64, err error) {
	err = w.look(ctx, func(tab *page.Tab) error {
		if open := tab.Dialogs().Pending; len(open) > 0 {
			return &page.DialogError{Dialog: open[0]}
		}
		if data, err = tab.Screenshot(ctx, page.ScreenshotOptions{Format: "jpeg"}); err != nil {
			return err
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("size of the picture: %w", err)
		}
		scale, err := pixelScale(ctx, tab)
		width, height = float64(config.Width)/scale, float64(config.Height)/scale
		return err
	})
	if err != nil {
		return nil, "", 0, 0, err
	}
	return data, "image/jpeg", width, height, nil
}

// scaleLimit is how long a page may take to say what it is scaled by, or what is where in it.
const scaleLimit = 5 * time.Second

// pixelScale is how many pixels of a picture of the viewport make one CSS pixel of it.
func pixelScale(ctx context.Context, tab *page.Tab) (scale float64, err error) {
	err = tab.Within(ctx, scaleLimit, func(ctx context.Context) (err error) {
		scale, err = frame.Apply[float64](ctx, tab.Main(), "() => devicePixelRatio * (visualViewport?.scale ?? 1)", nil, nil)
		return err
	})
	if err == nil && scale <= 0 {
		err = errors.New("the browser does not tell it")
	}
	if err != nil {
		return 1, fmt.Errorf("scale of the page: %w", err)
	}
	return scale, nil
}
