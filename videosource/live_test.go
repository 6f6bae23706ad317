package videosource_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/videosource"
)

// live is a fake page with a screencast, and the encoder of its pictures.
type live struct {
	screen

	changes chan string // new contents of the page
	broken  chan error  // ends the screencast
	casts   int         // screencasts started
	running int         // screencasts not ended

	refused  error // error of OpenEncoder
	opened   int
	closed   int
	last     []byte // last picture encoded
	keys     []bool // of each encoded frame
	bitrates []int
}

func newLive(text string) *live {
	return &live{screen: screen{text: text}, changes: make(chan string), broken: make(chan error)}
}

func (l *live) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	l.set(func(*screen) { l.casts++; l.running++ })
	defer l.set(func(*screen) { l.running-- })
	for {
		l.mu.Lock()
		text := l.text
		l.mu.Unlock()
		show(videosource.Picture{JPEG: []byte(text), Width: 64, Height: 48, URL: l.url, Drawn: time.Now()})
		select {
		case text := <-l.changes:
			l.set(func(s *screen) { s.text = text })
		case err := <-l.broken:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *live) open(context.Context) (videosource.Encoder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	return l, l.refused
}

// Encode returns the picture as a key frame, or 0x01 and the picture.
func (l *live) Encode(_ context.Context, jpeg []byte, key bool, bitrate int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys, l.bitrates = append(l.keys, key), append(l.bitrates, bitrate)
	if jpeg != nil {
		l.last = jpeg
	}
	if key {
		return vp8(64, 48, string(l.last)), l.refused
	}
	return append([]byte{1}, l.last...), l.refused
}

// encoded returns for each frame so far whether it was requested as a key frame.
func (l *live) encoded() []bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.keys)
}

func (l *live) Close() { l.set(func(*screen) { l.closed++ }) }

// follow runs a source of the page with viewers of the given formats.
func (l *live) follow(t *testing.T, formats ...videosource.Format) (*videosource.Source, []*videosource.Viewer) {
	t.Helper()
	var viewers []*videosource.Viewer
	src := &videosource.Source{Screen: l, OpenEncoder: l.open}
	running(t, src)
	for _, f := range formats {
		v := src.SubscribeTo(f)
		t.Cleanup(v.Close)
		viewers = append(viewers, v)
	}
	return src, viewers
}

// takeAll returns the frames queued for a viewer.
func takeAll(v *videosource.Viewer) (frames []videosource.Frame) {
	synctest.Wait()
	for {
		select {
		case f := <-v.Frames():
			frames = append(frames, f)
		default:
			return frames
		}
	}
}

func TestOneScreencastServesAllAndAStillPageCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		const video, jpeg = videosource.Video, videosource.JPEG
		src, viewers := page.follow(t, video, video, video, jpeg, jpeg, jpeg)
		pass(5 * time.Second)
		for i, v := range viewers {
			if len(takeAll(v)) == 0 {
				t.Errorf("viewer %d got no frame", i)
			}
		}
		page.count()
		before := src.Stats()
		pass(time.Minute)
		if page.casts != 1 || page.opened != 1 {
			t.Errorf("%d screencasts and %d encoders for six viewers, want one", page.casts, page.opened)
		}
		page.wantPictures(t, 0, 0, "screenshots were taken of a page that tells of its changes, want none")
		if got := src.Stats(); got.Encoded-before.Encoded > 25 || got.Pictures != 1 {
			t.Errorf("a still minute cost %d frames of %d pictures; want at most 25 of 1", got.Encoded-before.Encoded,
				got.Pictures)
		}
		for _, v := range viewers {
			takeAll(v)
		}
		page.changes <- "b"
		for i, v := range viewers {
			if got := takeAll(v); len(got) != 1 || got[0].JPEG != (i >= 3) || !slices.Contains(got[0].Data, 'b') {
				t.Errorf("viewer %d got %d frames of a change, want one that shows it, at once", i, len(got))
			}
		}
		late := src.SubscribeTo(videosource.JPEG)
		if f := next(t, late, videosource.Initial); string(f.Data) != "b" {
			t.Errorf("who comes late got %q, want the last picture", f.Data)
		}
		for _, v := range append(viewers, late) {
			v.Close()
		}
		synctest.Wait()
		if page.running != 0 || page.closed != 1 {
			t.Errorf("%d screencasts go on, %d encoders were closed", page.running, page.closed)
		}
		pass(time.Minute)
		if page.casts != 1 {
			t.Error("a screencast began for nobody")
		}
	})
}

func TestVideoBeginsWithAKeyFrameWheneverSomebodyNeedsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		src, viewers := page.follow(t, videosource.Video)
		pass(5 * time.Second)
		frames := takeAll(viewers[0])
		for i, f := range frames[1:] {
			if f.Whole() && string(f.Data[10:]) != "a" {
				t.Errorf("frame %d is %q", i, f.Data)
			}
		}
		page.changes <- "b"
		if f := next(t, viewers[0], videosource.Activity); f.Whole() || f.Width != 64 || f.Height != 48 {
			t.Errorf("a change came as %+v, want a frame that builds on the one before", f)
		}
		second := src.SubscribeTo(videosource.Video)
		defer second.Close()
		if f := next(t, second, videosource.Initial); !f.Whole() {
			t.Error("who comes late got a frame that builds on others")
		}
		takeAll(viewers[0])
		before := len(page.encoded())
		for range 100 { // in a second
			second.Refresh()
			pass(10 * time.Millisecond)
		}
		keys := 0
		for _, key := range page.encoded()[before:] {
			if key {
				keys++
			}
		}
		if keys < 4 || keys > 6 {
			t.Errorf("a hundred requests in a second gave %d key frames, want 4 to 6", keys)
		}
	})
}

