package dashboard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
	"clank/videosource/webm"
)

// Films stores the films of tasks; see [clank/internal/recording/video.Recorder].
type Films interface {
	Open(t sessions.TaskRecord) (*os.File, error)
	Chapters(t sessions.TaskRecord) ([]webm.Chapter, error)
	WriteClip(to io.WriteSeeker, t sessions.TaskRecord, last time.Duration, maxBytes int64) error
	Request(session string, on bool) error
	Requested(session string) (on, possible bool)
}

// A clip fits into a chat, where files are limited to ten megabytes.
const (
	clipLength   = 20 * time.Second
	maxClipBytes = 9 << 20
	filmTimeout  = 10 * time.Minute // for a browser to download a film
)

// filmError returns the reason why there is no film.
func filmError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(http.StatusNotFound, "this task was not filmed")
	}
	return failed("read the film", err)
}

// film serves the film of a task.
func (s *Server) film(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	f, err := s.Films.Open(t)
	if err != nil {
		return filmError(err)
	}
	defer f.Close()
	return serveFilm(w, r, f, "film-"+t.ID)
}

// filmClip serves the end of a task's film, even while it is being recorded.
func (s *Server) filmClip(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "clip-*.webm")
	if err != nil {
		return failed("make a clip", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if err := s.Films.WriteClip(f, t, clipLength, maxClipBytes); err != nil {
		return filmError(err)
	}
	return serveFilm(w, r, f, "clip-"+t.ID)
}

func serveFilm(w http.ResponseWriter, r *http.Request, f *os.File, name string) error {
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(filmTimeout)); err != nil {
		return fmt.Errorf("serve a film: %w", err)
	}
	setDownload(w, "video/webm", name+".webm")
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

// filmChapters serves whether a task was filmed and when its steps begin.
func (s *Server) filmChapters(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	list, err := s.Films.Chapters(t)
	if errors.Is(err, fs.ErrNotExist) {
		return writeJSON(w, http.StatusOK, api.Film{})
	}
	out := api.Film{Filmed: err == nil, Chapters: []api.Chapter{}}
	for _, c := range list {
		out.Chapters = append(out.Chapters, api.Chapter{Step: c.ID, At: c.At.Seconds(), Title: c.Title})
	}
	return writeResult(w, http.StatusOK, "read the film", out, err)
}

// filming serves whether the tasks of a session are filmed.
func (s *Server) filming(w http.ResponseWriter, r *http.Request) error {
	on, possible := s.Films.Requested(r.PathValue("id"))
	return writeJSON(w, http.StatusOK, api.FilmRequest{On: on, Possible: possible})
}

// requestFilm starts or stops filming the tasks of a session.
func (s *Server) requestFilm(w http.ResponseWriter, r *http.Request) error {
	var in api.FilmRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if err := s.Films.Request(r.PathValue("id"), in.On); err != nil {
		return refuse(http.StatusConflict, "%s", err)
	}
	return s.filming(w, r)
}
