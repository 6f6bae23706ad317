package dashboard_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/recording/video"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/videosource"
	"clank/videosource/webm"
)

// filmed is one film, as that of all tasks: the films of a task's place are found by its id.
type filmed struct {
	*video.Recorder
	asked atomic.Bool
}

func (f *filmed) Open(t sessions.TaskRecord) (*os.File, error) {
	t.ID = "film"
	return f.Recorder.Open(t)
}

func (f *filmed) Chapters(t sessions.TaskRecord) ([]webm.Chapter, error) {
	t.ID = "film"
	return f.Recorder.Chapters(t)
}

func (f *filmed) WriteClip(to io.WriteSeeker, t sessions.TaskRecord, last time.Duration, maxBytes int64) error {
	t.ID = "film"
	return f.Recorder.WriteClip(to, t, last, maxBytes)
}

func (f *filmed) Request(_ string, on bool) error { f.asked.Store(on); return nil }

func (f *filmed) Requested(string) (on, possible bool) { return f.asked.Load(), true }

// makeFilm writes a film of ten seconds, which Chromium draws: blue, and red when the second act of the script begins.
func makeFilm(t *testing.T, tb *tab, dir string) {
	t.Helper()
	path := filepath.Join(dir, "film", "film.webm")
	check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.Create(path)
	check.Must(t, err)
	defer file.Close()
	w := webm.NewWriter(file, time.Now())
	for i := range 20 {
		color := "blue"
		if i >= 10 {
			color = "red"
		}
		picture := tb.Eval(fmt.Sprintf(`(() => {
			const c = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
			const x = c.getContext("2d");
			x.fillStyle = %q; x.fillRect(0, 0, 64, 48);
			return c.toDataURL("image/webp", 0.8);
		})()`, color))
		_, encoded, _ := strings.Cut(fmt.Sprint(picture), ",")
		data, err := base64.StdEncoding.DecodeString(encoded)
		check.Must(t, err)
		frame, _, _, err := videosource.VP8FromWebP(data)
		check.Must(t, err)
		check.Must(t, w.Add(webm.Frame{At: time.Duration(i) * time.Second / 2, Key: true, Data: frame}))
	}
	w.AddChapter(webm.Chapter{ID: 2, Title: "open the demo shop"})
	w.AddChapter(webm.Chapter{ID: 4, At: 5 * time.Second, Title: "type"})
	check.Must(t, w.Finish(10*time.Second))
}

func TestTheFilmOfATaskPlaysBesideItsSteps(t *testing.T) {
	dir, c := t.TempDir(), launch(t)
	films := &filmed{Recorder: &video.Recorder{Dir: dir, Mode: func() video.Mode { return video.Never }}}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Films = films })
	tb := r.arrive(c, 1280, 860, "light")
	makeFilm(t, tb, dir)

	tb.say("hold: find a lamp")
	const button = `document.querySelector(".work-head .filming")?`
	tb.waitFor(button + `.textContent === "Record"`)
	tb.click(".work-head .filming")
	tb.waitFor(button + `.textContent === "Stop recording"`)
	if !films.asked.Load() {
		t.Error("the session is not filmed")
	}
	r.backend.letGo()
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`document.querySelectorAll(".seek").length === 2`)
	const second = `document.querySelectorAll(".seek")[1]`
	if got := tb.Eval(second + `.closest("li").value + " " + ` + second + `.textContent`); got != "4 0:05" {
		t.Errorf("the second chapter is at step %v, want 4 0:05", got)
	}
	tb.click(".step:nth-of-type(2) .seek")
	tb.waitFor(`document.querySelector("video.film")?.currentTime >= 5`)
	if got := tb.Eval(`document.querySelector("video.film").duration`); got != 10. {
		t.Errorf("the film lasts %v s, want 10", got)
	}
	const pixel = `(() => {
		const c = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }), x = c.getContext("2d");
		x.drawImage(document.querySelector("video.film"), 0, 0, 1, 1);
		const [r, , b] = x.getImageData(0, 0, 1, 1).data;
		return r > 200 && b < 60 ? "red" : b > 200 && r < 60 ? "blue" : "" ;
	})()`
	tb.waitFor(pixel + ` === "red"`)
	tb.click(".step:nth-of-type(1) .seek")
	tb.waitFor(pixel + ` === "blue"`)
}

func TestFilmsAreServed(t *testing.T) {
	dir, c := t.TempDir(), launch(t)
	films := &filmed{Recorder: &video.Recorder{Dir: dir, Mode: func() video.Mode { return video.Never }}}
	for _, there := range []bool{false, true} {
		r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Films = films })
		if there {
			makeFilm(t, r.arrive(c, 800, 600, "light"), dir)
		}
		id := r.finish(`{"prompt":"brief"}`).ID
		for path, want := range map[string]string{
			"film": "video/webm", "film/clip": "video/webm", "film/chapters": "application/json",
		} {
			res := r.do(http.MethodGet, "/api/tasks/"+id+"/"+path, "")
			_ = res.Body.Close()
			if !there && path != "film/chapters" {
				if res.StatusCode != http.StatusNotFound {
					t.Errorf("%s of a task without a film: %s", path, res.Status)
				}
			} else if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), want) {
				t.Errorf("%s: %s, %s", path, res.Status, res.Header.Get("Content-Type"))
			}
		}
	}
}
