package screenshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"golang.org/x/image/draw"
)

// errTooLarge is returned if even the smallest step is too large.
var errTooLarge = errors.New("the picture could not be brought below 5MB: take one of an element instead")

// sides and qualities are the steps for shrinking a picture.
var (
	sideSteps    = []int{1800, 1600, 1400, 1200, 1000, 800}
	qualitySteps = []int{85, 75, 65, 55, 45, 35}
)

// fitImage shrinks a picture to the limits and draws the labels of s, which may be nil.
func fitImage(ctx context.Context, data []byte, kind string, s *labelSketch) (Image, error) {
	return fitWithin(ctx, data, kind, s, MaxBytes)
}

func fitWithin(ctx context.Context, data []byte, kind string, s *labelSketch, maxBytes int) (Image, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Image{}, fmt.Errorf("read the picture: %w", err)
	}
	longest := max(config.Width, config.Height)
	if s == nil && longest <= maxSide && len(data) <= maxBytes {
		return Image{Data: data, Type: kind, Width: config.Width, Height: config.Height}, nil
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Image{}, fmt.Errorf("read the picture: %w", err)
	}
	if s != nil && longest <= maxSide {
		img, err := encodeImage(whole, longest, kind, jpegQuality, s)
		if err != nil || len(img.Data) <= maxBytes {
			return img, err
		}
	}
	return shrinkToFit(ctx, whole, longest, s, maxBytes)
}

// shrinkToFit returns the picture for the first step whose file is small enough.
func shrinkToFit(ctx context.Context, whole image.Image, longest int, s *labelSketch, maxBytes int) (Image, error) {
	first := min(longest, maxSide)
	for _, side := range slices.Concat([]int{first}, sideSteps) {
		if side > first {
			continue // never enlarge it
		}
		small := resizeImage(whole, side)
		for _, q := range qualitySteps {
			if ctx.Err() != nil {
				return Image{}, context.Cause(ctx)
			}
			img, err := encodeImage(small, longest, "jpeg", q, s)
			if err != nil || len(img.Data) <= maxBytes {
				return img, err
			}
		}
	}
	return Image{}, errTooLarge
}

// resizeImage scales a picture so that its longer side has this length.
func resizeImage(img image.Image, side int) image.Image {
	size := img.Bounds().Size()
	longest := max(size.X, size.Y)
	if side >= longest {
		return img
	}
	scaled := func(n int) int { return max(1, (n*side+longest/2)/longest) }
	small := image.NewRGBA(image.Rect(0, 0, scaled(size.X), scaled(size.Y)))
	draw.CatmullRom.Scale(small, small.Bounds(), flattenAlpha(img), img.Bounds(), draw.Src, nil)
	return small
}

// flattenAlpha draws a transparent picture on white, since JPEG would make it black.
func flattenAlpha(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Over)
	return flat
}

// encodeImage draws the labels at the picture's final size and encodes it. longest is the longer side of the picture
// that the sketch was measured for.
func encodeImage(img image.Image, longest int, kind string, q int, s *labelSketch) (Image, error) {
	size := img.Bounds().Size()
	out := Image{Type: kind, Width: size.X, Height: size.Y}
	if s != nil {
		canvas := image.NewRGBA(image.Rect(0, 0, size.X, size.Y))
		draw.Draw(canvas, canvas.Bounds(), img, img.Bounds().Min, draw.Src)
		s.draw(canvas, float64(max(size.X, size.Y))/float64(longest), &out)
		img = canvas
	}
	var b bytes.Buffer
	var err error
	if kind == "jpeg" {
		err = jpeg.Encode(&b, flattenAlpha(img), &jpeg.Options{Quality: q})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img)
	}
	if err != nil {
		return Image{}, fmt.Errorf("write the picture: %w", err)
	}
	out.Data = b.Bytes()
	return out, nil
}

// scaleLimit bounds asking a page for its scale or the positions of elements.
const scaleLimit = 5 * time.Second

// PixelScale returns the pixels per CSS pixel in a picture of the viewport.
func PixelScale(ctx context.Context, tab *page.Tab) (scale float64, err error) {
	err = tab.RunConcurrently(ctx, scaleLimit, func(ctx context.Context) (err error) {
		scale, err = frame.CallFunction[float64](ctx, tab.MainFrame(), "() => devicePixelRatio * "+
			"(visualViewport?.scale ?? 1)", nil, nil)
		return err
	})
	if err == nil && scale <= 0 {
		err = errors.New("the browser does not report it")
	}
	if err != nil {
		return 1, fmt.Errorf("scale of the page: %w", err)
	}
	return scale, nil
}
