package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Secrets are what a request must show one of. A blank one does not count; without any, every request passes.
type Secrets struct {
	// Token is shown as Authorization: Bearer.
	Token string
	// Password is shown in the header x-openclaw-password, or with HTTP Basic under any name.
	Password string
}

// Empty says that there is no secret.
func (s Secrets) Empty() bool {
	return strings.TrimSpace(s.Token) == "" && strings.TrimSpace(s.Password) == ""
}

// Require refuses requests that show none of the secrets, with 401 and the text that clients know.
func (s Secrets) Require(next http.Handler) http.Handler {
	token, password := strings.TrimSpace(s.Token), strings.TrimSpace(s.Password)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Empty() && !same(bearer(r), token) && !same(given(r), password) {
			refuse(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// same compares in a time that tells nothing, the length included. Blank never matches.
func same(given, want string) bool {
	if want == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func bearer(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return rest
}

func given(r *http.Request) string {
	if header := r.Header.Get("X-Openclaw-Password"); strings.TrimSpace(header) != "" {
		return header
	}
	_, password, _ := r.BasicAuth()
	return password
}

// OpenToken returns the token kept in the file, or makes one of 24 random bytes and keeps it there, readable by its owner
// alone. Programs that start at the same time get the same one.
func OpenToken(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("keep the secret of the control API: %w", err)
	}
	return readToken(path)
}

func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the secret of the control API: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("read the secret of the control API: %s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("the secret of the control API can be read by others: %w", err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the secret of the control API: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("read the secret of the control API: %s is empty; delete it to have a new one made", path)
	}
	return token, nil
}

// makeToken puts the whole file into its place at once, unless there is one.
func makeToken(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // what is linked stays
	_, err = f.WriteString(hex.EncodeToString(secret[:]) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
