package pixels

import (
	"image"
	"image/color"
	"image/draw"
)

// TargetCenters returns where the targets are on a picture of the page, as somebody sees it who knows their colours, in pixels from its
// upper left corner: the middle of the first pixel is at 0.5, 0.5. Those that do not show are left out.
//
// A pixel at the edge of a target counts for as much of it as the target covers.
func TargetCenters(picture image.Image) map[string][2]float64 {
	img := image.NewRGBA(image.Rectangle{Max: picture.Bounds().Size()})
	draw.Draw(img, img.Rect, picture, picture.Bounds().Min, draw.Src)
	found := map[string][2]float64{}
	for name, box := range solidBoxes(img) {
		i := 0
		for i < len(Targets())-1 && Targets()[i].Name != name {
			i++
		}
		var sx, sy, sum float64
		box = box.Inset(-2).Intersect(img.Rect)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				w := coverage(img.RGBAAt(x, y), Targets()[i].Color)
				sx, sy, sum = sx+w*(float64(x)+0.5), sy+w*(float64(y)+0.5), sum+w
			}
		}
		found[name] = [2]float64{sx / sum, sy / sum}
	}
	return found
}

// solidBoxes returns the boxes around the pixels that are of a target without doubt.
func solidBoxes(img *image.RGBA) map[string]image.Rectangle {
	boxes := map[string]image.Rectangle{}
	for y := range img.Rect.Max.Y {
		for x := range img.Rect.Max.X {
			seen := img.RGBAAt(x, y)
			if min(seen.R, seen.G, seen.B) > 100 { // as most of the page
				continue
			}
			for _, t := range Targets() {
				if channelDistance(seen.R, t.Color.R)+channelDistance(seen.G, t.Color.G)+channelDistance(seen.B, t.Color.B) < 90 {
					boxes[t.Name] = boxes[t.Name].Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
	}
	return boxes
}

func channelDistance(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

// coverage returns how much of a pixel is of a colour, and not of the white page.
func coverage(seen, of color.RGBA) float64 {
	var along, whole float64
	for _, c := range [][2]uint8{{seen.R, of.R}, {seen.G, of.G}, {seen.B, of.B}} {
		missing, all := float64(255-c[0]), float64(255-c[1])
		along, whole = along+missing*all, whole+all*all
	}
	share := min(along/whole, 1)
	if share < 0.05 { // what a lossy picture has around its edges
		return 0
	}
	return share
}
