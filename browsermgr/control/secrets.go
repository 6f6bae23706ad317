package control

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"clank/sessions/access"
)

// Secrets are what a request must show one of. A blank one does not count; without any, every request passes.
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
		if !access.IsKnownHost(r) {
			writeRefusal(w, http.StatusForbidden, "Forbidden: the control API answers under loopback names only, such as 127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseCrossSite refuses requests that may change something and that a page from elsewhere has made, see
// [access.IsCrossSite].
func RefuseCrossSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
			if access.IsCrossSite(r, true) {
				writeRefusal(w, http.StatusForbidden, "Forbidden")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
