package control

import (
	"net/http"

	"clank/sessions/access"
)

// RequireLocalHost refuses requests made under a name that is not this machine's own: a web page may have pointed its name here.
func RequireLocalHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !access.IsKnownHost(r) {
			writeRefusal(w, http.StatusForbidden, "Forbidden: the control API answers under loopback names only, such as 127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseCrossSite refuses requests that may change something and that a page from elsewhere has made, see [access.IsCrossSite].
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
