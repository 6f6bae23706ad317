package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/atomicfile"

	"github.com/gofrs/flock"
)

// Scope is what a token gives access to.
type Scope string

// The scopes.
const (
	ScopeControl Scope = "control" // the browser's control API, and the browser over MCP
	ScopePage    Scope = "page"    // the dashboard and its API
	ScopeMetrics Scope = "metrics" // the metrics for Prometheus
	ScopeSignIn  Scope = "browser" // a browser that is signed in to the dashboard
)

// scopeCookie was the scope of sign-ins whose secret was in a cookie, which servers on other ports could read. It
// grants nothing.
const scopeCookie Scope = "sign-in"

var (
	// ErrTokenExists is returned for a name that is in use.
	ErrTokenExists = errors.New("there is a token of that name")
	// ErrTokenNotFound is returned for a name that is not in use.
	ErrTokenNotFound = errors.New("there is no token of that name")
)

// Token describes an issued secret.
type Token struct {
	Name    string    `json:"name"`
	Scope   Scope     `json:"scope"`
	Digest  string    `json:"sha256"` // of the secret, in hex
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never

	// Only for sign-ins: the Discord account (empty for the operator, by link or token), the browser's IP address and
	// its name for itself.
	User    string `json:"user,omitempty"`
	From    string `json:"from,omitempty"`
	Browser string `json:"browser,omitempty"`
}

// TokenStore holds the tokens of one file. It is safe for concurrent use.
type TokenStore struct {
	path string

	mu       sync.Mutex
	fileInfo fs.FileInfo // of the file as last read; nil: it did not exist
	list     []Token
}

// The most browsers that may be signed in: by the operator, and by one Discord account. The next sign-in ends the
// oldest.
const (
	maxSignIns       = 50
	maxPersonSignIns = 10
)

const secretBytes = 32

// OpenTokens reads the tokens of a file, which need not exist.
func OpenTokens(path string) (*TokenStore, error) {
	s := &TokenStore{path: path}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.reload()
}

// NewSecret returns a random secret that is not stored.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Issue makes a token and returns its secret, which cannot be read again. The token is valid for the given time, or
// for ever if that is 0. The error wraps [ErrTokenExists].
func (s *TokenStore) Issue(name string, scope Scope, holds time.Duration) (secret string, err error) {
	return s.issue(Token{Name: name, Scope: scope}, holds)
}

// SignIn signs a browser in and returns its secret. Of t, only the name, user, address and browser are used.
func (s *TokenStore) SignIn(t Token, holds time.Duration) (secret string, err error) {
	t.Scope = ScopeSignIn
	return s.issue(t, holds)
}

func (s *TokenStore) issue(t Token, holds time.Duration) (secret string, err error) {
	secret = NewSecret()
	t.Digest, t.Created = secretDigest(secret), time.Now().UTC().Truncate(time.Second)
	if holds > 0 {
		t.Expires = t.Created.Add(holds)
	}
	return secret, s.update("make a token", func(list []Token) ([]Token, error) {
		if t.Scope == ScopeSignIn {
			return append(dropOldestSignIn(list, t.User), t), nil
		}
		if slices.ContainsFunc(list, func(o Token) bool { return o.Name == t.Name && o.Scope != ScopeSignIn }) {
			return nil, fmt.Errorf("%w: %s; remove it first, or take another name", ErrTokenExists, t.Name)
		}
		return append(list, t), nil
	})
}

// dropOldestSignIn makes room for a sign-in of user.
func dropOldestSignIn(list []Token, user string) []Token {
	n, most := 1, maxPersonSignIns
	if user == "" {
		most = maxSignIns
	}
	for _, t := range list {
		if t.Scope == ScopeSignIn && t.User == user {
			n++
		}
	}
	return slices.DeleteFunc(list, func(t Token) bool {
		if t.Scope != ScopeSignIn || t.User != user || n <= most {
			return false
		}
		n--
		return true
	})
}

// Valid reports whether secret belongs to an unexpired token with one of these scopes. Its timing does not depend on
// the stored secrets.
func (s *TokenStore) Valid(secret string, scopes ...Scope) bool {
	_, found := s.find(secret, scopes...)
	return found
}

// SignedIn returns the unexpired sign-in with that secret, if there is one.
func (s *TokenStore) SignedIn(secret string) (Token, bool) { return s.find(secret, ScopeSignIn) }

