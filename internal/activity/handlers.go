package activity

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/liveview/assets"
	"clank/internal/pageorigin"
	"clank/sessions"

	"github.com/coder/websocket"
)

//go:embed assets
var files embed.FS

// Open prepares the page.
func (s *Server) Open() error {
	own, err := fs.Sub(files, "assets")
	if err != nil {
		return fmt.Errorf("read the Activity's page: %w", err)
	}
	s.site, err = assets.Load(own)
	return err
}

// policy lets the page load resources of its own origin, and be framed by any origin: Discord's client uses several,
// and on phones none. Framing it gives no access, because access depends on a token rather than on the browser.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'"

// Handler serves the page and its API, with and without the proxy's prefix. Everything except the page, "POST begin"
// and "POST signin" requires a token. Errors are JSON with the field error: 401 if not signed in, 403 if not allowed.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, at := range []string{"/", "/.proxy/"} {
		mux.HandleFunc("GET "+at+"{$}", s.site.ServePage)
		mux.HandleFunc("GET "+at+"assets/{sum}/{name}", s.site.ServePart)
		mux.HandleFunc("POST "+at+"begin", s.handleBegin)
		mux.HandleFunc("POST "+at+"signin", s.handleSignIn)
		mux.HandleFunc("GET "+at+"sessions", s.withVisitor(s.handleSessions))
		mux.HandleFunc("GET "+at+"steps", s.withVisitor(s.handleSteps))
		mux.HandleFunc("GET "+at+"live", s.withVisitor(s.handleLive))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pageorigin.SetPageHeaders(w.Header(), policy)
		mux.ServeHTTP(w, r)
	})
}

type visitorHandler func(w http.ResponseWriter, r *http.Request, v *visit, now sessions.Origin)

// withVisitor passes on requests of people who are signed in. Their token is in a header or, because a page cannot
// set headers of a WebSocket, among its subprotocols.
func (s *Server) withVisitor(next visitorHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		for protocol := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), "key."); ok {
				token = key
			}
		}
		v, o, err := s.visitor(r.Context(), token)
		switch {
		case errors.Is(err, errSignedOut):
			writeError(w, http.StatusUnauthorized, err)
		case err != nil:
			writeError(w, http.StatusForbidden, err)
		default:
			next(w, r, v, o)
		}
	}
}

func (s *Server) handleBegin(w http.ResponseWriter, _ *http.Request) {
	app, state, challenge := s.Discord.Begin()
	writeJSON(w, http.StatusOK, map[string]string{"app": app, "state": state, "challenge": challenge})
}

const maxRequest = 8 << 10

func (s *Server) handleSignIn(w http.ResponseWriter, r *http.Request) {
	var in struct{ State, Code, Instance string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&in)
	if err != nil || in.State == "" || in.Code == "" || in.Instance == "" {
		writeError(w, http.StatusBadRequest, errors.New("that was not understood; open the Activity again"))
		return
	}
	token, discord, v, err := s.signIn(r.Context(), in.State, in.Code, in.Instance)
	if err != nil {
		s.logger().Info("somebody is not let into an Activity", "error", err)
		writeError(w, http.StatusForbidden, err)
		return
	}
	at := v.origin
	s.logger().Info("somebody is in an Activity", "user", at.User, "guild", at.Guild, "channel", at.Channel)
	writeJSON(w, http.StatusOK, map[string]string{"token": token, "discord": discord})
}

// sessionView is a session as the page shows it.
type sessionView struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Owner string `json:"owner"`
	Mine  bool   `json:"mine"`
	Runs  bool   `json:"runs"`
	Asked bool   `json:"asked"` // it was requested to be shown here
}

func (s *Server) handleSessions(w http.ResponseWriter, r *http.Request, v *visit, o sessions.Origin) {
	list, err := s.list(r.Context(), v, o)
	if err != nil {
		s.logger().Error("the sessions of an Activity are not read", "error", err)
		writeError(w, http.StatusInternalServerError, errors.New("the sessions could not be read"))
		return
	}
	wanted, shown := s.chosen(v)
	views := []sessionView{}
	for _, x := range list {
		views = append(views, sessionView{
			ID: x.ID, Title: x.Title, Owner: x.Origin.UserName, Mine: x.MayUse(o),
			Runs: x.State == sessions.SessionRunning, Asked: x.ID == wanted || x.ID == shown,
		})
	}
	writeJSON(w, http.StatusOK, views)
}

// stepView is a step as the page shows it.
type stepView struct {
	N      int    `json:"n"`
	Label  string `json:"label"`
	Done   bool   `json:"done"`
	Failed bool   `json:"failed"`
}

// handleSteps serves the steps of a session's last task.
func (s *Server) handleSteps(w http.ResponseWriter, r *http.Request, v *visit, o sessions.Origin) {
	session, err := s.find(r.Context(), v, o, r.FormValue("session"))
	if err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	views := []stepView{}
	tasks, err := s.Sessions.Tasks(r.Context(), sessions.TaskQuery{Session: session.ID, Limit: 1})
	for _, t := range tasks {
		var steps []sessions.Step
		steps, err = s.Sessions.Steps(r.Context(), t.ID)
		steps = slices.DeleteFunc(steps, func(x sessions.Step) bool { return x.Kind == sessions.StepThink })
		for _, x := range steps[max(0, len(steps)-maxSteps):] {
			done := x.Phase == sessions.PhaseDone
			views = append(views, stepView{N: x.N, Label: x.Label, Done: done, Failed: x.Failed})
		}
	}
	if err != nil {
		s.logger().Error("the steps for an Activity are not read", "error", err)
		writeError(w, http.StatusInternalServerError, errors.New("the steps could not be read"))
		return
	}
	writeJSON(w, http.StatusOK, views)
}

const maxSteps = 60

// handleLive serves the WebSocket of the live pane. The request comes through Discord's proxy, so its origin is not
// ours; the token authenticates it.
func (s *Server) handleLive(w http.ResponseWriter, r *http.Request, v *visit, o sessions.Origin) {
	session, err := s.find(r.Context(), v, o, r.FormValue("session"))
	if err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{"clank.live"}, CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true,
	})
	if err != nil {
		return // the response has been written
	}
	ctx, end := context.WithCancelCause(r.Context())
	var work sync.WaitGroup
	work.Go(func() { end(s.awaitEnd(ctx, v, session.ID)) })
	s.Live.Serve(ctx, conn, session.ID, s.viewer(o, session))
	end(nil)
	work.Wait()
}

// awaitEnd waits until a person may no longer watch a session, and returns the reason.
func (s *Server) awaitEnd(ctx context.Context, v *visit, session string) error {
	tick := time.Tick(s.recheck())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		if !s.now().Before(v.until) {
			return errSignedOut
		}
		o, err := s.check(ctx, v)
		if err == nil {
			_, err = s.find(ctx, v, o, session)
		}
		if err != nil {
			return err
		}
	}
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, val any) {
	data, _ := json.Marshal(val) // strings and lists always marshal
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // fails only if the client has gone
}
