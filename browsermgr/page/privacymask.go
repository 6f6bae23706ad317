package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"time"

	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	_ "golang.org/x/image/webp" // screencast frames may be WebP
)

// Area is a rectangle in CSS pixels.
type Area struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// PrivacyMask is what pictures must not show at one moment: areas of the main document, and the position of the
// viewport. A nil mask covers nothing.
type PrivacyMask struct {
	Areas      []Area
	Document   float64 // identifies the document
	Left, Top  float64 // upper left corner of the viewport, in CSS pixels
	Zoom       float64 // pinch zoom
	PixelRatio float64 // device pixels per CSS pixel
}

// SameDocument reports whether both masks are of the same document.
func (v *PrivacyMask) SameDocument(other *PrivacyMask) bool {
	return v != nil && other != nil && v.Document == other.Document
}

// maskMargin is added around each area, in CSS pixels.
const maskMargin = 2

// ClipBoxes returns the areas in pixels of a picture whose corner is at left, top of the document, with scale pixels
// per CSS pixel.
func (v *PrivacyMask) ClipBoxes(left, top, scale float64) []image.Rectangle {
	if v == nil {
		return nil
	}
	rs := make([]image.Rectangle, len(v.Areas))
	for i, a := range v.Areas {
		rs[i] = image.Rect(
			int(math.Floor((a.Left-maskMargin-left)*scale)), int(math.Floor((a.Top-maskMargin-top)*scale)),
			int(math.Ceil((a.Right+maskMargin-left)*scale)), int(math.Ceil((a.Bottom+maskMargin-top)*scale)),
		)
	}
	return rs
}

// ViewportBoxes returns the areas in a picture of the viewport.
func (v *PrivacyMask) ViewportBoxes(scale float64) []image.Rectangle {
	if v == nil {
		return nil
	}
	return v.ClipBoxes(v.Left, v.Top, scale)
}

// SweptBoxes returns the boxes before and after a movement and the space between, since a picture may show the content
// anywhere on its way.
func SweptBoxes(before, after []image.Rectangle) []image.Rectangle {
	boxes := slices.Concat(before, after)
	switch {
	case len(before) == 0 || len(after) == 0 || slices.Equal(before, after):
		return boxes
	case len(before) == len(after):
		for i := range before {
			boxes = append(boxes, before[i].Union(after[i]))
		}
		return boxes
	}
	var all image.Rectangle // the boxes cannot be matched
	for _, b := range boxes {
		all = all.Union(b)
	}
	return append(boxes, all)
}

// ViewportScale returns the pixels per CSS pixel of the document in a picture of the viewport that shows width CSS
// pixels at a pinch zoom. zoom is 0 if unknown.
func ViewportScale(data []byte, width, zoom float64) (float64, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("cover a part of the picture: it cannot be read: %w", err)
	}
	if width <= 0 {
		return 0, fmt.Errorf("cover a part of the picture: its width of %v CSS pixels cannot be", width)
	}
	if zoom <= 0 {
		zoom = 1
	}
	return float64(config.Width) / width * zoom, nil
}

// PaintBoxes paints over parts of an encoded picture. PNG stays PNG; other formats become JPEG. Without boxes the
// picture is returned unchanged.
func PaintBoxes(data []byte, boxes []image.Rectangle) ([]byte, error) {
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
		draw.Draw(canvas, box.Add(canvas.Bounds().Min), image.NewUniform(color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff}),
			image.Point{}, draw.Src)
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

// maskLimit bounds finding the areas to cover.
const maskLimit = 5 * time.Second

// viewportScript returns the position of the viewport in the document.
const viewportScript = `() => {
	const v = visualViewport;
	return {document: performance.timeOrigin, x: scrollX, y: scrollY, left: v.pageLeft, top: v.pageTop, zoom: v.scale, pixels: devicePixelRatio};
}`

// errDocumentChanged withholds a picture because the page navigated: it may show either document, or neither, so that
// it is unknown what to cover.
var errDocumentChanged = errors.New("the page navigated while its picture was taken: try again")

// errMaskChanged withholds a picture because areas to cover appeared or vanished while it was drawn, so that their
// position in it is unknown.
var errMaskChanged = errors.New("areas to cover appeared or vanished while the picture was drawn: try again")

// findMask returns what pictures must not show now; nil if there are no secrets anywhere.
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
	at, err := frame.CallFunction[struct{ Document, X, Y, Left, Top, Zoom, Pixels float64 }](ctx, t.main, viewportScript,
		nil, nil)
	if err != nil {
		return nil, fmt.Errorf("find where the picture is: %w", err)
	}
	v := &PrivacyMask{Document: at.Document, Left: at.Left, Top: at.Top, Zoom: at.Zoom, PixelRatio: at.Pixels}
	for _, a := range areas {
		v.Areas = append(v.Areas, Area{Left: a.Left + at.X, Top: a.Top + at.Y, Right: a.Right + at.X, Bottom: a.Bottom +
			at.Y})
	}
	return v, nil
}

// maskBoxes returns the boxes of a mask in a screenshot.
func maskBoxes(v *PrivacyMask, clip *proto.PageViewport) []image.Rectangle {
	switch {
	case v == nil:
		return nil
	case clip == nil:
		return v.ViewportBoxes(v.Zoom * v.PixelRatio)
	}
	return v.ClipBoxes(clip.X, clip.Y, clip.Scale*v.PixelRatio)
}

// maskMemory is how many frames Chromium may draw before it learns that we have received the one before them, and so
// how many earlier masks a frame may need.
const maskMemory = 3

// MaskImage covers what a picture of the viewport must not show. The picture shows width CSS pixels at a pinch zoom, as
// reported by Page.screencastFrame. Since it was drawn a moment ago, hidden content is covered at its present position,
// at its positions when earlier pictures arrived, and between them. The format stays, except that WebP becomes JPEG. A
// picture with nothing to hide is returned unchanged. During a navigation, or if hidden areas appeared or vanished
// meanwhile, an error withholds the picture.
func (t *Tab) MaskImage(ctx context.Context, data []byte, width, zoom float64) ([]byte, error) {
	now, err := t.findMask(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	masks := append(slices.Clone(t.lastMasks), now)
	t.lastMasks = masks[max(0, len(masks)-maskMemory):]
	t.mu.Unlock()
	if !slices.ContainsFunc(masks, func(v *PrivacyMask) bool { return v != nil }) {
		return data, nil
	}
	scale, err := ViewportScale(data, width, zoom)
	if err != nil {
		return nil, err
	}
	var boxes []image.Rectangle
	for i, before := range masks[:len(masks)-1] {
		after := masks[i+1]
		switch {
		case before == nil || after == nil || len(before.Areas) != len(after.Areas):
			return nil, errMaskChanged
		case !before.SameDocument(after) && (len(now.Areas) > 0 || i == len(masks)-2):
			return nil, errDocumentChanged
		}
		boxes = append(boxes, SweptBoxes(before.ViewportBoxes(scale), after.ViewportBoxes(scale))...)
	}
	if len(masks) == 1 {
		return nil, errMaskChanged // the earlier positions are unknown
	}
	return PaintBoxes(data, boxes)
}

// HasHiddenAreas reports whether the page shows anything that pictures must not show.
func (t *Tab) HasHiddenAreas(ctx context.Context) (bool, error) {
	v, err := t.findMask(ctx)
	return v != nil && len(v.Areas) > 0, err
}
