package browsermgr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Shot is a picture of the current viewport, and its size in CSS pixels, in which the coordinates of actions are counted
// from its upper left corner. The picture has device scale factor times pinch as many pixels in a row. CSS zoom is the
// page's own business and changes neither.
func (w *Window) Shot(ctx context.Context) (data []byte, mediaType string, width, height float64, err error) {
	err = w.look(ctx, func(tab *page.Tab) error {
		if data, err = tab.Screenshot(ctx, page.ScreenshotOptions{Format: "jpeg"}); err != nil {
			return err
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("size of the picture: %w", err)
		}
		size := image.Pt(config.Width, config.Height)
		scale, err := pixelScale(ctx, tab, size)
		width, height = float64(size.X)/scale, float64(size.Y)/scale
		return err
	})
	if err != nil {
		return nil, "", 0, 0, err
	}
	return data, "image/jpeg", width, height, nil
}

// scaleLimit is how long a page may take to say what it is scaled by.
const scaleLimit = 2 * time.Second

// pixelScale is how many pixels of a picture of the viewport make one CSS pixel of it. A page that stands still because of
// a dialog or a busy script does not say: then it follows from the size of the picture, where scrollbars may count as page.
func pixelScale(ctx context.Context, tab *page.Tab, picture image.Point) (float64, error) {
	var scale float64
	err := tab.Within(ctx, scaleLimit, func(ctx context.Context) (err error) {
		scale, err = frame.Apply[float64](ctx, tab.Main(), "() => devicePixelRatio * (visualViewport?.scale ?? 1)", nil, nil)
		return err
	})
	if err == nil && scale > 0 {
		return scale, nil
	}
	if ctx.Err() != nil {
		return 1, context.Cause(ctx)
	}
	m, err := cdp.Ask[proto.PageGetLayoutMetricsResult](ctx, tab.Main().Session, proto.PageGetLayoutMetrics{})
	if err != nil {
		return 1, fmt.Errorf("size of the viewport: %w", err)
	}
	view := m.CSSVisualViewport
	if view == nil || view.ClientWidth <= 0 || view.ClientHeight <= 0 {
		return 1, errors.New("size of the viewport: the browser did not tell it")
	}
	// A scrollbar makes the picture larger than the viewport in one direction.
	return min(float64(picture.X)/view.ClientWidth, float64(picture.Y)/view.ClientHeight), nil
}
