package screenshot

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"clank/internal/test/check"
)

// noise returns a PNG that cannot be compressed without loss.
func noise(tb testing.TB, width, height int) []byte {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0xff
	}
	var b bytes.Buffer
	check.Must(tb, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img))
	return b.Bytes()
}

func TestPicturesAreBroughtToSize(t *testing.T) {
	for _, tt := range []struct {
		name          string
		width, height int
		most          int
		kind          string
		longest       int
	}{
		{"within both limits", 300, 200, MaxBytes, "png", 300},
		{"too long", 2100, 20, MaxBytes, "jpeg", 2000},
		{"too many bytes, quality suffices", 300, 200, 60_000, "jpeg", 300},
		{"too many bytes for its quality", 1100, 100, 34_000, "jpeg", 1100},
		{"down the ladder", 1100, 100, 19_000, "jpeg", 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := noise(t, tt.width, tt.height)
			got, err := fitWithin(t.Context(), data, "png", nil, tt.most)
			check.Must(t, err)
			if got.Type != tt.kind || len(got.Data) > tt.most || max(got.Width, got.Height) > tt.longest {
				t.Errorf("got %s of %dx%d, %d bytes", got.Type, got.Width, got.Height, len(got.Data))
			}
			if tt.kind == "png" != bytes.Equal(got.Data, data) {
				t.Error("only a picture within both limits keeps its bytes")
			}
		})
	}
	check.Fails(t, check.Err(fitWithin(t.Context(), noise(t, 200, 200), "png", nil, 300)), errTooLarge)
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	check.Fails(t, check.Err(fitWithin(ctx, noise(t, 200, 200), "png", nil, 300)), stopped)
}

func TestASmallPictureIsNeverEnlarged(t *testing.T) {
	got, err := fitWithin(t.Context(), noise(t, 120, 90), "png", nil, 9000)
	if err != nil || got.Width != 120 || got.Height != 90 {
		t.Errorf("got %dx%d, %v", got.Width, got.Height, err)
	}
}

func TestBoxesAreScaledWithThePicture(t *testing.T) {
	labels := []Label{{Ref: "e1"}, {Ref: "f2e34"}}
	places := map[string]elementPlace{
		"e1":    {cssBox: cssBox{100, 200, 300, 260}, Seen: true, Part: cssBox{100, 200, 300, 260}},
		"f2e34": {cssBox: cssBox{3000, 0, 3900, 50}, Seen: true, Part: cssBox{3000, 0, 3900, 50}},
	}
	var black bytes.Buffer
	check.Must(t, png.Encode(&black, image.NewGray(image.Rect(0, 0, 4000, 400))))
	got, err := fitWithin(t.Context(), black.Bytes(), "png", newSketch(labels, places, pictureArea{scale: 1}), MaxBytes)
	check.Must(t, err)
	want := []Annotation{
		{Ref: "e1", Number: 1, Box: Box{50, 100, 100, 30}},
		{Ref: "f2e34", Number: 34, Box: Box{1500, 0, 450, 25}},
	}
	if got.Width != 2000 || fmt.Sprint(got.Annotations) != fmt.Sprint(want) || got.Drawn != 2 {
		t.Errorf("got width %d and %+v", got.Width, got.Annotations)
	}
}

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 2, 3))
	img.Set(0, 0, color.White)
	check.Must(f, png.Encode(&b, img))
	f.Add(fmt.Appendf(nil, `{"data":%q,"metadata":{"deviceWidth":2,"timestamp":1.5},"sessionId":4}`,
		base64.StdEncoding.EncodeToString(b.Bytes())))
	f.Add([]byte(`{"data":"UklGRg==","sessionId":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, params []byte) {
		got, _, err := parseFrame(params)
		if err == nil && (got.Width <= 0 || got.Height <= 0 || got.Type == "" || len(got.Data) == 0) {
			t.Errorf("got %+v", got)
		}
	})
}

func FuzzLabelsStayInThePicture(f *testing.F) {
	f.Add("e1", 10.0, 20.0, 30.0, 40.0, 1.0)
	f.Add("f9e123456789", -1e9, 1e9, 5.0, -5.0, 3.0)
	f.Fuzz(func(t *testing.T, ref string, left, top, right, bottom, scale float64) {
		if len(ref) > 50 || !(scale > 0 && scale < 10) {
			return
		}
		b := cssBox{left, top, right, bottom}
		canvas := image.NewRGBA(image.Rect(0, 0, 60, 40))
		var out Image
		newSketch([]Label{{Ref: ref}}, map[string]elementPlace{ref: {cssBox: b, Seen: true, Part: b}},
			pictureArea{scale: scale}).draw(canvas, 1, &out)
		if out.Drawn+out.Skipped != 1 {
			t.Errorf("got %d drawn and %d skipped", out.Drawn, out.Skipped)
		}
	})
}
