package computeruse

import (
	"context"
	"crypto/sha256"
	"errors"

	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"
)

// modelScreenshot is a picture of the screen and what a model gets to see of it.
type modelScreenshot struct {
	sum   [sha256.Size]byte // of the picture as it was taken
	raw   []byte
	image llm.Image // in the size that the model wants
	ScreenGeometry
}

// prepareScreenshot makes a picture ready for the model. One that is like the last is not worked on again.
func (r *run) prepareScreenshot(shot sessions.Screenshot) error {
	sum, last := sha256.Sum256(shot.Data), &r.screenshot
	if last.Known() && last.sum == sum && last.Width == shot.Width && last.Height == shot.Height {
		return nil
	}
	if !(shot.Width > 0 && shot.Height > 0) {
		return errors.New("read the picture of the screen: the viewport has no size")
	}
	img, size, err := FitImage(shot.Data, r.model.Fit)
	if err != nil {
		return err
	}
	r.screenshot = modelScreenshot{sum: sum, raw: shot.Data, image: img, ScreenGeometry: ScreenGeometry{Picture: size, Width: shot.Width, Height: shot.Height}}
	return nil
}

// capture takes the picture of the screen and finds out where the page is. It returns the picture for people; nil if
// the screen cannot be seen, of which the model is told.
func (r *run) capture(ctx context.Context, s sessions.Page) *llm.Image {
	if r.screenshotCurrent {
		return r.stepImage()
	}
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	if at, title, _, err := s.State(ctx); err == nil {
		r.state.url, r.state.title = at, title
	}
	shot, err := s.Screenshot(ctx)
	if err == nil {
		err = r.prepareScreenshot(shot)
	}
	r.screenshotCurrent = true
	if err != nil {
		r.screenshot = modelScreenshot{}
		r.log.Debug("no picture of the screen", "err", err)
		r.state.memory.Next.addUserText("The screen could not be seen. If the page shows a dialog, answer it with " + ToolDialog + ".\n" + untrusted.Wrap("error: "+untrusted.CleanLine(err.Error(), maxNote)))
		return nil
	}
	return r.stepImage()
}

// stepImage returns the picture as people see it.
func (r *run) stepImage() *llm.Image {
	if !r.screenshot.Known() {
		return nil
	}
	image := r.screenshot.image // which the next one takes the place of
	return &image
}

// showScreenshot puts the picture into the answer.
func (r *run) showScreenshot() {
	if view := r.stepImage(); view != nil && !r.seen[r.screenshot.sum] && len(r.shown) < maxShown {
		r.seen[r.screenshot.sum] = true
		r.shown = append(r.shown, *view)
	}
}
