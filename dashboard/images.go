package dashboard

import (
	"net/http"
	"slices"
	"strconv"

	"clank/llm"
	"clank/sessions"
)

// pictureTypes are the media types that are served as pictures. A picture comes
// from pages nobody vouches for, so nothing else is.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// stepView serves how the page looked after a step.
func (s *Server) stepView(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return refuse(http.StatusNotFound, "steps have numbers")
	}
	if _, err := s.publicTask(r, "task"); err != nil {
		return err
	}
	im, err := s.Manager.View(r.Context(), r.PathValue("task"), n)
	if err != nil {
		return failed("read the picture", err)
	}
	return writeImage(w, im)
}

// taskImage serves a picture of an answer, counted from 0.
func (s *Server) taskImage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.publicTask(r, "id")
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 0 || i >= len(t.Images) {
		return refuse(http.StatusNotFound, "the answer has %d pictures", len(t.Images))
	}
	return writeImage(w, t.Images[i])
}

// publicTask returns the task that a part of the path names, whose pictures may be seen here.
func (s *Server) publicTask(r *http.Request, part string) (sessions.TaskRecord, error) {
	t, err := s.Manager.Task(r.Context(), r.PathValue(part))
	if err != nil {
		return t, failed("read the task", err)
	}
	if t.Origin.Private {
		return t, refuse(http.StatusForbidden, "that was asked privately: its pictures are for the person who asked")
	}
	return t, nil
}

func writeImage(w http.ResponseWriter, im llm.Image) error {
	if !slices.Contains(pictureTypes, im.MediaType) || len(im.Data) == 0 {
		return refuse(http.StatusNotFound, "there is no picture that can be shown")
	}
	h := w.Header()
	h.Set("Content-Type", im.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(im.Data)))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	_, _ = w.Write(im.Data) // whoever asked went away: nothing to do
	return nil
}
