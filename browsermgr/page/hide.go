package page

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"time"

	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
	_ "golang.org/x/image/webp" // frames of a live view may come as one
)

// Area is a part of the main frame's viewport, in CSS pixels.
type Area struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// hideLimit bounds finding out what a picture must not show.
const hideLimit = 5 * time.Second

// veil is what must not be seen, in CSS pixels of the main document, and how the viewport lay in that.
type veil struct {
	areas     []Area
	left, top float64 // corner of what shows
	zoom      float64 // by pinching
	pixels    float64 // of the device for a CSS pixel
}

// whereabouts asks how the viewport lies in the document.
const whereabouts = `() => {
	const v = visualViewport;
	return {x: scrollX, y: scrollY, left: v.pageLeft, top: v.pageTop, zoom: v.scale, pixels: devicePixelRatio};
}`

// veil finds out what must not be seen now; nil if that is nothing.
func (t *Tab) veil(ctx context.Context) (*veil, error) {
	if t.browser.hidden == nil {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	ctx, cancel := context.WithTimeout(ctx, hideLimit)
	defer cancel()
	areas, err := t.browser.hidden(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("find what the picture must not show: %w", err)
	}
	if len(areas) == 0 {
		return nil, nil //nolint:nilnil // nothing is hidden
	}
	at, err := frame.Apply[struct{ X, Y, Left, Top, Zoom, Pixels float64 }](ctx, t.main, whereabouts, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("find where the picture is: %w", err)
	}
	v := &veil{left: at.Left, top: at.Top, zoom: at.Zoom, pixels: at.Pixels}
	for _, a := range areas {
		v.areas = append(v.areas, Area{Left: a.Left + at.X, Top: a.Top + at.Y, Right: a.Right + at.X, Bottom: a.Bottom + at.Y})
	}
	return v, nil
}

// frayed is by how much, in CSS pixels, more is covered than was found.
const frayed = 2

// boxes are what is to be covered in a picture whose corner is at left, top of the document.
func (v *veil) boxes(left, top, scale float64) []image.Rectangle {
	if v == nil {
		return nil
	}
	rs := make([]image.Rectangle, len(v.areas))
	for i, a := range v.areas {
		rs[i] = image.Rect(
			int(math.Floor((a.Left-frayed-left)*scale)), int(math.Floor((a.Top-frayed-top)*scale)),
			int(math.Ceil((a.Right+frayed-left)*scale)), int(math.Ceil((a.Bottom+frayed-top)*scale)),
		)
	}
	return rs
}

// shot are the boxes in a screenshot.
func (v *veil) shot(clip *proto.PageViewport) []image.Rectangle {
	switch {
	case v == nil:
		return nil
	case clip == nil:
		return v.boxes(v.left, v.top, v.zoom*v.pixels)
	}
	return v.boxes(clip.X, clip.Y, clip.Scale*v.pixels)
}

// Veil covers what a picture of the viewport must not show: one that shows so many CSS pixels in its width at a zoom, as
// Chromium's screencast tells them. What was drawn a moment ago is covered where it is now and where it was when Veil was last
// called. The format stays, except that webp becomes jpeg. A picture without anything to hide is returned as it is.
func (t *Tab) Veil(ctx context.Context, data []byte, width, zoom float64) ([]byte, error) {
	now, err := t.veil(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	before := t.veiled
	t.veiled = now
	t.mu.Unlock()
	if now == nil && before == nil {
		return data, nil
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || width <= 0 {
		return nil, fmt.Errorf("cover a part of the picture: it cannot be read: %w", err)
	}
	if zoom <= 0 {
		zoom = 1
	}
	scale := float64(config.Width) / width * zoom
	var boxes []image.Rectangle
	for _, v := range []*veil{before, now} {
		if v != nil {
			boxes = append(boxes, v.boxes(v.left, v.top, scale)...)
		}
	}
	return cover(data, boxes)
}

// Hides reports whether the page shows now what pictures must not show.
func (t *Tab) Hides(ctx context.Context) (bool, error) {
	v, err := t.veil(ctx)
	return v != nil, err
}

// cover draws over parts of a picture.
func cover(data []byte, boxes []image.Rectangle) ([]byte, error) {
	if len(boxes) == 0 {
		return data, nil
	}
	img, format, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cover a part of the picture: %w", err)
	}
	canvas := image.NewRGBA(img.Bounds())
	draw.Draw(canvas, canvas.Bounds(), img, img.Bounds().Min, draw.Src)
	for _, box := range boxes {
		draw.Draw(canvas, box.Add(canvas.Bounds().Min), image.NewUniform(color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff}), image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	if format == "png" {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, canvas)
	} else {
		err = jpeg.Encode(&out, canvas, &jpeg.Options{Quality: 85})
	}
	if err != nil {
		return nil, fmt.Errorf("cover a part of the picture: %w", err)
	}
	return out.Bytes(), nil
}
