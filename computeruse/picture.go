package computeruse

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"clank/llm"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // screens may give pictures in it
)

const (
	jpegQuality = 85
	maxPixels   = 100_000_000 // of a picture that is decoded
)

// photo is a picture of the screen and what a model gets to see of it.
type photo struct {
	sum   [sha256.Size]byte // of the picture as it was taken
	raw   []byte
	image llm.Image // in the size that the model wants
	geometry
}

// develop makes a picture ready for a model. What is already in the right form is
// passed on as it is; a picture like the last one is taken from there.
func develop(data []byte, width, height float64, fit func(image.Point) image.Point, last photo) (photo, error) {
	sum := sha256.Sum256(data)
	if last.known() && last.sum == sum && last.width == width && last.height == height {
		return last, nil
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return photo{}, fmt.Errorf("read the picture of the screen: %w", err)
	case !(width > 0 && height > 0):
		return photo{}, errors.New("read the picture of the screen: the viewport has no size")
	case config.Width <= 0 || config.Height <= 0 || config.Width*config.Height > maxPixels:
		return photo{}, fmt.Errorf("read the picture of the screen: %d by %d pixels", config.Width, config.Height)
	}
	size := image.Pt(config.Width, config.Height)
	want := fit(size)
	if want.X <= 0 || want.Y <= 0 {
		want = size
	}
	p := photo{sum: sum, raw: data, geometry: geometry{picture: want, width: width, height: height}}
	if want == size && (format == "png" || format == "jpeg") {
		p.image = llm.Image{MediaType: "image/" + format, Data: data}
		return p, nil
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return photo{}, fmt.Errorf("read the picture of the screen: %w", err)
	}
	p.image, err = encode(scale(whole, whole.Bounds(), want))
	return p, err
}

// enlarge is a part of the picture, given in pixels of what the model sees, as
// large as fits into its size.
func (p photo) enlarge(region image.Rectangle) (llm.Image, error) {
	whole, _, err := image.Decode(bytes.NewReader(p.raw))
	if err != nil {
		return llm.Image{}, fmt.Errorf("read the picture of the screen: %w", err)
	}
	region = region.Canon().Intersect(image.Rectangle{Max: p.picture})
	size := whole.Bounds().Size()
	part := image.Rect(
		region.Min.X*size.X/p.picture.X, region.Min.Y*size.Y/p.picture.Y,
		region.Max.X*size.X/p.picture.X, region.Max.Y*size.Y/p.picture.Y,
	).Add(whole.Bounds().Min)
	if part.Empty() {
		return llm.Image{}, errors.New("the region is too small")
	}
	want := image.Pt(p.picture.X, p.picture.X*part.Dy()/part.Dx())
	if want.Y > p.picture.Y {
		want = image.Pt(p.picture.Y*part.Dx()/part.Dy(), p.picture.Y)
	}
	return encode(scale(whole, part, image.Pt(max(1, want.X), max(1, want.Y))))
}

func scale(src image.Image, part image.Rectangle, size image.Point) image.Image {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(dst, dst.Bounds(), src, part, draw.Src, nil)
	return dst
}

// encode is a picture as PNG or JPEG, whichever is smaller.
func encode(img image.Image) (llm.Image, error) {
	var asPNG, asJPEG bytes.Buffer
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := fast.Encode(&asPNG, img); err != nil {
		return llm.Image{}, fmt.Errorf("encode the picture: %w", err)
	}
	if err := jpeg.Encode(&asJPEG, img, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return llm.Image{}, fmt.Errorf("encode the picture: %w", err)
	}
	if asPNG.Len() <= asJPEG.Len() {
		return llm.Image{MediaType: "image/png", Data: asPNG.Bytes()}, nil
	}
	return llm.Image{MediaType: "image/jpeg", Data: asJPEG.Bytes()}, nil
}
