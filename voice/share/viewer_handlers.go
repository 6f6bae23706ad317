package share

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"clank/internal/pageorigin"
	"clank/videosource"
	"clank/voice/webrtc"
)

// WatchRequest asks to watch. Token is the secret of its link.
type WatchRequest struct {
	Token   string `json:"token"`
	Browser string `json:"browser,omitempty"` // a secret that the browser keeps for itself
	SDP     string `json:"sdp,omitempty"`     // to watch: the offer, with all candidates
	State   string `json:"state,omitempty"`   // with Code: what Discord returns with a person who signed in
	Code    string `json:"code,omitempty"`
}

// WatchInfo describes a share to the page.
type WatchInfo struct {
	Title   string             `json:"title"`
	Control bool               `json:"control,omitempty"` // the link lets its holder control the page
	Until   *time.Time         `json:"until,omitempty"`
	WebRTC  bool               `json:"webrtc"`
	Servers []webrtc.ICEServer `json:"ice_servers,omitempty"` // see [webrtc.Engine]
}

// Handler serves the viewer page and its API: "POST check" takes a [WatchRequest] and returns the [WatchInfo]; "POST
// watch" takes one with an offer and returns {"sdp": answer}; "GET socket" is the WebSocket. Errors are JSON with the
// field error: 401 if the link's person must sign in, at the URL sign_in, after which "POST signin" grants it to the
// browser; 404 for an invalid link, 429 for too many offers or too many invalid links, and 503 for too many viewers or
// requests. It has no cross-site guard: the page may be framed by other sites behind their proxies, and access depends
// on the secret in the request, which browsers do not add by themselves.
func (v *ViewerPage) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.site.ServePage)
	mux.HandleFunc("GET /assets/{sum}/{name}", v.site.ServePart)
	mux.HandleFunc("GET /signed-in", v.site.ServePage)
	mux.HandleFunc("POST /check", v.handleCheck)
	mux.HandleFunc("POST /signin", v.handleSignIn)
	mux.HandleFunc("POST /watch", v.handleWatch)
	mux.HandleFunc("GET /socket", v.handleSocket)
	mux.HandleFunc("GET /live", v.handleLive)
	return v.withSecurityHeaders(mux)
}

// decodeRequest reads a request. ok is false where the answer was given.
func (v *ViewerPage) decodeRequest(w http.ResponseWriter, r *http.Request) (in WatchRequest, ok bool) {
	crowded, err := v.admitRequest(w, r)
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, err)
		return in, false
	}
	err = json.NewDecoder(http.MaxBytesReader(w, r.Body, 2*webrtc.MaxOffer)).Decode(&in)
	if late := crowded(); late && err != nil {
		writeError(w, http.StatusServiceUnavailable, errTooManyRequests)
		return in, false
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, errors.New("that was not understood; load the page again"))
	}
	return in, err == nil
}

// readRequest reads a request and finds its share. ok is false where the answer was given.
func (v *ViewerPage) readRequest(w http.ResponseWriter, r *http.Request) (in WatchRequest, s ViewerShare, ok bool) {
	if in, ok = v.decodeRequest(w, r); !ok {
		return in, s, false
	}
	s, err := v.checkToken(in.Token, in.Browser, personOf(r))
	if err != nil {
		v.refuseToken(w, err)
	}
	return in, s, err == nil
}

func (v *ViewerPage) refuseToken(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errTooManyTries):
		writeError(w, http.StatusTooManyRequests, err)
	case errors.Is(err, ErrLinkSignIn) && v.SignIn != nil:
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": err.Error(), "sign_in": v.SignIn.SignInURL()})
	default:
		writeError(w, http.StatusNotFound, err)
	}
}

// handleSignIn grants a link to the browser of the person who signed in for it.
func (v *ViewerPage) handleSignIn(w http.ResponseWriter, r *http.Request) {
	in, ok := v.decodeRequest(w, r)
	if !ok {
		return
	}
	_, err := v.checkToken(in.Token, in.Browser, personOf(r))
	switch {
	case err == nil: // it was granted already
	case !errors.Is(err, ErrLinkSignIn) || v.SignIn == nil:
		v.refuseToken(w, err)
		return
	default:
		if err := v.SignIn.SignIn(r.Context(), in.Token, in.Browser, in.State, in.Code); err != nil {
			v.Logger.Info("somebody is not let in with a link", "error", err)
			writeError(w, http.StatusForbidden, err)
			return
		}
	}
	writeJSON(w, http.StatusOK, map[string]string{})
}

// checkToken returns the share of a token that a person shows; the error is why it is none to be watched now.
func (v *ViewerPage) checkToken(token, browser, person string) (ViewerShare, error) {
	if !v.mayTry(person, time.Now()) {
		return ViewerShare{}, errTooManyTries
	}
	if token == "" {
		return ViewerShare{}, errLinkIncomplete
	}
	s, err := v.Links.CheckLink(token, browser)
	if errors.Is(err, ErrLinkInvalid) {
		v.wrong(person, time.Now())
	}
	if err != nil {
		return ViewerShare{}, err
	}
	if !s.Until.IsZero() && !time.Now().Before(s.Until) {
		return ViewerShare{}, errLinkExpired
	}
	select {
	case <-s.Done:
		return ViewerShare{}, errShareEnded
	default:
		return s, nil
	}
}

