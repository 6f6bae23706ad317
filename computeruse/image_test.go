package computeruse_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"clank/computeruse"
)

// drawn returns a PNG; noise makes it hard to compress.
func drawn(t *testing.T, size image.Point, noise bool) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rectangle{Max: size})
	seed := uint32(1)
	for x := range size.X {
		for y := range size.Y {
			if noise {
				seed = seed*1664525 + 1013904223
			}
			img.Set(x, y, color.RGBA{byte(seed >> 24), byte(seed >> 16), byte(seed >> 8), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func half(p image.Point) image.Point { return p.Div(2) }
func same(p image.Point) image.Point { return p }

func TestAPictureThatFitsIsPassedOn(t *testing.T) {
	data := drawn(t, image.Pt(20, 10), false)
	img, size, err := computeruse.FitImage(data, same)
	if err != nil || img.MediaType != "image/png" || !bytes.Equal(img.Data, data) || size != image.Pt(20, 10) {
		t.Errorf("got %s of %v, %v; want it as it was", img.MediaType, size, err)
	}
}

func TestTheSmallerFormIsSent(t *testing.T) {
	for noise, want := range map[bool]string{true: "image/jpeg", false: "image/png"} {
		img, size, err := computeruse.FitImage(drawn(t, image.Pt(200, 100), noise), half)
		if err != nil || img.MediaType != want || size != image.Pt(100, 50) {
			t.Errorf("noise %t: got %s of %v, %v; want %s", noise, img.MediaType, size, err, want)
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(img.Data))
		if err != nil || config.Width != 100 || config.Height != 50 {
			t.Errorf("noise %t: it is %d by %d, %v", noise, config.Width, config.Height, err)
		}
	}
}

func TestASizeThatIsNoneIsNotTaken(t *testing.T) {
	_, size, err := computeruse.FitImage(drawn(t, image.Pt(20, 10), false), func(image.Point) image.Point { return image.Point{} })
	if err != nil || size != image.Pt(20, 10) {
		t.Errorf("got %v, %v; want the picture's own size", size, err)
	}
}

func TestGarbageIsNoPicture(t *testing.T) {
	whole := drawn(t, image.Pt(20, 10), true)
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("<html>"), "cut": whole[:len(whole)/2]} {
		if _, _, err := computeruse.FitImage(data, half); err == nil {
			t.Errorf("%s was taken for a picture", name)
		}
	}
}

func TestAPartIsCutFromTheWholePicture(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for x := 100; x < 120; x++ {
		for y := 40; y < 50; y++ {
			img.Set(x, y, color.White)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	part, err := computeruse.CropImage(b.Bytes(), image.Rect(60, 25, 50, 20), image.Pt(100, 50)) // corners in any order
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := image.Decode(bytes.NewReader(part.Data))
	if err != nil || got.Bounds().Size() != image.Pt(100, 50) {
		t.Fatalf("got %v, %v; want it as large as fits", got, err)
	}
	if r, _, _, _ := got.At(50, 25).RGBA(); r < 0xf000 {
		t.Errorf("its middle is %x, want white", r)
	}
	for name, region := range map[string]image.Rectangle{"outside": image.Rect(500, 500, 600, 600), "empty": {}} {
		if _, err := computeruse.CropImage(b.Bytes(), region, image.Pt(100, 50)); err == nil {
			t.Errorf("a region %s was shown", name)
		}
	}
}

func TestPixelsAreReadFromPicturesInJPEG(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20)), nil); err != nil {
		t.Fatal(err)
	}
	if img, _, err := computeruse.FitImage(b.Bytes(), same); err != nil || img.MediaType != "image/jpeg" {
		t.Errorf("got %s, %v", img.MediaType, err)
	}
}

func TestPointsAreInsideOfTheViewport(t *testing.T) {
	g := computeruse.ScreenGeometry{Picture: image.Pt(100, 50), Width: 300, Height: 150}
	for in, want := range map[image.Point]computeruse.CSSPoint{
		{}: {X: 1.5, Y: 1.5}, {X: 99, Y: 49}: {X: 298.5, Y: 148.5}, {X: -9, Y: 1 << 40}: {X: 0, Y: 149.5},
	} {
		if got := g.ToViewport(in); got != want {
			t.Errorf("%v is at %v, want %v", in, got, want)
		}
	}
	if got := g.ToPicture(g.ToViewport(image.Pt(7, 9))); got != image.Pt(7, 9) {
		t.Errorf("there and back is %v, want 7, 9", got)
	}
}
