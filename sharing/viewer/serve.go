package viewer

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"clank/voice/rtc"
)

// Request is what the page sends. Token is the secret of its link.
type Request struct {
	Token string `json:"token"`
	SDP   string `json:"sdp,omitempty"` // to watch: the offer, with all candidates
}

// Info is what the page is told of a share.
type Info struct {
	Title   string       `json:"title"`
	Until   *time.Time   `json:"until,omitempty"`
	WebRTC  bool         `json:"webrtc"`
	Servers []rtc.Server `json:"ice_servers,omitempty"` // see [rtc.Engine]
}

// Handler is the page and what it asks for: "POST check" takes a [Request] and gives the [Info]; "POST watch" takes one with an offer
// and gives {"sdp": answer}; "GET socket" is the WebSocket. Failures are JSON with the field error: 404 for a link that is not good, 429
// for an offer where too many are made, and 503 where too many watch, or ask.
func (v *Viewer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+v.Base+"/{$}", v.page)
	mux.HandleFunc("GET "+v.Base+"/assets/{sum}/{name}", v.part)
	mux.HandleFunc("POST "+v.Base+"/check", v.check)
	mux.HandleFunc("POST "+v.Base+"/watch", v.watch)
	mux.HandleFunc("GET "+v.Base+"/socket", v.socket)
	if v.Base != "" {
		mux.Handle("GET "+v.Base, http.RedirectHandler(v.Base+"/", http.StatusPermanentRedirect))
	}
	return v.guard(mux)
}

// asked reads a request and finds its share. ok is false where the answer was given.
func (v *Viewer) asked(w http.ResponseWriter, r *http.Request) (in Request, s Share, ok bool) {
	crowded, err := v.heed(w, r)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return in, s, false
	}
	err = json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*rtc.MaxOffer)).Decode(&in)
	if late := crowded(); late && err != nil {
		refuse(w, http.StatusServiceUnavailable, errCrowd)
		return in, s, false
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, errors.New("that was not understood; load the page again"))
		return in, s, false
	}
	s, err = v.good(in.Token)
	if err != nil {
		refuse(w, http.StatusNotFound, err)
	}
	return in, s, err == nil
}

// good is the share of a token; the error is why it is none to be watched now.
func (v *Viewer) good(token string) (Share, error) {
	if token == "" {
		return Share{}, errPart
	}
	s, err := v.Links.Check(token)
	if err != nil {
		return Share{}, err
	}
	if !s.Until.IsZero() && !time.Now().Before(s.Until) {
		return Share{}, errLate
	}
	select {
	case <-s.Done:
		return Share{}, errEnded
	default:
		return s, nil
	}
}

func (v *Viewer) check(w http.ResponseWriter, r *http.Request) {
	_, s, ok := v.asked(w, r)
	if !ok {
		return
	}
	info := Info{Title: s.Title, WebRTC: v.Engine != nil}
	if !s.Until.IsZero() {
		info.Until = &s.Until
	}
	if v.Engine != nil {
		info.Servers = v.Engine.Offered(time.Now())
	}
	reply(w, http.StatusOK, info)
}

func (v *Viewer) watch(w http.ResponseWriter, r *http.Request) {
	in, s, ok := v.asked(w, r)
	if !ok {
		return
	}
	if v.Engine == nil {
		refuse(w, http.StatusNotImplemented, errors.New("there is no WebRTC here"))
		return
	}
	begun, err := v.offer(s.ID, time.Now())
	if err != nil {
		v.refuseOffer(w, err)
		return
	}
	place := make(chan func(), 1)
	var first sync.Once
	up := func(c *rtc.Conn) {
		first.Do(func() {
			defer begun()
			v.arrives(c, s, place)
		})
	}
	conn, answer, err := v.Engine.Answer(r.Context(), in.SDP, rtc.Peer{Up: up})
	if err != nil {
		begun()
		v.refuseOffer(w, err)
		return
	}
	go func() {
		defer begun()
		if why := v.over(s, conn.Done()); why != nil {
			_ = conn.Say(lastWord(why)) // if it does not get there, the end of the connection does
			conn.End(why)
			<-conn.Done()
		}
		select {
		case left := <-place:
			left()
			v.Logger.Info("somebody has stopped watching", "share", s.ID, "over", "webrtc", "because", conn.Err())
		default: // it never came about
		}
	}()
	reply(w, http.StatusOK, map[string]string{"sdp": answer})
}

// arrives gives a connection that has come about a place among those who watch.
func (v *Viewer) arrives(c *rtc.Conn, s Share, place chan<- func()) {
	left, err := v.admit()
	if err != nil { // others were faster
		_ = c.Say(lastWord(err)) // the end says it, too
		c.End(err)
		return
	}
	place <- left
	c.Show(s.Watch())
}

// lastWord tells the page's script why there is nothing more to see.
func lastWord(why error) string {
	data, _ := json.Marshal(map[string]string{"type": "ended", "text": why.Error()}) // strings always marshal
	return string(data)
}

func (v *Viewer) refuseOffer(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, rtc.ErrOffer):
		refuse(w, http.StatusBadRequest, err)
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusTooManyRequests, err)
	case errors.Is(err, errFull), errors.Is(err, errEnding), errors.Is(err, rtc.ErrFull), errors.Is(err, rtc.ErrClosed):
		refuse(w, http.StatusServiceUnavailable, err)
	default:
		v.Logger.Error("a share could not be shown over WebRTC", "error", err)
		refuse(w, http.StatusInternalServerError, errors.New("WebRTC does not work here"))
	}
}

func refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, status int, val any) {
	data, _ := json.Marshal(val) // strings, times and lists always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever asked went away: nothing to do
}
