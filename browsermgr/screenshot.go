package browsermgr

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/llm"
	"clank/sessions"
)

// Screenshot takes a picture of the current viewport. Coordinates are counted from its upper left corner. The picture has device scale factor times pinch as many pixels in a row. CSS zoom is the
// page's own business and changes neither. Chromium draws nothing while a dialog is open: that is a [*page.DialogError].
func (w *Window) Screenshot(ctx context.Context) (shot sessions.Screenshot, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) error {
		if open := tab.Dialogs().Pending; len(open) > 0 {
			return &page.DialogError{Dialog: open[0]}
		}
		data, err := tab.Screenshot(ctx, page.ScreenshotOptions{Format: "jpeg"})
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
