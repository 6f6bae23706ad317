package computeruse

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // screens may give pictures in it
)

// modelScreenshot is a screenshot and its form for the model.
type modelScreenshot struct {
	sum   [sha256.Size]byte // of the screenshot as it was taken
	n     int               // its number in the album
	raw   []byte
	image llm.Image // in the size that the model wants
	ScreenGeometry
}

// prepareScreenshot converts a screenshot for the model, unless it equals the last one.
func (r *run) prepareScreenshot(shot sessions.Screenshot) error {
	sum, last := sha256.Sum256(shot.Data), &r.screenshot
	if last.Known() && last.sum == sum && last.Width == shot.Width && last.Height == shot.Height {
		return nil
	}
	if !(shot.Width > 0 && shot.Height > 0) {
		return errors.New("read the picture of the screen: the viewport has no size")
	}
	img, size, err := FitImage(shot.Data, r.model.Fit)
	if err != nil {
		return err
	}
	r.screenshot = modelScreenshot{
		sum: sum, n: r.state.album.Add(img), raw: shot.Data, image: img,
		ScreenGeometry: ScreenGeometry{Picture: size, Width: shot.Width, Height: shot.Height},
	}
	return nil
}

// capture takes a screenshot and updates the page's address and title. It returns the picture for people; nil if it
// failed, which the model is told.
func (r *run) capture(ctx context.Context, s sessions.Page) *llm.Image {
	if r.screenshotCurrent {
		return r.stepImage()
	}
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	if at, title, _, err := s.State(ctx); err == nil {
		r.state.url, r.state.title = at, title
	}
	shot, err := s.Screenshot(ctx, "")
	if err == nil {
		err = r.prepareScreenshot(shot)
	}
	r.screenshotCurrent = true
	if err != nil {
		r.screenshot = modelScreenshot{}
		r.log.Debug("no picture of the screen", "err", err)
		r.state.memory.Next.addUserText("The screen could not be seen. If the page shows a dialog, answer it with " +
			ToolDialog + ".\n" + untrusted.Wrap("error: "+untrusted.CleanLine(err.Error(), maxNote)))
		return nil
	}
	return r.stepImage()
}

// stepImage returns the picture as people see it.
func (r *run) stepImage() *llm.Image {
	if !r.screenshot.Known() {
		return nil
	}
	image := r.screenshot.image // replaced by the next screenshot
	return &image
}

// showScreenshot puts the picture into the answer.
func (r *run) showScreenshot() {
	if view := r.stepImage(); view != nil && !r.seen[r.screenshot.sum] && len(r.shown) < maxShown {
		r.seen[r.screenshot.sum] = true
		r.shown = append(r.shown, *view)
	}
}

const (
	jpegQuality    = 85
	maxImagePixels = 100_000_000 // of a picture that is decoded
)

// FitImage returns the picture in data, scaled to the size that fit returns for its size. A PNG or JPEG of that size is
// returned unchanged; anything else becomes one of the two, whichever is smaller.
func FitImage(data []byte, fit func(image.Point) image.Point) (llm.Image, image.Point, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return llm.Image{}, image.Point{}, fmt.Errorf("read the picture of the screen: %w", err)
	case config.Width <= 0 || config.Height <= 0 || config.Width*config.Height > maxImagePixels:
		return llm.Image{}, image.Point{}, fmt.Errorf("read the picture of the screen: %d by %d pixels", config.Width,
			config.Height)
	}
	size := image.Pt(config.Width, config.Height)
	want := fit(size)
	if want.X <= 0 || want.Y <= 0 {
		want = size
	}
	if want == size && (format == "png" || format == "jpeg") {
		return llm.Image{MediaType: "image/" + format, Data: data}, size, nil
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return llm.Image{}, image.Point{}, fmt.Errorf("read the picture of the screen: %w", err)
	}
	small := scaleImage(whole, whole.Bounds(), want)
	if format == "jpeg" { // it has lost already what a PNG would keep
		img, err := encodeJPEG(small)
		return img, want, err
	}
	img, err := encodeImage(small)
	return img, want, err
}

// CropImage returns a part of the picture in data, as large as fits into shown. The region is given in pixels of the
// picture when it has that size.
func CropImage(data []byte, region image.Rectangle, shown image.Point) (llm.Image, error) {
	if shown.X <= 0 || shown.Y <= 0 {
		return llm.Image{}, errors.New("there is no picture")
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return llm.Image{}, fmt.Errorf("read the picture of the screen: %w", err)
	}
	region = region.Canon().Intersect(image.Rectangle{Max: shown})
	size := whole.Bounds().Size()
	part := image.Rect(
		region.Min.X*size.X/shown.X, region.Min.Y*size.Y/shown.Y,
		region.Max.X*size.X/shown.X, region.Max.Y*size.Y/shown.Y,
	).Add(whole.Bounds().Min)
	if part.Empty() {
		return llm.Image{}, errors.New("the region is too small")
	}
	want := image.Pt(shown.X, shown.X*part.Dy()/part.Dx())
	if want.Y > shown.Y {
		want = image.Pt(shown.Y*part.Dx()/part.Dy(), shown.Y)
	}
	return encodeImage(scaleImage(whole, part, image.Pt(max(1, want.X), max(1, want.Y))))
}

// scaleImage scales part of a picture to a size. Down to half, each new pixel is the mean of its neighbours, which
// skips none and takes a tenth of the time; below that, pixels would be skipped.
func scaleImage(src image.Image, part image.Rectangle, size image.Point) image.Image {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	var by draw.Scaler = draw.CatmullRom
	if shrinks := size.X < part.Dx() && size.Y < part.Dy(); shrinks && 2*size.X >= part.Dx() && 2*size.Y >= part.Dy() {
		by = draw.ApproxBiLinear
	}
	by.Scale(dst, dst.Bounds(), src, part, draw.Src, nil)
	return dst
}

// encodeImage returns a picture as PNG or JPEG, whichever is smaller.
func encodeImage(img image.Image) (llm.Image, error) {
	var asPNG bytes.Buffer
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := fast.Encode(&asPNG, img); err != nil {
		return llm.Image{}, fmt.Errorf("encode the picture: %w", err)
	}
	other, err := encodeJPEG(img)
	if err == nil && asPNG.Len() <= len(other.Data) {
		return llm.Image{MediaType: "image/png", Data: asPNG.Bytes()}, nil
	}
	return other, err
}

func encodeJPEG(img image.Image) (llm.Image, error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return llm.Image{}, fmt.Errorf("encode the picture: %w", err)
	}
	return llm.Image{MediaType: "image/jpeg", Data: b.Bytes()}, nil
}
