package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/dashboard/api"
	"clank/internal/telemetry"
	"clank/internal/untrusted"
	"clank/sessions/access"
)

// bearer returns the secret that a request carries; "" if none. A page cannot set headers on a WebSocket, so it sends
// its key as one of the WebSocket subprotocols.
func bearer(r *http.Request) string {
	if secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(secret)
	}
	for protocol := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if secret, ok := strings.CutPrefix(strings.TrimSpace(protocol), "key."); ok {
			return secret
		}
	}
	return ""
}

// requireRole passes requests of visitors with the role, see [visitorOf]. There are no cookies: cookies ignore ports,
// so every server on any port of this machine would receive them and could replace them. Pages keep their key in the
// storage of their origin, which includes the port. A browser that navigates to an address cannot send the key: it
// gets an empty page whose script repeats the request with the key.
func (s *Server) requireRole(least Role, next http.HandlerFunc) http.HandlerFunc {
	if least == RoleNobody {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		switch v := s.identify(r); {
		case v.role >= least:
			next(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
		case v.role > RoleNobody:
			writeError(w, http.StatusForbidden, "that is not yours to see or do here: ask the operator of this clank")
		case strings.HasPrefix(r.URL.Path, "/api/") || r.Header.Get("Authorization") != "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="clank"`)
			writeError(w, http.StatusUnauthorized, "sign in first: open the link that clank printed when it started, or that "+
				"\"clank login\" prints")
		default:
			s.answerWith(s.openingPage)(w, r)
		}
	}
}

// orMetricsToken also passes requests with a token for metrics.
func (s *Server) orMetricsToken(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.Tokens.Valid(bearer(r), access.ScopeMetrics) {
			s.answerWith(s.metrics)(w, r)
			return
		}
		next(w, r)
	}
}

func (s *Server) openingPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, r, "open", pageData{Title: "clank"})
}

// missingPage answers where there is no page, to people with a page.
func (s *Server) missingPage(w http.ResponseWriter, r *http.Request) error {
	const said = "There is no page at this address."
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
		return refuse(http.StatusNotFound, said)
	}
	return s.page(w, r, "open", pageData{Title: "Page not found", Status: http.StatusNotFound, Data: said})
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, r, "login", pageData{Title: "Sign in", Data: s.discordSignInURL(r) != ""})
}

// login signs a browser in with a one-time code or a token and returns the key of its sign-in.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Code  string `json:"code"`
		Token string `json:"token"`
	}
	if err := readJSON(r, &in); err != nil {
		return err
	}
	with := "link"
	if !s.codes.use(in.Code) {
		with = "token"
		if !s.isToken(strings.TrimSpace(in.Token)) {
			return refuse(http.StatusUnauthorized, "that does not open the page: each link works once")
		}
	}
	return s.signIn(w, r, with, access.Token{Name: "the operator"})
}

// signIn returns a new sign-in key to a browser.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, with string, t access.Token) error {
	t.From, t.Browser = s.clientOf(r), untrusted.CleanLine(r.UserAgent(), maxUserAgent)
	secret, err := s.Tokens.SignIn(t, loginLifetime)
	if err != nil {
		return failed("sign in", err)
	}
	s.Telemetry.Audit(r.Context(), telemetry.Record{Kind: telemetry.KindSignIn, User: t.User},
		map[string]any{"with": with, "from": t.From})
	return writeJSON(w, http.StatusOK, map[string]string{"key": secret})
}

// maxUserAgent is the number of characters kept of a User-Agent header.
const maxUserAgent = 200

// newLoginLink returns to a program with a token a link that signs a browser in. A signed-in browser gets none:
// otherwise a stolen sign-in could be renewed forever.
func (s *Server) newLoginLink(w http.ResponseWriter, r *http.Request) error {
	if !s.isToken(bearer(r)) {
		return refuse(http.StatusForbidden, "links are for programs: run \"clank login\" where clank runs")
	}
	return writeJSON(w, http.StatusOK, api.LoginLink{URL: s.LoginURL()})
}

// logout ends the sign-in of a browser.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	return writeDone(w, "sign out", s.Tokens.SignOut(bearer(r)))
}

// sessionStatus reports whether the client is signed in.
func (s *Server) sessionStatus(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]bool{"signed_in": s.identify(r).role > RoleNobody})
}

// loginLifetime is how long a browser stays signed in.
const loginLifetime = 30 * 24 * time.Hour

// maxCodes is the number of unused one-time codes that are kept; older ones expire.
const maxCodes = 16

// loginCodes are one-time codes for signing in. They are printed where the operator reads them.
type loginCodes struct {
	mu     sync.Mutex
	unused []string // oldest first
}

// LoginURL returns an address that signs a browser in, once. The code is in the fragment, which browsers do not send
// to servers.
func (s *Server) LoginURL() string {
	c := &s.codes
	c.mu.Lock()
	defer c.mu.Unlock()
	code := access.NewSecret()
	c.unused = append(c.unused, code)
	c.unused = c.unused[max(0, len(c.unused)-maxCodes):]
	return s.URL() + "/login#" + code
}

// use reports whether given is an unused code, and removes it.
func (c *loginCodes) use(given string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.unused)
	c.unused = slices.DeleteFunc(c.unused, func(code string) bool { return access.IsSecret(given, code) })
	return len(c.unused) < n
}

// isToken reports whether given grants access: a token, or the secret of this run, which programs of the same user
// can read.
func (s *Server) isToken(given string) bool {
	return access.IsSecret(given, s.LocalSecret) || s.Tokens.Valid(given, access.ScopePage)
}
