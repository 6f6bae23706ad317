package page

import (
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"clank/browsermgr/cover"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Area is a part of the main frame's viewport, in CSS pixels.
type Area = cover.Area

// hideLimit bounds finding out what a picture must not show.
const hideLimit = 5 * time.Second

// whereabouts asks how the viewport lies in the document.
const whereabouts = `() => {
	const v = visualViewport;
	return {document: performance.timeOrigin, x: scrollX, y: scrollY, left: v.pageLeft, top: v.pageTop, zoom: v.scale, pixels: devicePixelRatio};
}`

// errChanging keeps a picture back of which it is not known what must not be seen: the document that it shows may be neither the one
// before nor the one after.
var errChanging = errors.New("the page became another one while its picture was taken; try again")

// veil finds out what must not be seen now; nil as long as there is nothing that must not be seen anywhere.
func (t *Tab) veil(ctx context.Context) (*cover.Veil, error) {
	if t.browser.hidden == nil {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	ctx, cancel := context.WithTimeout(ctx, hideLimit)
	defer cancel()
	if err := t.tree.Await(ctx); err != nil {
		return nil, fmt.Errorf("find the frames of the picture: %w", err)
	}
	areas, err := t.browser.hidden(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("find what the picture must not show: %w", err)
	}
	if areas == nil {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	at, err := frame.Apply[struct{ Document, X, Y, Left, Top, Zoom, Pixels float64 }](ctx, t.main, whereabouts, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("find where the picture is: %w", err)
	}
	v := &cover.Veil{Document: at.Document, Left: at.Left, Top: at.Top, Zoom: at.Zoom, Pixels: at.Pixels}
	for _, a := range areas {
		v.Areas = append(v.Areas, Area{Left: a.Left + at.X, Top: a.Top + at.Y, Right: a.Right + at.X, Bottom: a.Bottom + at.Y})
	}
	return v, nil
}

// veiled are the boxes of a veil in a screenshot.
func veiled(v *cover.Veil, clip *proto.PageViewport) []image.Rectangle {
	switch {
	case v == nil:
		return nil
	case clip == nil:
		return v.Viewport(v.Zoom * v.Pixels)
	}
	return v.Clip(clip.X, clip.Y, clip.Scale*v.Pixels)
}

// Veil covers what a picture of the viewport must not show: one that shows so many CSS pixels in its width at a zoom, as
// Chromium's screencast tells them. What was drawn a moment ago is covered where it is now, where it was when Veil was last
// called, and between. The format stays, except that webp becomes jpeg. A picture without anything to hide is returned as it is; one
// from the time around a navigation is kept back by an error.
func (t *Tab) Veil(ctx context.Context, data []byte, width, zoom float64) ([]byte, error) {
	now, err := t.veil(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	before := t.veiled
	t.veiled = now
	t.mu.Unlock()
	switch {
	case now == nil && before == nil:
		return data, nil
	case before != nil && !before.Same(now):
		return nil, errChanging
	}
	scale, err := cover.Scale(data, width, zoom)
	if err != nil {
		return nil, err
	}
	return cover.Paint(data, cover.Between(before.Viewport(scale), now.Viewport(scale)))
}

// Hides reports whether the page shows now what pictures must not show.
func (t *Tab) Hides(ctx context.Context) (bool, error) {
	v, err := t.veil(ctx)
	return v != nil && len(v.Areas) > 0, err
}
