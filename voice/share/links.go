package share

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Why a link shows nothing.
var (
	ErrLinkInvalid = errors.New("this link is not complete, or was not made by this server")
	ErrLinkExpired = errors.New("this link has expired: ask for a new one")
	ErrLinkRevoked = errors.New("what this link showed is not shared any more")
)

// DefaultLinkLifetime is how long a link works at most.
const DefaultLinkLifetime = 2 * time.Hour

// sizes of what a token is made of.
const (
	linkKeySize    = 32
	linkExpirySize = 8
	linkMACSize    = 16 // of HMAC-SHA-256, cut as RFC 2104 allows
)

// Links gives out the secrets in links to shares: signed with a key of this run, bound to one share, with an end, and void when the share
// has ended. Whoever has one may watch. The zero value is ready; its methods are safe for concurrent use.
type Links struct {
	Lifetime time.Duration    // 0 takes [DefaultLinkLifetime]
	Now      func() time.Time // nil is [time.Now]

	once sync.Once
	key  [linkKeySize]byte

	mu     sync.Mutex
	shares map[string]struct{} // the shares that may be watched
}

func (l *Links) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

// mac returns the signature of a token's body.
func (l *Links) mac(body []byte) []byte {
	l.once.Do(func() { _, _ = rand.Read(l.key[:]) }) // which never fails
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write(body)
	return mac.Sum(nil)[:linkMACSize]
}

// Issue makes a secret for a share, and tells until when it is good. It consists of letters, digits, "-" and "_".
func (l *Links) Issue(share string) (token string, until time.Time) {
	until = l.now().Add(cmp.Or(max(0, l.Lifetime), DefaultLinkLifetime)).Truncate(time.Second)
	l.mu.Lock()
	if l.shares == nil {
		l.shares = map[string]struct{}{}
	}
	l.shares[share] = struct{}{}
	l.mu.Unlock()
	body := binary.BigEndian.AppendUint64(nil, uint64(until.Unix())) //nolint:gosec // after 1970
	body = append(body, share...)
	return base64.RawURLEncoding.EncodeToString(append(body, l.mac(body)...)), until
}

// Check tells which share a secret is for, and until when. The error, which is one of [ErrLinkInvalid], [ErrLinkExpired] and
// [ErrLinkRevoked], is a sentence for people.
func (l *Links) Check(token string) (share string, until time.Time, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < linkExpirySize+linkMACSize {
		return "", time.Time{}, ErrLinkInvalid
	}
	body, sum := raw[:len(raw)-linkMACSize], raw[len(raw)-linkMACSize:]
	if !hmac.Equal(sum, l.mac(body)) {
		return "", time.Time{}, ErrLinkInvalid
	}
	until = time.Unix(int64(binary.BigEndian.Uint64(body)), 0) //nolint:gosec // our own, by its signature
	share = string(body[linkExpirySize:])
	l.mu.Lock()
	_, live := l.shares[share]
	l.mu.Unlock()
	switch {
	case !live:
		return "", time.Time{}, ErrLinkRevoked
	case !l.now().Before(until):
		return "", time.Time{}, ErrLinkExpired
	}
	return share, until, nil
}

// Revoke makes all links to a share void.
func (l *Links) Revoke(share string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.shares, share)
}

// LinkTarget shows a share to whoever has a link. The viewer page behind the link finds the share by [Manager.Watch].
type LinkTarget struct {
	Links *Links

	// Address is that of the viewer page with a secret in it, as people open it. Empty means that there is none now.
	Address func(token string) string
}

// Name implements [Target].
func (s *LinkTarget) Name() string { return "a link" }

// Begin implements [Target].
func (s *LinkTarget) Begin(_ context.Context, show Presentation) (ViewLocation, error) {
	token, until := s.Links.Issue(show.ID)
	link := s.Address(token)
	if link == "" {
		s.Links.Revoke(show.ID)
		return ViewLocation{}, errors.New("there is no address under which people reach the viewer page; set one in the settings")
	}
	return ViewLocation{
		Text: fmt.Sprintf("It is shown behind a link, for %d minutes at most: whoever has it can watch.", int(until.Sub(s.Links.now()).Round(time.Minute)/time.Minute)),
		Link: link,
	}, nil
}

// End implements [Target].
func (s *LinkTarget) End(_ context.Context, show Presentation) error {
	s.Links.Revoke(show.ID)
	return nil
}
