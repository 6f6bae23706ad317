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
	"clank/browsermgr/address"
	"clank/internal/pageorigin"
)

// DefaultAddr is the default address of the control API.
const DefaultAddr = "127.0.0.1:18791"

// Server is the control API. Its fields are set before [Server.Open] and not changed afterwards.
type Server struct {
	// Manager owns the browsers. It must be open and outlive the server. Required.
	Manager *browsermgr.Manager
	// Addr is the host:port to listen on; the host must be a loopback address. Empty means [DefaultAddr].
	Addr string
	// Secrets authenticate clients.
	Secrets Secrets
	// Insecure allows a server without secrets, open to every program on this machine.
	Insecure bool
	// Settings are read for each request; nil means [DefaultSettings].
	Settings Settings
	// Policy decides which addresses pages may have; nil allows http, https and about:blank.
	Policy Policy
	// Approver approves effects of requests on behalf of models; nil refuses everything that may need approval.
	Approver Approver
	// Features observes the Manager's browsers through its Observe. With nil its routes are unavailable.
	Features *Features
	// Version appears in the OpenAPI document.
	Version string
	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger

	listener net.Listener
	http     *http.Server
	end      context.CancelCauseFunc
	work     sync.WaitGroup
	handlers sync.WaitGroup
	tabs     *TabRegistry
}

// Settings are the operator's settings for requests.
type Settings interface {
	// EvaluateEnabled reports whether JavaScript of clients may run.
	EvaluateEnabled() bool
	// ActionTimeout returns the time limit of actions that name none; 0 means the default of each kind.
	ActionTimeout() time.Duration
	// SnapshotMode returns the mode of snapshots that name none: "efficient", or "" for a plain one.
	SnapshotMode() string
}

// DefaultSettings enables JavaScript and uses the default time limits and plain snapshots.
type DefaultSettings struct{}

// EvaluateEnabled implements [Settings].
func (DefaultSettings) EvaluateEnabled() bool { return true }

// ActionTimeout implements [Settings].
func (DefaultSettings) ActionTimeout() time.Duration { return 0 }

// SnapshotMode implements [Settings].
func (DefaultSettings) SnapshotMode() string { return "" }

// Open starts listening. It fails without a secret, unless Insecure, and for an address that is not loopback.
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
	listener, err := address.Listen(ctx, s.Addr)
	if err != nil {
		return fmt.Errorf("open control server: %w", err)
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
			s.Logger.Error("control API stopped", "error", err)
		}
	})
	s.Logger.Info("control API listening", "address", s.URL())
	return nil
}

// URL returns the server's base URL, such as http://127.0.0.1:18791.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close stops listening, cancels running requests and waits for them until ctx ends. The browsers keep running.
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

// handler chains the middleware: cancel on disconnect, read the body, check host, site and secret, route.
func (s *Server) handler() http.Handler {
	inner := ReadJSONBody(RefuseCrossSite(s.Secrets.Require(s.mux())))
	return RequireLocalHost(s.abortable(inner))
}

var errClientGone = errors.New("the client went away")

// abortable cancels a request's context, with a cause, when its client disconnects or the server closes.
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

// Secrets authenticate a request, which must present one of them. Blank ones do not count; without any, every request
// passes.
type Secrets struct {
	// Token is presented as Authorization: Bearer.
	Token string
	// Password is presented in the header x-openclaw-password, or with HTTP Basic under any user name.
	Password string
	// Issued reports whether a secret is an issued token that is still valid, presented like Token or Password. Nil
	// means that there are none.
	Issued func(secret string) bool
}

// Empty reports whether there is no secret.
func (s Secrets) Empty() bool {
	return strings.TrimSpace(s.Token) == "" && strings.TrimSpace(s.Password) == "" && s.Issued == nil
}

// Require refuses requests without a valid secret, with status 401 and the text that clients expect.
func (s Secrets) Require(next http.Handler) http.Handler {
	token, password := strings.TrimSpace(s.Token), strings.TrimSpace(s.Password)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Empty() && !constantTimeEqual(bearerToken(r), token) && !constantTimeEqual(presentedSecret(r), password) &&
			!s.issued(bearerToken(r)) && !s.issued(presentedSecret(r)) {
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

// constantTimeEqual compares in a time independent of content and length. A blank secret never matches.
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

// RequireLocalHost refuses requests whose Host is not a name of this machine, against DNS rebinding.
func RequireLocalHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !pageorigin.IsKnownHost(r) {
			writeRefusal(w, http.StatusForbidden, "Forbidden: the control API answers under loopback names only, such as "+
				"127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseCrossSite refuses requests that may change something and come from a page of another site; see
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
