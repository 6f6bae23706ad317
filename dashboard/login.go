package dashboard

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/sessions/access"
)

// cookieName differs by port: cookies do not know ports, and two pages on one machine must not sign each other out.
func (s *Server) cookieName() string {
	_, port, _ := net.SplitHostPort(s.listen.Addr().String())
	return "clank_" + port
}

// isSignedIn reports whether r comes from somebody who has signed in.
func (s *Server) isSignedIn(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.isToken(strings.TrimSpace(token))
	}
	c, err := r.Cookie(s.cookieName())
	return err == nil && s.Tokens.Valid(c.Value, access.ScopeSignIn)
}

// requireLogin lets those pass who have signed in, and shows others the way.
func (s *Server) requireLogin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.isSignedIn(r):
			next(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			w.Header().Set("WWW-Authenticate", `Bearer realm="clank"`)
			writeError(w, http.StatusUnauthorized, "sign in first: open the link that clank printed when it started")
		default:
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		}
	}
}

func (s *Server) loginPage(w http.ResponseWriter, _ *http.Request) error {
	return s.page(w, "login", pageData{Title: "Sign in"})
}

// login signs a browser in, by a one-time code or by the token.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Code  string `json:"code"`
		Token string `json:"token"`
	}
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if !s.codes.use(in.Code) && !s.isToken(strings.TrimSpace(in.Token)) {
		return refuse(http.StatusUnauthorized, "that does not open the page: each link works once")
	}
	secret, err := s.Tokens.Issue("a browser", access.ScopeSignIn, loginLifetime)
	if err != nil {
		return failed("sign in", err)
	}
	s.setCookie(w, secret, int(loginLifetime.Seconds()))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// logout ends the sign-in of a browser, here as well as there.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if c, err := r.Cookie(s.cookieName()); err == nil {
		if err := s.Tokens.SignOut(c.Value); err != nil {
			return failed("sign out", err)
		}
	}
	s.setCookie(w, "", -1)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sessionStatus says whether whoever asks has signed in.
func (s *Server) sessionStatus(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]bool{"signed_in": s.isSignedIn(r)})
}

func (s *Server) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// loginLifetime is how long a browser stays signed in.
const loginLifetime = 30 * 24 * time.Hour

// maxCodes is how many unused one-time codes are kept, the newest.
const maxCodes = 16

// loginCodes sign in once each; they are printed where the owner of the page reads.
type loginCodes struct {
	mu     sync.Mutex
	unused []string // oldest first
}

// LoginURL returns an address that opens the page signed in, once. The code is in the fragment, which browsers keep to
// themselves.
func (s *Server) LoginURL() string {
	c := &s.codes
	c.mu.Lock()
	defer c.mu.Unlock()
	code := access.NewSecret()
	c.unused = append(c.unused, code)
	c.unused = c.unused[max(0, len(c.unused)-maxCodes):]
	return s.URL() + "/login#" + code
}

// use reports whether given is an unused code, which it then no more is.
func (c *loginCodes) use(given string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.unused)
	c.unused = slices.DeleteFunc(c.unused, func(code string) bool { return access.IsSecret(given, code) })
	return len(c.unused) < n
}

// isToken reports whether given opens the page: a token, or the secret of this run, which programs of the same person
// read.
func (s *Server) isToken(given string) bool {
	return access.IsSecret(given, s.LocalSecret) || s.Tokens.Valid(given, access.ScopePage)
}
