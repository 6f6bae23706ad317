package webcall

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"clank/voice/rtc"
)

// State is what a page is told before it joins.
type State struct {
	People  []string     `json:"people"`      // who is in the call
	Servers []rtc.Server `json:"ice_servers"` // see [rtc.Engine]
}

// Handler answers the pages: "GET /" is the [State], "POST /join" takes a [Request] and gives an [Answer], "POST /stop" with
// the Key of a [Request] is the stop button where the connection is interrupted, "GET /pictures/{name}" is a picture of a note. Failures are JSON with the field error. Who may ask, and from which site, is for whoever mounts it.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.state)
	mux.HandleFunc("POST /join", h.join)
	mux.HandleFunc("POST /stop", h.stop)
	mux.HandleFunc("GET /pictures/{name}", h.image)
	return mux
}

func (h *Host) state(w http.ResponseWriter, _ *http.Request) {
	s := State{People: []string{}, Servers: h.Engine.Offered(time.Now())}
	if c := h.Current(); c != nil {
		for _, p := range c.People() {
			s.People = append(s.People, p.Name)
		}
	}
	answer(w, http.StatusOK, s)
}

func (h *Host) join(w http.ResponseWriter, r *http.Request) {
	var in Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*rtc.MaxOffer)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "that was not understood; load the page again")
		return
	}
	got, err := h.Join(r.Context(), in)
	switch {
	case err == nil:
		answer(w, http.StatusOK, got)
	case errors.Is(err, rtc.ErrOffer):
		refuse(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, rtc.ErrFull), errors.Is(err, errFull):
		refuse(w, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, rtc.ErrClosed), errors.Is(err, errClosing):
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		h.log().Error("a page could not join the call", "error", err)
		refuse(w, http.StatusInternalServerError, "the call could not be joined; clank's log says why")
	}
}

func (h *Host) stop(w http.ResponseWriter, r *http.Request) {
	var in Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*rtc.MaxOffer)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "that was not understood; load the page again")
		return
	}
	if c := h.Current(); c != nil && h.Stop != nil {
		h.Stop(c, person(in))
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Host) image(w http.ResponseWriter, r *http.Request) {
	var im Image
	if c := h.Current(); c != nil {
		c.mu.Lock()
		im = c.images.kept[r.PathValue("name")]
		c.mu.Unlock()
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, im.MediaType) {
		refuse(w, http.StatusNotFound, "this picture is not kept any more")
		return
	}
	w.Header().Set("Content-Type", im.MediaType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(im.Data) // whoever asked went away: nothing to do
}

func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]string{"error": text})
}

func answer(w http.ResponseWriter, status int, v any) {
	data, _ := json.Marshal(v) // strings and lists of them always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever asked went away: nothing to do
}
