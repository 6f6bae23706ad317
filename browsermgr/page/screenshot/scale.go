package screenshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
)

// scaleLimit is how long a page may take to say what it is scaled by, or what is where in it.
const scaleLimit = 5 * time.Second

// PixelScale returns how many pixels of a picture of the viewport make one CSS pixel of it.
func PixelScale(ctx context.Context, tab *page.Tab) (scale float64, err error) {
	err = tab.RunConcurrently(ctx, scaleLimit, func(ctx context.Context) (err error) {
		scale, err = frame.CallFunction[float64](ctx, tab.MainFrame(), "() => devicePixelRatio * (visualViewport?.scale ?? 1)", nil, nil)
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
