package computeruse

import (
	"image"
	"math"
	"strconv"
)

// point is a place of the viewport in CSS pixels.
type point struct{ x, y float64 }

// geometry is how the picture that a model sees lies on the viewport.
type geometry struct {
	picture       image.Point // pixels
	width, height float64     // CSS pixels
}

// known reports whether a picture was seen, so that its points mean something.
func (g geometry) known() bool {
	return g.picture.X > 0 && g.picture.Y > 0 && g.width > 0 && g.height > 0
}

// at is the place under the middle of a pixel, inside of the viewport.
func (g geometry) at(p image.Point) point {
	return point{
		within((float64(p.X)+0.5)*g.width/float64(g.picture.X), g.width),
		within((float64(p.Y)+0.5)*g.height/float64(g.picture.Y), g.height),
	}
}

// back is the pixel over a place.
func (g geometry) back(p point) image.Point {
	return image.Pt(int(p.x*float64(g.picture.X)/g.width), int(p.y*float64(g.picture.Y)/g.height))
}

// span is a distance of the picture in CSS pixels, bounded.
func (g geometry) span(p image.Point) point {
	const most = 20000
	bound := func(v float64) float64 { return math.Max(-most, math.Min(most, v)) }
	return point{
		bound(float64(p.X) * g.width / float64(g.picture.X)),
		bound(float64(p.Y) * g.height / float64(g.picture.Y)),
	}
}

// middle is the place in the middle.
func (g geometry) middle() point { return point{g.width / 2, g.height / 2} }

// within clamps v to what lies inside of a side of this length.
func within(v, length float64) float64 {
	return math.Max(0, math.Min(v, length-math.Min(0.5, length/2)))
}

// String is how a path of the control API has it.
func (p point) String() string {
	return strconv.FormatFloat(p.x, 'f', -1, 64) + "," + strconv.FormatFloat(p.y, 'f', -1, 64)
}
