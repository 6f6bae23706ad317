package browsermgr

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
)

// ScreenshotWithSize is a picture of the current viewport, and its size in CSS pixels, in which the coordinates of actions are counted
// from its upper left corner. The picture has device scale factor times pinch as many pixels in a row. CSS zoom is the
// page's own business and changes neither. Chromium draws nothing while a dialog is open: that is a [*page.DialogError].
func (w *Window) ScreenshotWithSize(ctx context.Context) (data []byte, mediaType string, width, height float64, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) error {
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
		scale, err := screenshot.PixelScale(ctx, tab)
		width, height = float64(config.Width)/scale, float64(config.Height)/scale
		return err
	})
	if err != nil {
		return nil, "", 0, 0, err
	}
	return data, "image/jpeg", width, height, nil
}
