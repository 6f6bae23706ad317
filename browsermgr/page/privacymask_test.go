package page_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

func white(tb testing.TB, width, height int) *image.RGBA {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	return img
}

func encoded(tb testing.TB, format string, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if format == "jpeg" {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	browsertest.Must(tb, err)
	return b.Bytes()
}

func TestAreasAreCoveredWhereThePictureShowsThem(t *testing.T) {
	v := &page.PrivacyMask{Areas: []page.Area{{Left: 110, Top: 220, Right: 130, Bottom: 230}}, Left: 100, Top: 200, Zoom: 2, PixelRatio: 1.5}
	for _, tc := range []struct {
		name string
		got  []image.Rectangle
		want []image.Rectangle
	}{
		{"viewport", v.ViewportBoxes(1), []image.Rectangle{image.Rect(8, 18, 32, 32)}},
		{"viewport of many pixels", v.ViewportBoxes(3), []image.Rectangle{image.Rect(24, 54, 96, 96)}},
		{"document", v.ClipBoxes(0, 0, 1), []image.Rectangle{image.Rect(108, 218, 132, 232)}},
		{"fractions are covered whole", v.ClipBoxes(0.3, 0.3, 0.5), []image.Rectangle{image.Rect(53, 108, 66, 116)}},
		{"nothing hidden", (*page.PrivacyMask)(nil).ViewportBoxes(1), nil},
		{"nothing hidden in the document", (*page.PrivacyMask)(nil).ClipBoxes(0, 0, 1), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestPaintKeepsTheFormatAndAllElse(t *testing.T) {
	box := image.Rect(4, 4, 8, 8)
	for _, format := range []string{"png", "jpeg"} {
		data, err := page.PaintBoxes(encoded(t, format, white(t, 16, 16)), []image.Rectangle{box, image.Rect(-9, -9, -1, -1), image.Rect(90, 90, 99, 99)})
		browsertest.Must(t, err)
		img, got, err := image.Decode(bytes.NewReader(data))
		if err != nil || got != format || img.Bounds() != image.Rect(0, 0, 16, 16) {
			t.Fatalf("got %s of %v, %v; want %s", got, img, err, format)
		}
		for _, at := range []struct {
			x, y int
			dark bool
		}{{4, 4, true}, {7, 7, true}, {0, 0, false}, {15, 15, false}} {
			if gray := color.GrayModel.Convert(img.At(at.x, at.y)).(color.Gray).Y; (gray < 0xa0) != at.dark {
				t.Errorf("%s: at %d,%d: got gray %#x, want dark %v", format, at.x, at.y, gray, at.dark)
			}
		}
	}
}

func TestPaintWithoutBoxesChangesNothing(t *testing.T) {
	if got, err := page.PaintBoxes([]byte("not a picture"), nil); err != nil || string(got) != "not a picture" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatCannotBeReadIsNotShown(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("not a picture"), encoded(t, "png", white(t, 16, 16))[:40]} {
		if got, err := page.PaintBoxes(data, []image.Rectangle{image.Rect(0, 0, 1, 1)}); err == nil || got != nil {
			t.Errorf("got %d bytes, want an error", len(got))
		}
	}
	if _, err := page.ViewportScale([]byte("not a picture"), 100, 1); err == nil {
		t.Error("got the scale of no picture")
	}
}

func TestScaleIsThatOfTheDocument(t *testing.T) {
	data := encoded(t, "jpeg", white(t, 400, 10))
	for _, tc := range []struct{ width, zoom, want float64 }{{800, 1, 0.5}, {200, 0, 2}, {200, 2, 4}} {
		if got, err := page.ViewportScale(data, tc.width, tc.zoom); err != nil || got != tc.want {
			t.Errorf("%v CSS pixels at zoom %v: got %v, %v, want %v", tc.width, tc.zoom, got, err, tc.want)
		}
	}
	if _, err := page.ViewportScale(data, 0, 1); err == nil {
		t.Error("got a scale for a width of nothing")
	}
}

func TestWhatMovesIsCoveredOnItsWay(t *testing.T) {
	at := func(y int) image.Rectangle { return image.Rect(0, y, 10, y+10) }
	for name, tc := range map[string]struct {
		before, after []image.Rectangle
		want          image.Rectangle
	}{
		"still":   {[]image.Rectangle{at(0)}, []image.Rectangle{at(0)}, at(0)},
		"came":    {nil, []image.Rectangle{at(50)}, at(50)},
		"went":    {[]image.Rectangle{at(50)}, nil, at(50)},
		"moves":   {[]image.Rectangle{at(0)}, []image.Rectangle{at(50)}, image.Rect(0, 0, 10, 60)},
		"divides": {[]image.Rectangle{at(40)}, []image.Rectangle{at(0), at(80)}, image.Rect(0, 0, 10, 90)},
	} {
		var got image.Rectangle
		whole := false
		for _, b := range page.SweptBoxes(tc.before, tc.after) {
			got = got.Union(b)
			whole = whole || b == tc.want
		}
		if got != tc.want || !whole {
			t.Errorf("%s: got %v, want %v in one piece", name, got, tc.want)
		}
	}
}
