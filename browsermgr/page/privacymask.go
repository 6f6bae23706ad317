package page

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	_ "golang.org/x/image/webp" // frames of a live view may come as one
)

// Area is a rectangle in CSS pixels.
type Area struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// PrivacyMask is what must not be seen at a moment: areas of the main document, and how the viewport lay in that. The nil Veil hides
// nothing.
type PrivacyMask struct {
	Areas      []Area
	Document   float64 // tells the document from those before and after it
	Left, Top  float64 // corner of what shows, in CSS pixels
	Zoom       float64 // by pinching
	PixelRatio float64 // of the device for a CSS pixel
}

// SameDocument reports whether both are of one document.
func (v *PrivacyMask) SameDocument(other *PrivacyMask) bool {
	return v != nil && other != nil && v.Document == other.Document
}

// maskMargin is by how much, in CSS pixels, more is covered than was found.
const maskMargin = 2

// ClipBoxes returns the areas in a picture whose corner is at left, top of the document and which has so many pixels for a CSS pixel.
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

// SweptBoxes returns the boxes of something at one moment and at a later one, and what lies between them where it has moved: a picture may
// show it anywhere on its way.
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
	var all image.Rectangle // which is which is not known
	for _, b := range boxes {
		all = all.Union(b)
	}
	return append(boxes, all)
}

// ViewportScale returns how many pixels a picture of the viewport has for a CSS pixel of the document, if it shows width CSS pixels at a zoom.
// A zoom that is not known is 0.
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

// PaintBoxes draws over parts of an encoded picture. A png stays one, all else becomes a jpeg. Without boxes the picture is returned as
// it is.
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
