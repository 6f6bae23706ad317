package webm_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/videosource/webm"
)

const (
	frames  = 100 // at 10 a second, a key frame each 2.5 s
	keyEach = 25
)

var chapters = []webm.Chapter{
	{ID: 1, Title: `open "shop"`},
	{ID: 7, At: 3 * time.Second, Title: "Grüße"},
	{ID: 300, At: 9500 * time.Millisecond, Title: "c"},
}

// vp8 returns frames of a moving picture encoded by libvpx.
func vp8(t *testing.T) (list []webm.Frame) {
	t.Helper()
	check.Installed(t, "ffmpeg", "ffprobe")
	ivf, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=10",
		"-frames:v", strconv.Itoa(frames), "-c:v", "libvpx", "-g", strconv.Itoa(keyEach), "-deadline", "realtime",
		"-auto-alt-ref", "0", "-f", "ivf", "-").Output()
	check.Must(t, err)
	for b := ivf[32:]; len(b) > 12; {
		n := binary.LittleEndian.Uint32(b)
		data := b[12 : 12+n]
		at := time.Duration(len(list)) * 100 * time.Millisecond
		list = append(list, webm.Frame{At: at, Key: data[0]&1 == 0, Data: data})
		b = b[12+n:]
	}
	if len(list) != frames {
		t.Fatalf("%d frames of libvpx, want %d", len(list), frames)
	}
	return list
}

// film writes a film of the frames, without its end unless finished.
func film(t *testing.T, list []webm.Frame, finished bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film.webm")
	f, err := os.Create(path)
	check.Must(t, err)
	defer f.Close()
	w := webm.NewWriter(f, time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC))
	for _, frame := range list {
		check.Must(t, w.Add(frame))
	}
	for _, c := range chapters {
		w.AddChapter(c)
	}
	if finished {
		check.Must(t, w.Finish(11*time.Second))
	}
	return path
}

// probe is the result of decoding a file with ffprobe.
type probe struct {
	Streams []struct {
		Codec  string `json:"codec_name"`
		Frames string `json:"nb_read_frames"`
		Width  int
	}
	Chapters []struct {
		Start string `json:"start_time"`
		End   string `json:"end_time"`
		Tags  struct{ Title string }
	}
	Format struct {
		Duration string
		Tags     struct {
			Created string `json:"creation_time"`
		}
	}
}

func probed(t *testing.T, path string) (p probe) {
	t.Helper()
	cmd := exec.Command("ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_chapters", "-show_format",
		"-of", "json", path)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if check.Must(t, err); complaints.Len() > 0 {
		t.Errorf("ffprobe says %s", complaints.Bytes())
	}
	check.Must(t, json.Unmarshal(out, &p))
	if len(p.Streams) != 1 || p.Streams[0].Codec != "vp8" || p.Streams[0].Width != 320 {
		t.Fatalf("ffprobe found %+v, want one VP8 stream, 320 wide", p.Streams)
	}
	return p
}

func TestOthersReadAllFramesAndChaptersOfAFilm(t *testing.T) {
	p := probed(t, film(t, vp8(t), true))
	if got := p.Streams[0].Frames; got != strconv.Itoa(frames) {
		t.Errorf("%s frames, want %d", got, frames)
	}
	if p.Format.Duration != "11.000000" || p.Format.Tags.Created != "2026-11-23T07:00:00.000000Z" {
		t.Errorf("format is %+v", p.Format)
	}
	var got []string
	for _, c := range p.Chapters {
		got = append(got, c.Start+" "+c.End+" "+c.Tags.Title)
	}
	want := []string{`0.000000 3.000000 open "shop"`, "3.000000 9.500000 Grüße", "9.500000 11.000000 c"}
	check.Diff(t, "list", got, want)
}