func (s *TokenStore) find(secret string, scopes ...Scope) (found Token, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reload() != nil {
		return Token{}, false
	}
	given, now := []byte(secretDigest(strings.TrimSpace(secret))), time.Now()
	for _, t := range s.list { // all of them, for constant time
		if subtle.ConstantTimeCompare(given, []byte(t.Digest)) == 1 && slices.Contains(scopes, t.Scope) && !t.expired(now) {
			found, ok = t, true
		}
	}
	return found, ok
}

// List returns the unexpired tokens, without sign-ins.
func (s *TokenStore) List() ([]Token, error) { return s.unexpired(false) }

// SignIns returns the signed-in browsers, latest first.
func (s *TokenStore) SignIns() ([]Token, error) {
	list, err := s.unexpired(true)
	slices.Reverse(list)
	return list, err
}

func (s *TokenStore) unexpired(signIns bool) ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reload(); err != nil {
		return nil, err
	}
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.list), func(t Token) bool {
		return (t.Scope == ScopeSignIn) != signIns || t.expired(now)
	}), nil
}

// Remove revokes the token of that name. The error wraps [ErrTokenNotFound].
func (s *TokenStore) Remove(name string) error {
	return s.remove(func(t Token) bool { return t.Name == name && t.Scope != ScopeSignIn },
		fmt.Errorf("%w: %s", ErrTokenNotFound, name))
}

// SignOut ends the sign-in with that secret, if there is one.
func (s *TokenStore) SignOut(secret string) error {
	gone := secretDigest(secret)
	return s.SignOutAll(func(t Token) bool { return t.Digest == gone })
}

// SignOutAll ends the sign-ins for which which returns true.
func (s *TokenStore) SignOutAll(which func(Token) bool) error {
	return s.remove(func(t Token) bool { return t.Scope == ScopeSignIn && which(t) }, nil)
}

// Is reports whether secret is the token's secret.
func (t Token) Is(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(secretDigest(secret)), []byte(t.Digest)) == 1
}

func (s *TokenStore) remove(which func(Token) bool, none error) error {
	return s.update("remove a token", func(list []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(list), which)
		if len(left) == len(list) && none != nil {
			return nil, none
		}
		return left, nil
	})
}

func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// IsSecret compares given with want in constant time. An empty want never matches.
func IsSecret(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(secretDigest(given)), []byte(secretDigest(want))) == 1 && want != ""
}

func secretDigest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// tokenFile is the format of the file.
type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const tokenFileVersion = 1

// reload reads the file again if it has changed. The lock is held.
func (s *TokenStore) reload() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.fileInfo, s.list = nil, nil
		return nil
	case err != nil:
		return fmt.Errorf("read the tokens: %w", err)
	case s.fileInfo != nil && os.SameFile(info, s.fileInfo) && info.ModTime().Equal(s.fileInfo.ModTime()) &&
		info.Size() == s.fileInfo.Size():
		return nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	var f tokenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the tokens in %s: %w; remove the file to start again without any tokens", s.path, err)
	}
	if f.Version != tokenFileVersion {
		return fmt.Errorf("read the tokens in %s: its version is %d, and this program knows %d; use the newer program",
			s.path, f.Version, tokenFileVersion)
	}
	s.fileInfo, s.list = info, slices.DeleteFunc(f.Tokens, func(t Token) bool { return t.Scope == scopeCookie })
	return nil
}

// tokenLockWait is how long to wait for another process that is writing the file.
const tokenLockWait = 5 * time.Second

// update replaces the tokens in the file, under a lock that excludes other processes. It drops expired tokens.
func (s *TokenStore) update(act string, how func([]Token) ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	lock := flock.New(s.path + ".lock")
	ctx, cancel := context.WithTimeoutCause(context.Background(), tokenLockWait,
		errors.New("another process keeps "+lock.Path()+" locked"))
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("%s: %w", act, cmp.Or(context.Cause(ctx), err))
	}
	defer func() { _ = lock.Unlock() }()
	if err := s.reload(); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	now := time.Now()
	list, err := how(slices.DeleteFunc(slices.Clone(s.list), func(t Token) bool { return t.expired(now) }))
	if err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	if err := writeTokenFile(s.path, tokenFile{Version: tokenFileVersion, Tokens: list}); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	s.fileInfo = nil // read again: another process sees the same file
	return s.reload()
}

// writeTokenFile replaces the file atomically, readable by its owner only.
func writeTokenFile(path string, f tokenFile) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Cleanup() }()
	if _, err := tmp.Write(append(data, '\n')); err != nil {
		return err
	}
	return tmp.CloseAtomicallyReplace()
}