func TestASlowViewerOfVideoSkipsToAKeyFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		_, viewers := page.follow(t, videosource.Video, videosource.Video)
		slow, quick := viewers[0], viewers[1]
		pass(time.Second)
		takeAll(quick)
		takeAll(slow)
		for i := range 60 { // three seconds
			page.changes <- string(rune('A' + i))
			if got := takeAll(quick); len(got) == 0 {
				t.Fatalf("the quick one did not get frame %d", i)
			}
			pass(50 * time.Millisecond)
		}
		got := takeAll(slow)
		if len(got) == 0 || !got[0].Whole() || slices.Max(got[len(got)-1].Data) < 'A'+40 {
			t.Errorf("the slow one found %d frames, want a key frame and what came after it", len(got))
		}
	})
}

func TestTheStreamIsEncodedForTheSlowestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		_, viewers := page.follow(t, videosource.Video, videosource.Video)
		pass(time.Second)
		viewers[0].SetBitrate(900_000)
		viewers[1].SetBitrate(400_000)
		for _, want := range []int{400_000, 900_000, 150_000} {
			page.changes <- time.Now().String()
			synctest.Wait()
			page.mu.Lock()
			got := page.bitrates[len(page.bitrates)-1]
			page.mu.Unlock()
			check.Equal(t, "bitrate", got, want)
			pass(time.Second)
			viewers[1].SetBitrate(0)
			if want == 900_000 {
				viewers[1].SetBitrate(1)
			}
		}
	})
}

func TestWithoutAnEncoderKeyFramesFollowTheChanges(t *testing.T) {
	for name, fail := range map[string]func(l *live){
		"none can be opened": func(l *live) { l.refused = errors.New("no browser") },
		"it fails later":     func(*live) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				page := newLive("a")
				fail(page)
				_, viewers := page.follow(t, videosource.Video, videosource.KeyFrames)
				pass(3 * time.Second)
				page.set(func(*screen) { page.refused = errors.New("it is gone") })
				pass(8 * time.Second)
				page.count()
				takeAll(viewers[0])
				takeAll(viewers[1])
				pass(4 * time.Second)
				page.wantPictures(t, 0, 0, "screenshots in 4 s of a still page, want none")
				takeAll(viewers[0])
				takeAll(viewers[1])
				page.changes <- "b"
				for _, v := range viewers {
					if f := next(t, v, ""); !f.Whole() || string(f.Data[10:]) != "b" {
						t.Errorf("got %q, want a key frame of the change at once", f.Data)
					}
				}
			})
		})
	}
}

func TestAScreencastThatEndsIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		_, viewers := page.follow(t, videosource.JPEG)
		takeAll(viewers[0])
		page.broken <- errors.New("a dialog is open")
		page.set(func(s *screen) { s.text = "b" })
		pass(time.Second)
		if got := takeAll(viewers[0]); len(got) == 0 || string(got[len(got)-1].Data) != "b" {
			t.Errorf("got %d frames after the screencast had ended, want the page as it is now", len(got))
		}
	})
}

func TestPicturesComeWhileNothingIsEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newLive("a")
		page.refused = errors.New("no browser")
		src, viewers := page.follow(t, videosource.VideoOrJPEG)
		shows := func(v *videosource.Viewer, jpeg, whole bool, text string) {
			t.Helper()
			got := takeAll(v)
			if len(got) == 0 {
				t.Fatalf("nothing shows %q", text)
			}
			f := got[len(got)-1]
			if f.JPEG != jpeg || f.Whole() != whole || !slices.Contains(f.Data, text[0]) || f.Sequence < got[0].Sequence {
				t.Errorf("got %+v of %q, want a picture: %v, which shows all: %v", f, text, jpeg, whole)
			}
		}
		shows(viewers[0], true, true, "a")
		page.changes <- "b"
		shows(viewers[0], true, true, "b")
		page.set(func(*screen) { page.refused = nil })
		pass(31 * time.Second)
		if got := takeAll(viewers[0]); len(got) == 0 || got[0].JPEG || !got[0].Whole() {
			t.Error("video does not begin with a key frame")
		}
		page.changes <- "c"
		shows(viewers[0], false, false, "c")
		late := src.SubscribeTo(videosource.VideoOrJPEG)
		defer late.Close()
		shows(late, false, true, "c")
		takeAll(viewers[0])
		page.set(func(*screen) { page.refused = errors.New("it is gone") })
		page.changes <- "d"
		shows(viewers[0], true, true, "d")
		shows(late, true, true, "d")
		page.wantPictures(t, 0, 0, "screenshots were taken, want none")
	})
}
