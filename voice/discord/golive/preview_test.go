package golive_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image/jpeg"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/rtctest"
	"clank/videosource"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
)

// board is where previews are shown.
type board struct {
	mu    sync.Mutex
	keys  []string
	fails error
	hangs bool
}

func (b *board) show(ctx context.Context, key string, frame []byte) error {
	if b.hangs {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(frame) != 12 {
		return errors.New("no such frame was made")
	}
	b.keys = append(b.keys, key)
	return b.fails
}

// count returns how many were shown, all of the stream that there is.
func (b *board) count(t *testing.T) int {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.keys {
		check.Equal(t, "a preview of", k, key)
	}
	return len(b.keys)
}

func TestAPreviewIsShownAtTheStartAndFromTimeToTime(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		b := &board{}
		w.pub.Preview = b.show
		s := w.start(t, nil)
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 0}) // nobody watches: those who do not are whom it is for
		pass(10 * time.Second)
		check.Equal(t, "previews at the start", b.count(t), 1)
		pass(11 * time.Minute)
		check.Equal(t, "previews in eleven minutes", b.count(t), 3)
		w.event(conn.Event{Kind: conn.Down})
		pass(time.Hour)
		if got := b.count(t); got != 3 {
			t.Errorf("%d previews were shown of a stream that is interrupted", got-3)
		}
		w.event(conn.Event{Kind: conn.Up})
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 100})
		pass(6 * time.Minute)
		if got := b.count(t); got < 4 {
			t.Error("none was shown when it went on")
		}
		check.Must(t, s.Stop(t.Context()))
		before := b.count(t)
		pass(time.Hour)
		if got := b.count(t); got != before {
			t.Errorf("%d previews were shown after the end", got-before)
		}
	})
}

func TestAPreviewThatFailsHarmsNothingAndIsNotedOnce(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		b := &board{fails: errors.New("code 403")}
		var log bytes.Buffer
		w.pub.Preview, w.pub.Logger = b.show, slog.New(slog.NewTextHandler(&log, nil))
		s := w.start(t, nil)
		pass(16 * time.Minute)
		if st := s.State(); st.Status != golive.Playing || b.count(t) != 4 {
			t.Errorf("after %d tries the stream is %+v", b.count(t), st)
		}
		check.Must(t, s.Stop(t.Context()))
		if got := strings.Count(log.String(), "code 403"); got != 1 {
			t.Errorf("it was noted %d times:\n%s", got, log.String())
		}
	})
}

func TestNobodyWaitsForAPreview(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		b := &board{hangs: true}
		w.pub.Preview = b.show
		s := w.start(t, nil)
		pass(10 * time.Second)
		if st := s.State(); st.Status != golive.Playing || st.Sent == 0 {
			t.Errorf("got %+v while a preview is uploaded", st)
		}
		began := time.Now()
		if err := s.Stop(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("error %v, and the stream took %s to end", err, time.Since(began))
		}
	})
}

// poster is a page that is red.
type poster struct{}

func (poster) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	return framed(rtctest.Red().Data), "", nil
}

func TestDiscordGetsThePreview(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	eve := w.CreateAccount("eve", "of eve")
	a := w.signIn(t, eve, true)
	a.Publisher().Preview = (&golive.PreviewPoster{API: w.URL + "/api/v9", Token: eve.Token}).Post
	src := &videosource.Source{Screen: poster{}, IdleFPS: 20}
	running, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = src.Run(running) }()
	defer func() { end(); <-over }()
	ctx := voicetest.Deadline(t)
	s, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: src})
	check.Must(t, err)
	eventually(t, "the preview", func() bool {
		return strings.HasPrefix(w.Streams()[s.State().Key].Preview, "data:image/jpeg;base64,")
	})
	check.Must(t, s.Stop(ctx))
}

func TestAPreviewShowsWhatTheFrameShows(t *testing.T) {
	for name, tc := range map[string]struct {
		frame   []byte
		r, g, b uint32
	}{"red": {rtctest.Red().Data, 255, 0, 0}, "blue": {rtctest.Blue().Data, 0, 0, 255}} {
		t.Run(name, func(t *testing.T) {
			data, err := golive.PreviewJPEG(tc.frame)
			check.Must(t, err)
			img, err := jpeg.Decode(bytes.NewReader(data))
			check.Must(t, err)
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
	for _, frame := range map[string][]byte{
		"nothing": nil, "garbage": []byte("<html>"), "cut off": good[:12], "between two key frames": between,
		"of no size": empty, "of a huge size": huge,
	} {
		check.Fails(t, check.Err(golive.PreviewJPEG(frame)), nil, "preview")
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
	check.Must(t, p.Post(t.Context(), "guild:1:2:3", rtctest.Red().Data))
	if path != "POST /api/v9/streams/guild:1:2:3/preview" || token != "of eve" || kind != "application/json" {
		t.Errorf("got %s as %q with %s", path, token, kind)
	}
	data, isJPEG := strings.CutPrefix(body.Thumbnail, "data:image/jpeg;base64,")
	picture, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !isJPEG {
		t.Fatalf("the picture begins with %.30q, %v", body.Thumbnail, err)
	}
	check.Must(t, check.Err(jpeg.Decode(bytes.NewReader(picture))))
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
	check.Fails(t, p.Post(gone, "k", rtctest.Red().Data), errOver)
	srv.Close()
	if err := p.Post(t.Context(), "k", rtctest.Red().Data); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got error %v of a server that is not there", err)
	}
	check.Fails(t, p.Post(t.Context(), "k", nil), io.ErrUnexpectedEOF)
}

var errOver = errors.New("the stream is over")

func BenchmarkJPEG(b *testing.B) {
	frame := rtctest.Red().Data
	b.ReportAllocs()
	for b.Loop() {
		check.Must(b, check.Err(golive.PreviewJPEG(frame)))
	}
}
