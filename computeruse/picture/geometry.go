package picture

import (
	"image"
	"math"
	"strconv"
)

// Point is a place of the viewport in CSS pixels.
type Point struct{ X, Y float64 }

// Geometry is how the picture that a model sees lies on the viewport.
type Geometry struct {
	Picture       image.Point // pixels
	Width, Height float64     // CSS pixels
}

// Known reports whether a picture was seen, so that its points mean something.
func (g Geometry) Known() bool {
	return g.Picture.X > 0 && g.Picture.Y > 0 && g.Width > 0 && g.Height > 0
}

// At is the place under the middle of a pixel, inside of the viewport.
func (g Geometry) At(p image.Point) Point {
	return Point{
		within((float64(p.X)+0.5)*g.Width/float64(g.Picture.X), g.Width),
		within((float64(p.Y)+0.5)*g.Height/float64(g.Picture.Y), g.Height),
	}
}

// Back is the pixel over a place.
func (g Geometry) Back(p Point) image.Point {
	return image.Pt(int(p.X*float64(g.Picture.X)/g.Width), int(p.Y*float64(g.Picture.Y)/g.Height))
}

// Span is a distance of the picture in CSS pixels, bounded.
func (g Geometry) Span(p image.Point) Point {
	const most = 20000
	bound := func(v float64) float64 { return math.Max(-most, math.Min(most, v)) }
	return Point{
		bound(float64(p.X) * g.Width / float64(g.Picture.X)),
		bound(float64(p.Y) * g.Height / float64(g.Picture.Y)),
	}
}

// Middle is the place in the middle.
func (g Geometry) Middle() Point { return Point{g.Width / 2, g.Height / 2} }

// within clamps v to what lies inside of a side of this length.
func within(v, length float64) float64 {
	return math.Max(0, math.Min(v, length-math.Min(0.5, length/2)))
}

// String is how a path of the control API has it.
func (p Point) String() string {
	return strconv.FormatFloat(p.X, 'f', -1, 64) + "," + strconv.FormatFloat(p.Y, 'f', -1, 64)
}
