package browsermgr

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"os"
	"testing"
	"time"

	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/videosource"

	"golang.org/x/image/vp8"
)

// open returns a host whose browser ends soon after its last encoder.
func open(tb testing.TB) *encoderHost {
	tb.Helper()
	h := &encoderHost{idleAfter: time.Millisecond, manager: &Manager{Config: func() profile.Config {
		return profile.Config{
			Executable: os.Getenv("CLANK_CHROMIUM"), NoSandbox: true,
			LaunchTimeout: time.Minute, ReadyTimeout: time.Minute,
		}
	}}}
	tb.Cleanup(h.Close)
	return h
}

func encoder(tb testing.TB, h *encoderHost) videosource.Encoder {
	tb.Helper()
	e, err := h.Open(browsertest.Within(tb, browsertest.Patience))
	check.Must(tb, err)
	return e
}

// picture returns a JPEG with stripes of two colours.
func picture(tb testing.TB, width, height int, one color.Color) []byte {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Rect, image.NewUniform(one), image.Point{}, draw.Src)
	for y := height / 2; y < height; y += 8 {
		draw.Draw(img, image.Rect(0, y, width, y+4), image.White, image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	check.Must(tb, jpeg.Encode(&out, img, nil))
	return out.Bytes()
}

func encode(tb testing.TB, e videosource.Encoder, jpeg []byte, key bool) []byte {
	tb.Helper()
	data, err := e.Encode(browsertest.Within(tb, browsertest.Patience), jpeg, key, 2_000_000)
	check.Must(tb, err)
	if len(data) == 0 {
		tb.Fatal("the frame was left out")
	}
	return data
}

// wantKey decodes a key frame and compares its size, and the colour at the top.
func wantKey(t *testing.T, data []byte, width, height int, want color.RGBA) {
	t.Helper()
	d := vp8.NewDecoder()
	d.Init(bytes.NewReader(data), len(data))
	head, err := d.DecodeFrameHeader()
	if err != nil || !head.KeyFrame || head.Width != width || head.Height != height {
		t.Fatalf("got %+v (%v), want a key frame of %d x %d", head, err, width, height)
	}
	img, err := d.DecodeFrame()
	check.Must(t, err)
	r, g, b, _ := img.At(width/4, height/4).RGBA()
	for i, got := range []uint32{r >> 8, g >> 8, b >> 8} {
		if w := int([]uint8{want.R, want.G, want.B}[i]); int(got) < w-40 || int(got) > w+40 {
			t.Errorf("it shows %d %d %d, want %v", r>>8, g>>8, b>>8, want)
			break
		}
	}
}

func TestPicturesBecomeVideo(t *testing.T) {
	h := open(t)
	e, other := encoder(t, h), encoder(t, h)
	red, blue := color.RGBA{R: 200, A: 255}, color.RGBA{B: 200, A: 255}
	first := encode(t, e, picture(t, 640, 360, red), false)
	wantKey(t, first, 640, 360, red)
	wantKey(t, encode(t, other, picture(t, 320, 180, blue), false), 320, 180, blue)
	if next := encode(t, e, nil, false); next[0]&1 == 0 || len(next) > len(first)/2 {
		t.Errorf("the same picture is a frame of %d bytes after one of %d, want a small one", len(next), len(first))
	}
	if next := encode(t, e, picture(t, 640, 360, blue), false); next[0]&1 == 0 {
		t.Error("another picture is a key frame")
	}
	wantKey(t, encode(t, e, nil, true), 640, 360, blue)
	white := vp8.NewDecoder()
	data := encode(t, e, picture(t, 640, 360, color.White), true)
	white.Init(bytes.NewReader(data), len(data))
	check.Must(t, check.Err(white.DecodeFrameHeader()))
	shown, err := white.DecodeFrame()
	check.Must(t, err)
	if got := shown.Y[0]; got < 230 || got > 240 { // ITU-T H.264 E.2.1: limited range, which players take VP8 to have
		t.Errorf("white has the brightness %d, want 235", got)
	}
	wantKey(t, encode(t, e, picture(t, 641, 361, red), false), 641, 361, red)
	ctx := browsertest.Within(t, 2*browsertest.Patience)
	check.Fails(t, check.Err(e.Encode(ctx, []byte("no picture"), false, 1_000_000)),
		nil, "the encoder failed: EncodingError")
	wantKey(t, encode(t, e, picture(t, 640, 360, red), true), 640, 360, red)
	e.Close()
	other.Close()
	again := encoder(t, h) // whether the browser has ended meanwhile or not
	wantKey(t, encode(t, again, picture(t, 640, 360, red), false), 640, 360, red)
	h.Close()
	check.Fails(t, check.Err(again.Encode(ctx, picture(t, 640, 360, red), false, 1_000_000)), nil, "the browser is gone")
	check.Fails(t, check.Err(h.Open(t.Context())), nil, "the browser manager is closed")
}

func BenchmarkFrame(b *testing.B) {
	e := encoder(b, open(b))
	red, blue := color.RGBA{R: 200, A: 255}, color.RGBA{B: 200, A: 255}
	pictures := [][]byte{picture(b, 1280, 720, red), picture(b, 1280, 720, blue)}
	for b.Loop() {
		encode(b, e, pictures[0], false)
		pictures[0], pictures[1] = pictures[1], pictures[0]
	}
}
