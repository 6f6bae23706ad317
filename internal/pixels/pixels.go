// Package pixels holds a page of targets at the edges and in the middle of a viewport, in what scrolls and in frames, so that
// tests can follow a point from the picture that a model was sent, through its vendor's words, to the place that is clicked.
//
// It asks no model and works no browser.
package pixels

import (
	"image"
	"math"
)

// Middles are where the targets are on a picture of the page, as somebody sees it who knows their colours, in pixels from its
// upper left corner: the middle of the first pixel is at 0.5, 0.5. Those that do not show are left out.
func Middles(picture image.Image) map[string][2]float64 {
	sums := map[string][3]float64{}
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue, _ := picture.At(x, y).RGBA()
			for _, t := range Targets() {
				off := apart(red, t.Color.R) + apart(green, t.Color.G) + apart(blue, t.Color.B)
				if off < 90 {
					s := sums[t.Name]
					sums[t.Name] = [3]float64{s[0] + float64(x-b.Min.X) + 0.5, s[1] + float64(y-b.Min.Y) + 0.5, s[2] + 1}
				}
			}
		}
	}
	found := map[string][2]float64{}
	for name, s := range sums {
		found[name] = [2]float64{s[0] / s[2], s[1] / s[2]}
	}
	return found
}

func apart(seen uint32, color uint8) float64 { return math.Abs(float64(seen>>8) - float64(color)) }
