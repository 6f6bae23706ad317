package dashboard

import (
	"net/http"
	"slices"
	"strconv"

	"clank/llm"
)

// pictureTypes are the media types that are served as pictures. A picture comes
// from pages nobody vouches for, so nothing else is.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// stepView serves how the page looked after a step.
func (s *Server) stepView(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		writeError(w, http.StatusNotFound, "steps have numbers")
		return
	}
	t, err := s.Manager.Task(r.Context(), r.PathValue("task"))
	if err != nil {
		s.writeManagerError(w, r, "read the task", err)
		return
	}
	if t.Origin.Private {
		writePrivate(w)
		return
	}
	im, err := s.Manager.View(r.Context(), r.PathValue("task"), n)
	if err != nil {
		s.writeManagerError(w, r, "read the picture", err)
		return
	}
	writeImage(w, im)
}

// taskImage serves a picture of an answer, counted from 0.
func (s *Server) taskImage(w http.ResponseWriter, r *http.Request) {
	t, err := s.Manager.Task(r.Context(), r.PathValue("id"))
	if err != nil {
		s.writeManagerError(w, r, "read the task", err)
		return
	}
	if t.Origin.Private {
		writePrivate(w)
		return
	}
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 0 || i >= len(t.Images) {
		writeError(w, http.StatusNotFound, "the answer has %d pictures", len(t.Images))
		return
	}
	writeImage(w, t.Images[i])
}

func writePrivate(w http.ResponseWriter) {
	writeError(w, http.StatusForbidden, "that was asked privately: its pictures are for the person who asked")
}

func writeImage(w http.ResponseWriter, im llm.Image) {
	if !slices.Contains(pictureTypes, im.MediaType) || len(im.Data) == 0 {
		writeError(w, http.StatusNotFound, "there is no picture that can be shown")
		return
	}
	h := w.Header()
	h.Set("Content-Type", im.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(im.Data)))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	_, _ = w.Write(im.Data) // whoever asked went away: nothing to do
}
