package golive_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/internal/test/rtctest"
	"clank/voice/discord/golive"
)

func TestAPreviewShowsWhatTheFrameShows(t *testing.T) {
	for name, tc := range map[string]struct {
		frame   []byte
		r, g, b uint32
	}{"red": {rtctest.Red().Data, 255, 0, 0}, "blue": {rtctest.Blue().Data, 0, 0, 255}} {
		t.Run(name, func(t *testing.T) {
			data, err := golive.PreviewJPEG(tc.frame)
			if err != nil {
				t.Fatal(err)
			}
			img, err := jpeg.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			size := img.Bounds().Size()
			full := rtctest.Red()
			if size.X > 512 || size.Y > 288 || len(data) > 128<<10 || size.X*full.Height-size.Y*full.Width > full.Width {
				t.Errorf("it is of %v and %d bytes, the frame of %d by %d", size, len(data), full.Width, full.Height)
			}
			r, g, b, _ := img.At(size.X/2, size.Y/2).RGBA()
			far := func(got, want uint32) bool { return max(got>>8, want)-min(got>>8, want) > 12 }
			if far(r, tc.r) || far(g, tc.g) || far(b, tc.b) {
				t.Errorf("it is of colour %d, %d, %d", r>>8, g>>8, b>>8)
			}
		})
	}
}

func TestWhatIsNoKeyFrameHasNoPreview(t *testing.T) {
	good := rtctest.Red().Data
	between := bytes.Clone(good)
	between[0] |= 1
	empty := bytes.Clone(good)
	copy(empty[6:], []byte{0, 0, 0, 0})
	huge := bytes.Clone(good)
	copy(huge[6:], []byte{0xff, 0x3f, 0xff, 0x3f})
	for name, frame := range map[string][]byte{
		"nothing": nil, "garbage": []byte("<html>"), "cut off": good[:12], "between two key frames": between, "of no size": empty, "of a huge size": huge,
	} {
		if data, err := golive.PreviewJPEG(frame); err == nil {
			t.Errorf("%s: %d bytes and no error", name, len(data))
		}
	}
}

func FuzzJPEG(f *testing.F) {
	f.Add(rtctest.Red().Data)
	f.Add(rtctest.Blue().Data)
	f.Add([]byte{0, 0, 0, 0x9d, 1, 0x2a, 64, 0, 48, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		if len(frame) > 9 && (int(frame[7]&0x3f)<<8|int(frame[6]) > 256 || int(frame[9]&0x3f)<<8|int(frame[8]) > 256) {
			t.Skip("large ones are slow")
		}
		data, err := golive.PreviewJPEG(frame)
		if err != nil {
			return
		}
		if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("a preview of %d bytes cannot be read: %v", len(data), err)
		}
	})
}

func TestAPreviewIsUploadedAsTheAccount(t *testing.T) {
	var path, token, kind string
	var body struct {
		Thumbnail string `json:"thumbnail"`
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, token, kind = r.Method+" "+r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type")
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	p := &golive.PreviewPoster{API: srv.URL + "/api/v9", Token: "of eve"}
	if err := p.Post(t.Context(), "guild:1:2:3", rtctest.Red().Data); err != nil {
		t.Fatal(err)
	}
	if path != "POST /api/v9/streams/guild:1:2:3/preview" || token != "of eve" || kind != "application/json" {
		t.Errorf("got %s as %q with %s", path, token, kind)
	}
	data, isJPEG := strings.CutPrefix(body.Thumbnail, "data:image/jpeg;base64,")
	picture, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !isJPEG {
		t.Fatalf("the picture begins with %.30q, %v", body.Thumbnail, err)
	}
	if _, err := jpeg.Decode(bytes.NewReader(picture)); err != nil {
		t.Error(err)
	}
}

func TestARefusedPreviewIsAnErrorWithoutTheToken(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	}))
	p := &golive.PreviewPoster{API: srv.URL, Token: "hunter2"}
	err := p.Post(t.Context(), "k", rtctest.Red().Data)
	if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got error %v", err)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errOver)
	if err := p.Post(gone, "k", rtctest.Red().Data); !errors.Is(err, errOver) {
		t.Errorf("got error %v, want %v", err, errOver)
	}
	srv.Close()
	if err := p.Post(t.Context(), "k", rtctest.Red().Data); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got error %v of a server that is not there", err)
	}
	if err := p.Post(t.Context(), "k", nil); err == nil {
		t.Error("nothing was shown, and no error told")
	}
}

var errOver = errors.New("the stream is over")

func BenchmarkJPEG(b *testing.B) {
	frame := rtctest.Red().Data
	b.ReportAllocs()
	for b.Loop() {
		if _, err := golive.PreviewJPEG(frame); err != nil {
			b.Fatal(err)
		}
	}
}