func (v *ViewerPage) handleCheck(w http.ResponseWriter, r *http.Request) {
	_, s, ok := v.readRequest(w, r)
	if !ok {
		return
	}
	info := WatchInfo{Title: s.Title, Control: s.Control && v.Work != nil, WebRTC: v.Engine != nil}
	if !s.Until.IsZero() {
		info.Until = &s.Until
	}
	if v.Engine != nil {
		info.Servers = v.Engine.OfferedServers(time.Now())
	}
	writeJSON(w, http.StatusOK, info)
}

// handleLive is the WebSocket of the live pane. The page names the secrets of its link and of the browser among the
// protocols that it would speak: it cannot set headers there.
func (v *ViewerPage) handleLive(w http.ResponseWriter, r *http.Request) {
	var token, browser string
	for protocol := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), "key."); ok {
			token, browser, _ = strings.Cut(key, "~")
		}
	}
	s, err := v.checkToken(token, browser, personOf(r))
	switch {
	case err != nil:
		v.refuseToken(w, err)
		return
	case !s.Control || v.Work == nil:
		writeError(w, http.StatusForbidden, errOnlyWatch)
		return
	}
	lost := make(chan error, 1)
	left, err := v.reserveView(s, personOf(r), func(why error) { lost <- why })
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, err)
		return
	}
	defer left()
	ctx, cancel := context.WithCancelCause(r.Context())
	var work sync.WaitGroup
	work.Go(func() { cancel(v.waitForEnd(s, lost, ctx.Done())) })
	v.Work(w, r.WithContext(ctx), s)
	cancel(nil)
	work.Wait()
}

var errOnlyWatch = errors.New("this link is to watch the page, not to work it")

func (v *ViewerPage) handleWatch(w http.ResponseWriter, r *http.Request) {
	in, s, ok := v.readRequest(w, r)
	if !ok {
		return
	}
	if v.Engine == nil {
		writeError(w, http.StatusNotImplemented, errors.New("there is no WebRTC here"))
		return
	}
	begun, err := v.reserveOffer(s.ID, personOf(r), time.Now())
	if err != nil {
		v.refuseOffer(w, err)
		return
	}
	place, lost := make(chan func(), 1), make(chan error, 1)
	var first sync.Once
	up := func(c *webrtc.Conn) {
		first.Do(func() {
			defer begun()
			v.startView(c, s, personOf(r), place, lost)
		})
	}
	conn, answer, err := v.Engine.Answer(r.Context(), in.SDP, webrtc.Handlers{Connected: up})
	if err != nil {
		begun()
		v.refuseOffer(w, err)
		return
	}
	go func() {
		defer begun()
		if why := v.waitForEnd(s, lost, conn.Done()); why != nil {
			_ = conn.SendMessage(endReason(why)) // if it does not get there, the end of the connection does
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
	writeJSON(w, http.StatusOK, map[string]string{"sdp": answer})
}

// startView counts an established connection as a viewer. lost receives the reason if it must give its place to
// another.
func (v *ViewerPage) startView(c *webrtc.Conn, s ViewerShare, person string, place chan<- func(), lost chan<- error) {
	left, err := v.reserveView(s, person, func(why error) { lost <- why })
	if err != nil { // others were faster
		_ = c.SendMessage(endReason(err)) // the reason for the end says it too
		c.End(err)
		return
	}
	place <- left
	c.ShowVideo(s.Watch(videosource.Video))
}

// endReason tells the page's script why the view has ended.
func endReason(why error) string {
	data, _ := json.Marshal(map[string]string{"type": "ended", "text": why.Error()}) // strings always marshal
	return string(data)
}

func (v *ViewerPage) refuseOffer(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, webrtc.ErrBadOffer):
		writeError(w, http.StatusBadRequest, err)
	case errors.Is(err, errTooManyOffers):
		w.Header().Set("Retry-After", "5")
		writeError(w, http.StatusTooManyRequests, err)
	case errors.Is(err, errTooManyViewers), errors.Is(err, errShareIsFull), errors.Is(err, errPageClosing),
		errors.Is(err, webrtc.ErrTooManyConns), errors.Is(err, webrtc.ErrClosed):
		writeError(w, http.StatusServiceUnavailable, err)
	default:
		v.Logger.Error("a share could not be shown over WebRTC", "error", err)
		writeError(w, http.StatusInternalServerError, errors.New("WebRTC does not work here"))
	}
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, val any) {
	data, _ := json.Marshal(val) // strings, times and lists always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client has gone: nothing to do
}

//go:embed assets
var files embed.FS

// withSecurityHeaders sets the headers of all responses. The origin of requests is not checked: access depends only on
// the secret of a link, not on who the browser belongs to.
func (v *ViewerPage) withSecurityHeaders(next http.Handler) http.Handler {
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		pageorigin.SetPageHeaders(h, policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
