// Package pixels holds a page of targets and the ways in which vendors' models say where something is on a picture, so that
// tests can follow a point from the picture through the vendor's words to the place that is clicked.
//
// It asks no model and works no browser.
package pixels

import (
	"image"
	"math"
)

// Eye is how one vendor's model says where something is. The adapters of computer use are tried in the place of those that
// [Eyes] lists by giving them these methods.
type Eye interface {
	// Fit is the size in which the model sees a screen of that many CSS pixels.
	Fit(screen image.Point) image.Point
	// Point is the pixel that becomes of the model's answer when it means the place x, y of a picture of that size. Places
	// are counted from the corner: the middle of the first pixel is at 0.5, 0.5.
	Point(x, y float64, size image.Point) image.Point
	// Unit is the longer side of the smallest step that the model can name, in pixels of a picture of that size.
	Unit(size image.Point) float64
}

// Eyes are the conventions of the vendors, by name.
func Eyes() map[string]Eye {
	return map[string]Eye{
		"openai":    inPixels{longest: 4096, area: 4096 * 4096},
		"anthropic": inPixels{longest: 1568, area: 1_150_000},
		"gemini":    onGrid{inPixels{longest: 1440, area: 1440 * 900}},
	}
}

// inPixels counts in pixels of the picture that was sent, which is scaled down to a longest side and an area.
type inPixels struct{ longest, area int }

func (e inPixels) Fit(screen image.Point) image.Point {
	scale := min(1, float64(e.longest)/float64(max(screen.X, screen.Y)), math.Sqrt(float64(e.area)/float64(screen.X*screen.Y)))
	return image.Pt(int(float64(screen.X)*scale), int(float64(screen.Y)*scale))
}

func (e inPixels) Point(x, y float64, size image.Point) image.Point {
	return clamp(image.Pt(int(x), int(y)), size)
}

func (e inPixels) Unit(image.Point) float64 { return 1 }

// cells is how many steps the grid has in either direction.
const cells = 1000

// onGrid counts from 0 to 999 in both directions, whatever the shape of the picture. A cell means its middle.
type onGrid struct{ inPixels }

func (e onGrid) Point(x, y float64, size image.Point) image.Point {
	middle := func(v float64, side int) int {
		cell := min(max(math.Floor(v/float64(side)*cells), 0), cells-1)
		return int((cell + 0.5) / cells * float64(side))
	}
	return clamp(image.Pt(middle(x, size.X), middle(y, size.Y)), size)
}

func (e onGrid) Unit(size image.Point) float64 { return float64(max(size.X, size.Y)) / cells }

func clamp(p, size image.Point) image.Point {
	return image.Pt(min(max(p.X, 0), size.X-1), min(max(p.Y, 0), size.Y-1))
}

// CSS is where a pixel of a picture of that size is on a screen of width by height CSS pixels: its middle.
func CSS(p, size image.Point, width, height float64) (x, y float64) {
	return (float64(p.X) + 0.5) * width / float64(size.X), (float64(p.Y) + 0.5) * height / float64(size.Y)
}

// Off is how far from a target's middle, in CSS pixels in one direction, a click may land when the picture has scale pixels
// for a CSS pixel of a screen with this device scale factor. It is 1 where the vendor's unit allows it. The pixel in which
// the middle lies is half a pixel away at most, and Chromium paints a box up to half a device pixel beside where it is. On a
// grid whose cells are larger than pixels the middle of the cell is half a cell away besides: at 1280 pixels a cell of the
// 0–999 grid has 1.28, which makes 0.64.
func Off(e Eye, size image.Point, scale, factor float64) float64 {
	off := 0.5
	if unit := e.Unit(size); unit > 1 {
		off += unit / 2
	}
	return max(1, off/scale+0.5/factor)
}
