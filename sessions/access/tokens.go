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

// Scope names what a token opens.
type Scope string

// The scopes.
const (
	ScopeControl Scope = "control" // the browser's control API, and the browser over MCP
	ScopePage    Scope = "page"    // the operator's page and its API
	ScopeMetrics Scope = "metrics" // what Prometheus reads
	ScopeSignIn  Scope = "browser" // a browser that is signed in to the page
)

// scopeCookie was that of a sign-in whose secret was in a cookie, which other ports could learn. It opens nothing.
const scopeCookie Scope = "sign-in"

var (
	// ErrTokenExists says that there is a token of that name.
	ErrTokenExists = errors.New("there is a token of that name")
	// ErrTokenNotFound says that there is none.
	ErrTokenNotFound = errors.New("there is no token of that name")
)

// Token describes a secret.
type Token struct {
	Name    string    `json:"name"`
	Scope   Scope     `json:"scope"`
	Digest  string    `json:"sha256"` // of the secret, in hex
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never

	// Of a sign-in: the Discord account, empty for the operator by link or token; the address that the browser came
	// from, and what it calls itself.
	User    string `json:"user,omitempty"`
	From    string `json:"from,omitempty"`
	Browser string `json:"browser,omitempty"`
}

// TokenStore is the tokens of one file. It is safe for concurrent use.
type TokenStore struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	fileInfo fs.FileInfo // of the file as it was read last; nil: there was none
	list     []Token
}

// How many browsers may be signed in: the operator's, and those of one Discord account. The oldest is signed out for
// another.
const (
	maxSignIns       = 50
	maxPersonSignIns = 10
)

const secretBytes = 32

// OpenTokens reads the tokens of a file, which need not be there. now is the clock, nil for time.Now.
func OpenTokens(path string, now func() time.Time) (*TokenStore, error) {
	if now == nil {
		now = time.Now
	}
	s := &TokenStore{path: path, now: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.reload()
}

// NewSecret returns a new random secret, for what is not kept.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Issue makes a token and returns its secret, which cannot be had again. It holds for the time given, or for ever
// with 0. The error wraps [ErrTokenExists].
func (s *TokenStore) Issue(name string, scope Scope, holds time.Duration) (secret string, err error) {
	return s.issue(Token{Name: name, Scope: scope}, holds)
}

// SignIn signs a browser in, and returns the secret that shows it. Of t, its name, user, address and browser count.
func (s *TokenStore) SignIn(t Token, holds time.Duration) (secret string, err error) {
	t.Scope = ScopeSignIn
	return s.issue(t, holds)
}

func (s *TokenStore) issue(t Token, holds time.Duration) (secret string, err error) {
	secret = NewSecret()
	t.Digest, t.Created = secretDigest(secret), s.now().UTC().Truncate(time.Second)
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

// Valid reports whether a secret is that of a token with one of these scopes that has not expired. How long it takes
// tells nothing about the secrets there are.
func (s *TokenStore) Valid(secret string, scopes ...Scope) bool {
	_, found := s.find(secret, scopes...)
	return found
}

// SignedIn returns the sign-in with that secret, if there is one that has not expired.
func (s *TokenStore) SignedIn(secret string) (Token, bool) { return s.find(secret, ScopeSignIn) }

func (s *TokenStore) find(secret string, scopes ...Scope) (found Token, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reload() != nil {
		return Token{}, false
	}
	given, now := []byte(secretDigest(strings.TrimSpace(secret))), s.now()
	for _, t := range s.list { // all of them, whichever it is
		if subtle.ConstantTimeCompare(given, []byte(t.Digest)) == 1 && slices.Contains(scopes, t.Scope) && !t.expired(now) {
			found, ok = t, true
		}
	}
	return found, ok
}

// List returns the tokens that have not expired, without the sign-ins.
func (s *TokenStore) List() ([]Token, error) { return s.living(false) }

// SignIns returns the browsers that are signed in, the last first.
func (s *TokenStore) SignIns() ([]Token, error) {
	list, err := s.living(true)
	slices.Reverse(list)
	return list, err
}

func (s *TokenStore) living(signIns bool) ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reload(); err != nil {
		return nil, err
	}
	now := s.now()
	return slices.DeleteFunc(slices.Clone(s.list), func(t Token) bool {
		return (t.Scope == ScopeSignIn) != signIns || t.expired(now)
	}), nil
}

// Remove ends the token of that name. The error wraps [ErrTokenNotFound].
func (s *TokenStore) Remove(name string) error {
	return s.remove(func(t Token) bool { return t.Name == name && t.Scope != ScopeSignIn }, fmt.Errorf("%w: %s", ErrTokenNotFound, name))
}

// SignOut ends the sign-in with that secret, if there is one.
func (s *TokenStore) SignOut(secret string) error {
	gone := secretDigest(secret)
	return s.SignOutAll(func(t Token) bool { return t.Digest == gone })
}

// SignOutAll ends the sign-ins for which which is true.
func (s *TokenStore) SignOutAll(which func(Token) bool) error {
	return s.remove(func(t Token) bool { return t.Scope == ScopeSignIn && which(t) }, nil)
}

// Is reports whether a secret is the token's.
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

// IsSecret compares in a time that tells nothing about want. Nothing is the same as an empty secret.
func IsSecret(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(secretDigest(given)), []byte(secretDigest(want))) == 1 && want != ""
}

func secretDigest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// tokenFile is what is kept.
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
	case s.fileInfo != nil && os.SameFile(info, s.fileInfo) && info.ModTime().Equal(s.fileInfo.ModTime()) && info.Size() == s.fileInfo.Size():
		return nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	var f tokenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the tokens in %s: %w; remove the file to begin anew: all tokens end with it", s.path, err)
	}
	if f.Version != tokenFileVersion {
		return fmt.Errorf("read the tokens in %s: its version is %d, and this program knows %d; use the newer program", s.path, f.Version, tokenFileVersion)
	}
	s.fileInfo, s.list = info, slices.DeleteFunc(f.Tokens, func(t Token) bool { return t.Scope == scopeCookie })
	return nil
}

// tokenLockWait bounds the wait for another process, which holds the lock for the writing of a small file.
const tokenLockWait = 5 * time.Second

// update replaces the file by one with other tokens, while no other process does. Those that have expired are left out.
func (s *TokenStore) update(act string, how func([]Token) ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	lock := flock.New(s.path + ".lock")
	ctx, cancel := context.WithTimeoutCause(context.Background(), tokenLockWait, errors.New("another process keeps "+lock.Path()+" locked"))
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("%s: %w", act, cmp.Or(context.Cause(ctx), err))
	}
	defer func() { _ = lock.Unlock() }()
	if err := s.reload(); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	now := s.now()
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

// writeTokenFile puts the whole file into its place at once, readable by its owner alone.
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
