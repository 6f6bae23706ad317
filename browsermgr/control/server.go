package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/internal/pageorigin"
)

// DefaultAddr is where the control API listens unless told otherwise.
const DefaultAddr = "127.0.0.1:18791"

// Server is the control API. Its fields are set before [Server.Open] and not changed afterwards.
type Server struct {
	// Manager has the browsers. It is open, and outlives the server. Required.
	Manager *browsermgr.Manager
	// Addr is host:port to listen on, the host a loopback address; empty means [DefaultAddr].
	Addr string
	// Secrets are what clients must show.
	Secrets Secrets
	// Insecure lets a server without secrets answer everybody on this machine.
	Insecure bool
	// Settings are asked for each request; nil means [DefaultSettings].
	Settings Settings
	// Policy says which addresses pages may be at; nil allows http, https and about:blank.
	Policy Policy
	// Approver decides what requests on behalf of models may set off; nil lets them set off nothing that people may
	// want to decide.
	Approver Approver
	// Features is what observes the browsers of Manager, which must have its Observe. Nil leaves out what it is for.
	Features *Features
	// Version is told in the OpenAPI document.
	Version string
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger

	listener net.Listener
	http     *http.Server
	end      context.CancelCauseFunc
	work     sync.WaitGroup
	handlers sync.WaitGroup
	tabs     *TabRegistry
}

// Settings are what people may set of requests.
type Settings interface {
	// EvaluateEnabled reports whether JavaScript of clients may run.
	EvaluateEnabled() bool
	// ActionTimeout returns how long an action may take that does not say; 0 is as long as actions of its kind.
	ActionTimeout() time.Duration
	// SnapshotMode returns which mode snapshots have that name none: "efficient", or "" for a plain one.
	SnapshotMode() string
}

// DefaultSettings run JavaScript, and take the times of each kind and plain snapshots.
type DefaultSettings struct{}

// EvaluateEnabled implements [Settings].
func (DefaultSettings) EvaluateEnabled() bool { return true }

// ActionTimeout implements [Settings].
func (DefaultSettings) ActionTimeout() time.Duration { return 0 }

// SnapshotMode implements [Settings].
func (DefaultSettings) SnapshotMode() string { return "" }

// Open starts listening. It refuses to without a secret, unless Insecure, and on an address that others can reach.
func (s *Server) Open(ctx context.Context) error {
	s.Logger = cmp.Or(s.Logger, slog.New(slog.DiscardHandler))
	s.Addr = cmp.Or(s.Addr, DefaultAddr)
	if s.Settings == nil {
		s.Settings = DefaultSettings{}
	}
	host, _, err := net.SplitHostPort(s.Addr)
	switch {
	case err != nil:
		return fmt.Errorf("open control server: %w", err)
	case !pageorigin.IsLoopback(host):
		return fmt.Errorf("open control server on %s: it listens on loopback addresses only, such as %s", s.Addr, DefaultAddr)
	case s.Secrets.Empty() && !s.Insecure:
		return errors.New("open control server: it has no secret; give it a token or a password")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("open control server: %w; another program has the port, or this one runs already", err)
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	s.listener, s.end = listener, end
	s.tabs = &TabRegistry{Manager: s.Manager, Policy: s.Policy}
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return life },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	s.work.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.Logger.Error("the control API is not served any more", "error", err)
		}
	})
	s.Logger.Info("control API is served", "address", s.URL())
	return nil
}

// URL returns where the server listens, such as http://127.0.0.1:18791.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close stops listening, ends what requests are doing and waits for them until ctx ends. The browsers go on.
func (s *Server) Close(ctx context.Context) error {
	if s.http == nil {
		return nil
	}
	s.end(ErrServerClosing)
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("close control server: %w", context.Cause(ctx)), s.http.Close())
	} else {
		s.handlers.Wait()
	}
	s.work.Wait()
	return err
}

// handler returns the way of a request: the client's going away ends it, its body is read, it is judged, and answered.
func (s *Server) handler() http.Handler {
	inner := ReadJSONBody(RefuseCrossSite(s.Secrets.Require(s.mux())))
	return RequireLocalHost(s.abortable(inner))
}

var errClientGone = errors.New("the client went away")

// abortable gives a request a context that ends, with the reason, when its client goes away or the server closes.
func (s *Server) abortable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Add(1)
		defer s.handlers.Done()
		connection := r.Context()
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(connection))
		defer cancel(nil)
		defer context.AfterFunc(connection, func() {
			if errors.Is(context.Cause(connection), ErrServerClosing) {
				cancel(ErrServerClosing)
			}
			cancel(errClientGone)
		})()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Secrets open the API: a request must show one of them. A blank one does not count; without any, every request passes.
type Secrets struct {
	// Token is shown as Authorization: Bearer.
	Token string
	// Password is shown in the header x-openclaw-password, or with HTTP Basic under any name.
	Password string
	// Issued reports whether a secret is one that was given out, and still holds. It may be shown like Token or like
	// Password. Nil means that none was.
	Issued func(secret string) bool
}

// Empty says that there is no secret.
func (s Secrets) Empty() bool {
	return strings.TrimSpace(s.Token) == "" && strings.TrimSpace(s.Password) == "" && s.Issued == nil
}

// Require refuses requests that show none of the secrets, with 401 and the text that clients know.
func (s Secrets) Require(next http.Handler) http.Handler {
	token, password := strings.TrimSpace(s.Token), strings.TrimSpace(s.Password)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Empty() && !constantTimeEqual(bearerToken(r), token) && !constantTimeEqual(presentedSecret(r), password) && !s.issued(bearerToken(r)) && !s.issued(presentedSecret(r)) {
			writeRefusal(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s Secrets) issued(secret string) bool {
	return s.Issued != nil && secret != "" && s.Issued(secret)
}

func writeRefusal(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// constantTimeEqual compares in a time that tells nothing, the length included. Blank never matches.
func constantTimeEqual(given, want string) bool {
	if want == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func bearerToken(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return rest
}

func presentedSecret(r *http.Request) string {
	if header := r.Header.Get("X-Openclaw-Password"); strings.TrimSpace(header) != "" {
		return header
	}
	_, password, _ := r.BasicAuth()
	return password
}

// RequireLocalHost refuses requests made under a name that is not this machine's own: a web page may have pointed its
// name here.
func RequireLocalHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !pageorigin.IsKnownHost(r) {
			writeRefusal(w, http.StatusForbidden, "Forbidden: the control API answers under loopback names only, such as 127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseCrossSite refuses requests that may change something and that a page from elsewhere has made, see
// [pageorigin.IsCrossSite].
func RefuseCrossSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
			if pageorigin.IsCrossSite(r, true) {
				writeRefusal(w, http.StatusForbidden, "Forbidden")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
