package computeruse

import (
	"image"
	"math"
	"strconv"
)

// CSSPoint is a place of the viewport in CSS pixels.
type CSSPoint struct{ X, Y float64 }

// ScreenGeometry is how the picture that a model sees lies on the viewport.
type ScreenGeometry struct {
	Picture       image.Point // pixels
	Width, Height float64     // CSS pixels
}

// Known reports whether a picture was seen, so that its points mean something.
func (g ScreenGeometry) Known() bool {
	return g.Picture.X > 0 && g.Picture.Y > 0 && g.Width > 0 && g.Height > 0
}

// ToViewport returns the place under the middle of a pixel, inside of the viewport.
func (g ScreenGeometry) ToViewport(p image.Point) CSSPoint {
	return CSSPoint{
		clampInside((float64(p.X)+0.5)*g.Width/float64(g.Picture.X), g.Width),
		clampInside((float64(p.Y)+0.5)*g.Height/float64(g.Picture.Y), g.Height),
	}
}

// ToPicture returns the pixel over a place.
func (g ScreenGeometry) ToPicture(p CSSPoint) image.Point {
	return image.Pt(int(p.X*float64(g.Picture.X)/g.Width), int(p.Y*float64(g.Picture.Y)/g.Height))
}

// ScaleDistance returns a distance of the picture in CSS pixels, bounded.
func (g ScreenGeometry) ScaleDistance(p image.Point) CSSPoint {
	const most = 20000
	bound := func(v float64) float64 { return math.Max(-most, math.Min(most, v)) }
	return CSSPoint{
		bound(float64(p.X) * g.Width / float64(g.Picture.X)),
		bound(float64(p.Y) * g.Height / float64(g.Picture.Y)),
	}
}

// Center returns the place in the middle.
func (g ScreenGeometry) Center() CSSPoint { return CSSPoint{g.Width / 2, g.Height / 2} }

// clampInside clamps v to what lies inside of a side of this length.
func clampInside(v, length float64) float64 {
	return math.Max(0, math.Min(v, length-math.Min(0.5, length/2)))
}

// String returns how a path of the control API has it.
func (p CSSPoint) String() string {
	return strconv.FormatFloat(p.X, 'f', -1, 64) + "," + strconv.FormatFloat(p.Y, 'f', -1, 64)
}
