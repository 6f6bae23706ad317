package page_test

import (
	"bytes"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

func TestScreenshot(t *testing.T) {
	tab := show(t, `<style>::-webkit-scrollbar{display:none} body{margin:0;height:3000px;background:#00f}</style><button style="position:absolute;top:2000px;left:50px;width:120px;height:40px;border:0;background:#f00">B</button>`)
	act(t, tab, page.Action{Kind: actiontable.KindResize, Width: 800, Height: 600})
	ref := refOf(t, tab, `"B"`)
	tests := []struct {
		name          string
		opts          page.ScreenshotOptions
		format        string
		width, height int
		red           bool // the colour of the corner
	}{
		{"viewport", page.ScreenshotOptions{}, "png", 800, 600, false},
		{"jpeg", page.ScreenshotOptions{Format: "jpeg", Quality: 50}, "jpeg", 800, 600, false},
		{"full page", page.ScreenshotOptions{FullPage: true}, "png", 800, 3000, false},
		{"element", page.ScreenshotOptions{Ref: ref}, "png", 120, 40, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tab.Screenshot(t.Context(), tt.opts)
			browsertest.Must(t, err)
			img, format, err := image.Decode(bytes.NewReader(data))
			browsertest.Must(t, err)
			if size := img.Bounds().Size(); format != tt.format || size != image.Pt(tt.width, tt.height) {
				t.Errorf("got %s of %v, want %s of %dx%d", format, size, tt.format, tt.width, tt.height)
			}
			if r, _, b, _ := img.At(2, 2).RGBA(); (r > b) != tt.red {
				t.Errorf("got corner red %d blue %d", r, b)
			}
		})
	}
	browsertest.WantJS(t, tab, "[innerWidth, innerHeight]", "[800,600]")
	for _, opts := range []page.ScreenshotOptions{{Format: "gif"}, {Quality: 101}, {FullPage: true, Ref: ref}} {
		if _, err := tab.Screenshot(t.Context(), opts); !errors.Is(err, page.ErrInvalid) {
			t.Errorf("%+v: got %v, want it refused", opts, err)
		}
	}
	browsertest.WantError(t, browsertest.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: "e99"})),
		page.ErrUnknownRef)
}
