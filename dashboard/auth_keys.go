package dashboard

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"clank/sessions/access"
)

// loginLifetime is how long a browser stays signed in.
const loginLifetime = 30 * 24 * time.Hour

// maxCodes is how many unused one-time codes are kept, the newest.
const maxCodes = 16

// authKeys proves who somebody is: by the secret of this run, which programs of the same person read, by a token, by
// a one-time code that was printed where its owner reads, or by the cookie of a sign-in.
type authKeys struct {
	local  string
	tokens *access.TokenStore
	codes  loginCodes
}

type loginCodes struct {
	mu     sync.Mutex
	unused []string // oldest first
}

// isToken reports whether given opens the page.
func (k *authKeys) isToken(given string) bool {
	return equalSecret(given, k.local) || k.tokens.Valid(given, access.ScopePage)
}

// signIn returns a secret that stands for a browser from now on.
func (k *authKeys) signIn() (string, error) {
	secret, err := k.tokens.Issue("a browser", access.ScopeSignIn, loginLifetime)
	if err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	return secret, nil
}

// accessSignedIn reports whether r comes from a browser that is signed in.
func (k *authKeys) signedIn(c *http.Cookie) bool { return k.tokens.Valid(c.Value, access.ScopeSignIn) }

// newCode returns a code that signs in once.
func (k *authKeys) newCode() string {
	code := access.NewSecret()
	k.codes.mu.Lock()
	defer k.codes.mu.Unlock()
	k.codes.unused = append(k.codes.unused, code)
	if n := len(k.codes.unused); n > maxCodes {
		k.codes.unused = k.codes.unused[n-maxCodes:]
	}
	return code
}

// useCode reports whether given is an unused code, which it then no more is.
func (k *authKeys) useCode(given string) bool {
	k.codes.mu.Lock()
	defer k.codes.mu.Unlock()
	n := len(k.codes.unused)
	k.codes.unused = slices.DeleteFunc(k.codes.unused, func(c string) bool { return equalSecret(given, c) })
	return len(k.codes.unused) < n
}

// equalSecret compares in a time that tells nothing about want. Nothing is the same as an empty secret.
func equalSecret(given, want string) bool {
	g, w := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:]) == 1 && want != ""
}
