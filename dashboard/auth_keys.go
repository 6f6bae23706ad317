package dashboard

import (
	"slices"
	"sync"
	"time"

	"clank/sessions/access"
)

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
