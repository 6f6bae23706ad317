package webrtc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/cancel"
	"clank/llm"
	"clank/voice"
)

const (
	// DefaultLingerTime is how long an empty call continues, so that a page can be reloaded.
	DefaultLingerTime = 30 * time.Second

	// MaxPages limits the pages in a call.
	MaxPages = 8

	maxName    = 40
	maxPageKey = 100
)

// PageCalls receives calls on pages. Its methods must not wait.
type PageCalls interface {
	// Begin is called with each call that begins. The receiver reads its events until they end.
	Begin(call *PageCall)

	// Stop is called when a person presses the stop button of a page.
	Stop(call *PageCall, p voice.Person)

	// Share is called when a person on a page wants to show the browser in the call, or to end that.
	Share(call *PageCall, p voice.Person, on bool)
}

// CallHost lets pages join, and begins a call with the first one. Set the fields before the first request.
type CallHost struct {
	Engine *Engine
	Calls  PageCalls
	Linger time.Duration // 0: [DefaultLingerTime]
	Logger *slog.Logger

	mu     sync.Mutex
	closed bool
	call   *PageCall // the one that continues; nil: none
	pages  map[*Conn]struct{}
	asking int // pages that are about to be in pages
	work   sync.WaitGroup
}

// JoinRequest asks to join. Its words are the page's.
type JoinRequest struct {
	SDP  string `json:"sdp"`  // the offer, with all candidates
	Name string `json:"name"` // of the person; may be empty
	Key  string `json:"key"`  // a secret of the browser: with the same one, the person is the same again
}

// JoinAnswer answers a page that may join.
type JoinAnswer struct {
	SDP string `json:"sdp"`
	ID  string `json:"id"` // id of the person in the call, see [voice.Person]
}

// Reasons why a person cannot join or is no longer in the call.
var (
	errClosing      = errors.New("clank is ending")
	errTooManyPages = fmt.Errorf("there are %d pages in the call already", MaxPages)
	errOtherPage    = errors.New("the call goes on in another page of yours")
	errCallEmpty    = errors.New("nobody has been in the call for a while")
)

// Join lets a page join. Its person is in the call once the connection is established.
func (h *CallHost) Join(ctx context.Context, r JoinRequest) (JoinAnswer, error) {
	if err := h.reservePage(); err != nil {
		return JoinAnswer{}, err
	}
	p := &callPage{host: h, person: personOf(r)}
	conn, sdp, err := h.Engine.Answer(ctx, r.SDP, Handlers{
		Connected: p.handleUp, Interrupted: p.handleDown,
		Packet: p.handlePacket, Message: p.handleMessage,
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking--
	if err != nil {
		return JoinAnswer{}, err
	}
	if h.closed {
		conn.End(errClosing)
	}
	if h.pages == nil {
		h.pages = make(map[*Conn]struct{})
	}
	h.pages[conn] = struct{}{}
	h.work.Go(func() {
		<-conn.Done()
		p.handleLeft()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.pages, conn)
	})
	return JoinAnswer{SDP: sdp, ID: p.person.ID}, nil
}

func (h *CallHost) reservePage() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errClosing
	case len(h.pages)+h.asking >= MaxPages:
		return errTooManyPages
	}
	h.asking++
	return nil
}

// Current returns the current call; nil if there is none.
func (h *CallHost) Current() *PageCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.call
}

// currentOrNew returns the current call or a new one; nil if calls are no longer allowed.
func (h *CallHost) currentOrNew() *PageCall {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	fresh := h.call == nil || h.call.isEnded()
	if fresh {
		h.call = newPageCall(h)
	}
	call := h.call
	h.mu.Unlock()
	if fresh {
		h.Calls.Begin(call)
	}
	return call
}

func (h *CallHost) forgetCall(c *PageCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.call == c {
		h.call = nil
	}
}

// Close ends the call, disconnects all pages, and waits until that is done or ctx has ended.
func (h *CallHost) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	call := h.call
	pages := slices.Collect(maps.Keys(h.pages))
	h.mu.Unlock()
	if call != nil {
		call.finish(errClosing)
	}
	for _, conn := range pages {
		conn.End(errClosing)
	}
	if err := cancel.WaitFor(ctx, &h.work); err != nil {
		return fmt.Errorf("close the call: its pages have not gone: %w", err)
	}
	return nil
}

func (h *CallHost) linger() time.Duration {
	if h.Linger > 0 {
		return h.Linger
	}
	return DefaultLingerTime
}

func (h *CallHost) log() *slog.Logger { return cmp.Or(h.Logger, slog.New(slog.DiscardHandler)) }

// personOf returns the sender of a request, so that the same browser is the same person.
func personOf(r JoinRequest) voice.Person {
	key := r.Key
	if key == "" || len(key) > maxPageKey {
		key = rand.Text()
	}
	sum := sha256.Sum256([]byte(key))
	name := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, r.Name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	name = cmp.Or(name, "Somebody")
	return voice.Person{ID: "page-" + hex.EncodeToString(sum[:6]), Name: name}
}

// CallState describes the call to a page that has not joined.
type CallState struct {
	People  []string    `json:"people"`      // the people in the call
	Servers []ICEServer `json:"ice_servers"` // see [Engine]
}

// Handler serves the pages' API: "GET /" returns the [CallState], "POST /join" takes a [JoinRequest] and returns a
// [JoinAnswer], "POST /stop" with the Key of a [JoinRequest] is the stop button for an interrupted connection, "GET
// /pictures/{name}" is a picture of a note. Errors are JSON with the field error. The caller checks who may make
// requests, and from which site.
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
	if c := h.Current(); c != nil {
		h.Calls.Stop(c, personOf(in))
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
	_, _ = w.Write(im.Data) // the client has gone: nothing to do
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, _ := json.Marshal(v) // strings and lists of them always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client has gone: nothing to do
}