// A killed program leaves an unfinished file. At most two seconds may be missing.
func TestAFilmThatWasCutOffPlays(t *testing.T) {
	list := vp8(t)
	path := film(t, list, false)
	if n, err := strconv.Atoi(probed(t, path).Streams[0].Frames); err != nil || n < frames-20 {
		t.Errorf("%d frames (%v) of %d are left", n, err, frames)
	}
	whole, err := os.ReadFile(path)
	check.Must(t, err)
	for _, size := range []int{len(whole) / 3, len(whole) - 1} { // in the middle of a write
		f, err := webm.Read(bytes.NewReader(whole), int64(size))
		check.Must(t, err)
		cut := filepath.Join(t.TempDir(), "clip.webm")
		to, err := os.Create(cut)
		check.Must(t, err)
		check.Must(t, f.WriteClip(to, time.Hour, 1<<30))
		check.Must(t, to.Close())
		if n, _ := strconv.Atoi(probed(t, cut).Streams[0].Frames); n < frames*size/len(whole)-40 {
			t.Errorf("%d frames of what was cut off after %d of %d bytes", n, size, len(whole))
		}
	}
	for size := range int64(200) {
		check.Fails(t, check.Err(webm.Read(bytes.NewReader(whole), size)), nil, "it has no frames")
	}
}

func TestAClipIsTheEndOfAFilmAndFits(t *testing.T) {
	list := vp8(t)
	path := film(t, list, true)
	in, err := os.Open(path)
	check.Must(t, err)
	defer in.Close()
	info, err := in.Stat()
	check.Must(t, err)
	f, err := webm.Read(in, info.Size())
	check.Must(t, err)
	check.Diff(t, "chapters", f.Chapters, chapters)
	var last int64 // size of the last part that begins with a key frame
	for _, frame := range list[frames-keyEach:] {
		last += int64(len(frame.Data))
	}
	for _, c := range []struct {
		name     string
		last     time.Duration
		maxBytes int64
		frames   int
		chapters int
	}{
		{"all of it", time.Hour, 1 << 30, frames, 3},
		{"the key frame before the wanted time", 4 * time.Second, 1 << 30, 2 * keyEach, 1},
		{"as much as fits", time.Hour, last + 16<<10, keyEach, 1},
		{"nothing fits", time.Hour, last, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, err := os.Create(filepath.Join(t.TempDir(), "clip.webm"))
			check.Must(t, err)
			defer to.Close()
			err = f.WriteClip(to, c.last, c.maxBytes)
			if c.frames == 0 {
				check.Fails(t, err, webm.ErrTooLarge)
				return
			}
			check.Must(t, err)
			p := probed(t, to.Name())
			info, err := to.Stat()
			check.Must(t, err)
			got := p.Streams[0].Frames
			if got != strconv.Itoa(c.frames) || len(p.Chapters) != c.chapters || info.Size() > c.maxBytes {
				t.Errorf("%s frames, %d chapters, %d bytes; want %d, %d, at most %d", got, len(p.Chapters), info.Size(),
					c.frames, c.chapters, c.maxBytes)
			}
		})
	}
}

func FuzzAFilmIsReadOrRefused(f *testing.F) {
	picture := []byte{0, 0, 0, 0x9d, 1, 0x2a, 16, 0, 16, 0, 0} // a key frame of 16x16 that libvpx would not decode
	path := filepath.Join(f.TempDir(), "film.webm")
	to, err := os.Create(path)
	check.Must(f, err)
	w := webm.NewWriter(to, time.Unix(0, 0))
	for i := range 3 {
		check.Must(f, w.Add(webm.Frame{At: time.Duration(i) * time.Second, Key: true, Data: picture}))
	}
	w.AddChapter(chapters[0])
	check.Must(f, w.Finish(3*time.Second))
	check.Must(f, to.Close())
	whole, err := os.ReadFile(path)
	check.Must(f, err)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		film, err := webm.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		clip, err := os.Create(filepath.Join(t.TempDir(), "clip.webm"))
		check.Must(t, err)
		defer clip.Close()
		if err := film.WriteClip(clip, time.Hour, 1<<20); err != nil {
			return
		}
		info, err := clip.Stat()
		check.Must(t, err)
		if _, err := webm.Read(clip, info.Size()); err != nil {
			t.Errorf("a clip was written that cannot be read: %v", err)
		}
	})
}
