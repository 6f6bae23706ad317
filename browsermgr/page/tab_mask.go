package page

import (
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"clank/browsermgr/page/action"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// maskLimit bounds finding out what a picture must not show.
const maskLimit = 5 * time.Second

// viewportScript asks how the viewport lies in the document.
const viewportScript = `() => {
	const v = visualViewport;
	return {document: performance.timeOrigin, x: scrollX, y: scrollY, left: v.pageLeft, top: v.pageTop, zoom: v.scale, pixels: devicePixelRatio};
}`

// errDocumentChanged keeps a picture back of which it is not known what must not be seen: the document that it shows may be neither the one
// before nor the one after.
var errDocumentChanged = errors.New("the page became another one while its picture was taken; try again")

// findMask finds out what must not be seen now; nil as long as there is nothing that must not be seen anywhere.
func (t *Tab) findMask(ctx context.Context) (*PrivacyMask, error) {
	if t.browser.hiddenAreas == nil {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	ctx, cancel := context.WithTimeout(ctx, maskLimit)
	defer cancel()
	if err := t.tree.AwaitDiscovery(ctx); err != nil {
		return nil, fmt.Errorf("find the frames of the picture: %w", err)
	}
	areas, err := t.browser.hiddenAreas(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("find what the picture must not show: %w", err)
	}
	if areas == nil {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	at, err := frame.CallFunction[struct{ Document, X, Y, Left, Top, Zoom, Pixels float64 }](ctx, t.main, viewportScript, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("find where the picture is: %w", err)
	}
	v := &PrivacyMask{Document: at.Document, Left: at.Left, Top: at.Top, Zoom: at.Zoom, PixelRatio: at.Pixels}
	for _, a := range areas {
		v.Areas = append(v.Areas, Area{Left: a.Left + at.X, Top: a.Top + at.Y, Right: a.Right + at.X, Bottom: a.Bottom + at.Y})
	}
	return v, nil
}

// maskBoxes returns the boxes of a veil in a screenshot.
func maskBoxes(v *PrivacyMask, clip *proto.PageViewport) []image.Rectangle {
	switch {
	case v == nil:
		return nil
	case clip == nil:
		return v.ViewportBoxes(v.Zoom * v.PixelRatio)
	}
	return v.ClipBoxes(clip.X, clip.Y, clip.Scale*v.PixelRatio)
}

// MaskImage covers what a picture of the viewport must not show: one that shows so many CSS pixels in its width at a zoom, as
// Chromium's screencast tells them. What was drawn a moment ago is covered where it is now, where it was when Veil was last
// called, and between. The format stays, except that webp becomes jpeg. A picture without anything to hide is returned as it is; one
// from the time around a navigation is kept back by an error.
func (t *Tab) MaskImage(ctx context.Context, data []byte, width, zoom float64) ([]byte, error) {
	now, err := t.findMask(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	before := t.lastMask
	t.lastMask = now
	t.mu.Unlock()
	switch {
	case now == nil && before == nil:
		return data, nil
	case before != nil && !before.SameDocument(now):
		return nil, errDocumentChanged
	}
	scale, err := ViewportScale(data, width, zoom)
	if err != nil {
		return nil, err
	}
	return PaintBoxes(data, SweptBoxes(before.ViewportBoxes(scale), now.ViewportBoxes(scale)))
}

// keep refuses an action that would copy while the page holds a secret.
func (t *Tab) keep(ctx context.Context, a Action) error {
	if t.browser.holds == nil || !action.Copies(a, t.inputState.ModifierBits()) {
		return nil
	}
	held, err := t.browser.holds(ctx, t)
	if err != nil {
		return fmt.Errorf("find out whether the page holds a secret: %w", err)
	}
	if held {
		return ErrSecret
	}
	return nil
}

// HasHiddenAreas reports whether the page shows now what pictures must not show.
func (t *Tab) HasHiddenAreas(ctx context.Context) (bool, error) {
	v, err := t.findMask(ctx)
	return v != nil && len(v.Areas) > 0, err
}
