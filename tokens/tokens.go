// Package tokens keeps the secrets by which programs and browsers prove who they are. A secret is shown once, when it is
// made; what is kept is its SHA-256 digest, so that nobody who reads the file can use it. The secrets are 256 random bits:
// no slower digest would make them harder to guess.
//
// Several processes may use one file. It is not for secrets that we must show to others (see package vault), nor for
// those that people choose.
package tokens

import (
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
)

// Scope is what a token opens.
type Scope string

// The scopes.
const (
	Control Scope = "control" // the browser's control API, and the browser over MCP
	Page    Scope = "page"    // the operator's page and its API
	SignIn  Scope = "sign-in" // a browser that is signed in to the page
)

var (
	// ErrExists says that there is a token of that name.
	ErrExists = errors.New("there is a token of that name")
	// ErrNotFound says that there is none.
	ErrNotFound = errors.New("there is no token of that name")
)

// Token is what is known of a secret.
type Token struct {
	Name    string    `json:"name"`
	Scope   Scope     `json:"scope"`
	Digest  string    `json:"sha256"` // of the secret, in hex
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
}

// Store is the tokens of one file. It is safe for concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	state fs.FileInfo // of the file as it was read last; nil: there was none
	list  []Token
}

// maxSignIns is how many browsers may be signed in; the oldest is signed out for another.
const maxSignIns = 50

const secretBytes = 32

// Open reads the tokens of a file, which need not be there. now is the clock, nil for time.Now.
func Open(path string, now func() time.Time) (*Store, error) {
	if now == nil {
		now = time.Now
	}
	s := &Store{path: path, now: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.refresh()
}

// Secret returns a new random secret, for what is not kept.
func Secret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Issue makes a token and returns its secret, which cannot be had again. It holds for the time given, or for ever with 0.
// The error wraps [ErrExists]; names of sign-ins need not differ.
func (s *Store) Issue(name string, scope Scope, holds time.Duration) (secret string, err error) {
	secret = Secret()
	t := Token{Name: name, Scope: scope, Digest: digest(secret), Created: s.now().UTC().Truncate(time.Second)}
	if holds > 0 {
		t.Expires = t.Created.Add(holds)
	}
	return secret, s.change("make a token", func(list []Token) ([]Token, error) {
		if scope != SignIn && slices.ContainsFunc(list, func(o Token) bool { return o.Name == name && o.Scope != SignIn }) {
			return nil, fmt.Errorf("%w: %s; remove it first, or take another name", ErrExists, name)
		}
		return append(withoutOldest(list), t), nil
	})
}

// withoutOldest makes room for a sign-in.
func withoutOldest(list []Token) []Token {
	n := 0
	for _, t := range list {
		if t.Scope == SignIn {
			n++
		}
	}
	return slices.DeleteFunc(list, func(t Token) bool {
		if t.Scope != SignIn || n < maxSignIns {
			return false
		}
		n--
		return true
	})
}

// Valid reports whether a secret is that of a token with one of these scopes that has not expired. How long it takes tells
// nothing about the secrets there are.
func (s *Store) Valid(secret string, scopes ...Scope) bool {
	_, ok := s.find(secret, scopes)
	return ok
}

func (s *Store) find(secret string, scopes []Scope) (Token, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() != nil {
		return Token{}, false
	}
	given, now := []byte(digest(strings.TrimSpace(secret))), s.now()
	found := -1
	for i, t := range s.list {
		if subtle.ConstantTimeCompare(given, []byte(t.Digest)) == 1 && slices.Contains(scopes, t.Scope) && !t.over(now) {
			found = i
		}
	}
	if found < 0 {
		return Token{}, false
	}
	return s.list[found], true
}

// List returns the tokens that have not expired, without the sign-ins.
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	now := s.now()
	return slices.DeleteFunc(slices.Clone(s.list), func(t Token) bool { return t.Scope == SignIn || t.over(now) }), nil
}

// Remove ends the token of that name. The error wraps [ErrNotFound].
func (s *Store) Remove(name string) error {
	return s.remove(func(t Token) bool { return t.Name == name && t.Scope != SignIn }, fmt.Errorf("%w: %s", ErrNotFound, name))
}

// SignOut ends the sign-in with that secret, if there is one.
func (s *Store) SignOut(secret string) error {
	gone := digest(secret)
	return s.remove(func(t Token) bool { return t.Scope == SignIn && t.Digest == gone }, nil)
}

func (s *Store) remove(which func(Token) bool, none error) error {
	return s.change("remove a token", func(list []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(list), which)
		if len(left) == len(list) && none != nil {
			return nil, none
		}
		return left, nil
	})
}

func (t Token) over(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// file is what is kept.
type file struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const fileVersion = 1

// refresh reads the file again if it has changed. The lock is held.
func (s *Store) refresh() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.state, s.list = nil, nil
		return nil
	case err != nil:
		return fmt.Errorf("read the tokens: %w", err)
	case s.state != nil && os.SameFile(info, s.state) && info.ModTime().Equal(s.state.ModTime()) && info.Size() == s.state.Size():
		return nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the tokens in %s: %w; remove the file to begin anew: all tokens end with it", s.path, err)
	}
	if f.Version != fileVersion {
		return fmt.Errorf("read the tokens in %s: its version is %d, and this program knows %d; use the newer program", s.path, f.Version, fileVersion)
	}
	s.state, s.list = info, f.Tokens
	return nil
}

// change replaces the file by one with other tokens, while no other process does. Those that have expired are left out.
func (s *Store) change(act string, how func([]Token) ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	release, err := lock(s.path + ".lock")
	if err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	defer release()
	if err := s.refresh(); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	now := s.now()
	list, err := how(slices.DeleteFunc(slices.Clone(s.list), func(t Token) bool { return t.over(now) }))
	if err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	if err := write(s.path, file{Version: fileVersion, Tokens: list}); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	s.state = nil // read again: another process sees the same file
	return s.refresh()
}

// write puts the whole file into its place at once, readable by its owner alone.
func write(path string, f file) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tokens-*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
