package webrtc

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"clank/llm"
)

// CallState is what a page is told before it joins.
type CallState struct {
	People  []string    `json:"people"`      // who is in the call
	Servers []ICEServer `json:"ice_servers"` // see [Engine]
}

// Handler answers the pages: "GET /" is the [CallState], "POST /join" takes a [JoinRequest] and gives an [Answer], "POST /stop" with
// the Key of a [JoinRequest] is the stop button where the connection is interrupted, "GET /pictures/{name}" is a picture of a note. Failures are JSON with the field error. Who may ask, and from which site, is for whoever mounts it.
func (h *CallHost) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.state)
	mux.HandleFunc("POST /join", h.join)
	mux.HandleFunc("POST /stop", h.stop)
	mux.HandleFunc("GET /pictures/{name}", h.image)
	return mux
}

func (h *CallHost) state(w http.ResponseWriter, _ *http.Request) {
	s := CallState{People: []string{}, Servers: h.Engine.OfferedServers(time.Now())}
	if c := h.Current(); c != nil {
		for _, p := range c.People() {
			s.People = append(s.People, p.Name)
		}
	}
	writeJSON(w, http.StatusOK, s)
}

func (h *CallHost) join(w http.ResponseWriter, r *http.Request) {
	var in JoinRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*MaxOffer)).Decode(&in); err != nil {
		writeError(w, http.StatusBadRequest, "that was not understood; load the page again")
		return
	}
	got, err := h.Join(r.Context(), in)
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, got)
	case errors.Is(err, ErrBadOffer):
		writeError(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, ErrTooManyConns), errors.Is(err, errTooManyPages):
		writeError(w, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, ErrClosed), errors.Is(err, errClosing):
		writeError(w, http.StatusServiceUnavailable, err.Error())
	default:
		h.log().Error("a page could not join the call", "error", err)
		writeError(w, http.StatusInternalServerError, "the call could not be joined; clank's log says why")
	}
}

func (h *CallHost) stop(w http.ResponseWriter, r *http.Request) {
	var in JoinRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*MaxOffer)).Decode(&in); err != nil {
		writeError(w, http.StatusBadRequest, "that was not understood; load the page again")
		return
	}
	if c := h.Current(); c != nil && h.Stop != nil {
		h.Stop(c, personOf(in))
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *CallHost) image(w http.ResponseWriter, r *http.Request) {
	var im llm.Image
	if c := h.Current(); c != nil {
		c.mu.Lock()
		im = c.images.images[r.PathValue("name")]
		c.mu.Unlock()
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, im.MediaType) {
		writeError(w, http.StatusNotFound, "this picture is not kept any more")
		return
	}
	w.Header().Set("Content-Type", im.MediaType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(im.Data) // whoever asked went away: nothing to do
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, _ := json.Marshal(v) // strings and lists of them always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever asked went away: nothing to do
}
