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
	"slices"
	"strings"
	"sync"
	"time"

	"clank/sessions"
)

// Why a link shows nothing.
var (
	ErrLinkInvalid = errors.New("this link is not complete, or was not made by this server")
	ErrLinkExpired = errors.New("this link has expired: ask for a new one")
	ErrLinkRevoked = errors.New("what this link showed is not shared any more")
	ErrLinkTaken   = errors.New("this link belongs to the browser that opened it first: ask for a link of your own")
	ErrLinkSignIn  = errors.New("this link is for one person: sign in with Discord to show that it is you")
	ErrLinkOthers  = errors.New("this link was made for another Discord account: ask for a link of your own")
)

// DefaultLinkLifetime is how long a link works at most.
const DefaultLinkLifetime = 2 * time.Hour

// Sizes of the parts of a token.
const (
	linkKeySize    = 32
	linkExpirySize = 8
	linkMACSize    = 16 // of HMAC-SHA-256, cut as RFC 2104 allows

	minBrowserSecret = 16 // characters
	maxBrowsers      = 8  // in which one person has a link
)

// Link is one link to a shared page. A link to a session is for one person: the owner of a Discord account, or whoever
// opens it first, in the one browser; others are refused. A link to what a call shows is for everyone in the call.
type Link struct {
	ID      string // no secret
	Share   string // whose page it shows
	Session string // "": a link for a call
	Control bool   // its holder may control the page, not only watch
	User    string // the Discord account that it is for; "": whoever opens it first
	Name    string // of that person, once they have signed in
	By      sessions.Origin
	Until   time.Time
	Opened  time.Time       // zero if nobody has opened it yet
	Done    <-chan struct{} // closed when it is void
}

// linkRecord is a link that was given out, and is not void.
type linkRecord struct {
	Link
	done     chan struct{}
	browsers [][sha256.Size]byte // digests of the secrets of browsers that opened it
}

// Links gives out the secrets in links to shares: signed with a key of this run, bound to one link, with an end, and
// void when the share has ended. The zero value is ready; its methods are safe for concurrent use.
type Links struct {
	// Lifetime returns the default and maximum lifetime of links; nil or 0 means [DefaultLinkLifetime].
	Lifetime func() time.Duration

	once sync.Once
	key  [linkKeySize]byte

	mu  sync.Mutex
	all map[string]*linkRecord // by id
}

// MaxLifetime returns how long a link works at most.
func (l *Links) MaxLifetime() time.Duration {
	if l.Lifetime == nil {
		return DefaultLinkLifetime
	}
	return cmp.Or(max(0, l.Lifetime()), DefaultLinkLifetime)
}

// mac returns the signature of a token's body.
func (l *Links) mac(body []byte) []byte {
	l.once.Do(func() { _, _ = rand.Read(l.key[:]) }) // which never fails
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write(body)
	return mac.Sum(nil)[:linkMACSize]
}

// Issue creates the token of a link; a zero Until means the maximum. The token consists of letters, digits, "-" and
// "_". It contains, signed, the expiry, the right ("v" to view, "c" to control) and the id.
func (l *Links) Issue(link Link) (token string, issued Link) {
	if link.Until.IsZero() {
		link.Until = time.Now().Add(l.MaxLifetime())
	}
	link.Until = link.Until.Truncate(time.Second)
	link.ID = strings.ToLower(rand.Text())
	done := make(chan struct{})
	link.Done = done
	l.mu.Lock()
	l.dropExpired()
	if l.all == nil {
		l.all = map[string]*linkRecord{}
	}
	l.all[link.ID] = &linkRecord{Link: link, done: done}
	l.mu.Unlock()
	right := byte('v')
	if link.Control {
		right = 'c'
	}
	body := binary.BigEndian.AppendUint64(nil, uint64(link.Until.Unix())) //nolint:gosec // after 1970
	body = append(append(body, right), link.ID...)
	return base64.RawURLEncoding.EncodeToString(append(body, l.mac(body)...)), link
}

// Check returns the link of a token. browser is a secret that the viewer's browser keeps: a link to a session belongs
// to the first browser that opens it, unless the link is for an account. The error is one of those above, a sentence
// for people.
func (l *Links) Check(token, browser string) (Link, error) { return l.open(token, browser, "", "") }

// Admit is Check for a browser in which the person of a Discord account has signed in.
func (l *Links) Admit(token, browser, user, name string) (Link, error) {
	return l.open(token, browser, user, name)
}

func (l *Links) open(token, browser, user, name string) (Link, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < linkExpirySize+1+linkMACSize {
		return Link{}, ErrLinkInvalid
	}
	body, sum := raw[:len(raw)-linkMACSize], raw[len(raw)-linkMACSize:]
	if !hmac.Equal(sum, l.mac(body)) {
		return Link{}, ErrLinkInvalid
	}
	now := time.Now()
	if !now.Before(time.Unix(int64(binary.BigEndian.Uint64(body)), 0)) { //nolint:gosec // our own, by its signature
		return Link{}, ErrLinkExpired
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.all[string(body[linkExpirySize+1:])]
	if r == nil {
		return Link{}, ErrLinkRevoked
	}
	if r.Session == "" {
		return r.Link, nil
	}
	if len(browser) < minBrowserSecret {
		return Link{}, ErrLinkTaken
	}
	same := sha256.Sum256([]byte(browser))
	switch {
	case slices.Contains(r.browsers, same):
		return r.Link, nil
	case r.User == "" && !r.Opened.IsZero():
		return Link{}, ErrLinkTaken
	case r.User != "" && user == "":
		return Link{}, ErrLinkSignIn
	case r.User != "" && r.User != user:
		return Link{}, ErrLinkOthers
	case r.User != "":
		r.Name = name
	}
	r.Opened = now
	r.browsers = append(r.browsers[max(0, len(r.browsers)-maxBrowsers+1):], same)
	return r.Link, nil
}

// List returns the links that are good and match, oldest end first.
func (l *Links) List(match func(Link) bool) []Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropExpired()
	list := []Link{}
	for _, r := range l.all {
		if match(r.Link) {
			list = append(list, r.Link)
		}
	}
	slices.SortFunc(list, func(a, b Link) int { return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Revoke revokes the links for which match returns true, and ends the views that use them. It returns their number.
func (l *Links) Revoke(match func(Link) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.all {
		if match(r.Link) {
			delete(l.all, id)
			close(r.done)
			n++
		}
	}
	return n
}

// dropExpired forgets links that are over. The lock is held.
func (l *Links) dropExpired() {
	for id, r := range l.all {
		if !time.Now().Before(r.Until) {
			delete(l.all, id)
			close(r.done)
		}
	}
}

// ofShare matches the links to a share.
func ofShare(id string) func(Link) bool { return func(l Link) bool { return l.Share == id } }

// LinkTarget shows a share to people who have a link. The viewer page behind the link finds the share by
// [Manager.Watch].
type LinkTarget struct {
	Links *Links

	// Address returns the public URL of the viewer page for a token. Empty means that there is none now.
	Address func(token string) string
}

// Name implements [Target].
func (s *LinkTarget) Name() string { return "a link" }

// Begin implements [Target].
func (s *LinkTarget) Begin(_ context.Context, show Presentation) (ViewLocation, error) {
	token, issued := s.Links.Issue(Link{Share: show.ID, By: show.Session.Origin})
	link := s.Address(token)
	if link == "" {
		s.Links.Revoke(ofShare(show.ID))
		return ViewLocation{}, errors.New("there is no address under which people reach the viewer page; set one in the " +
			"settings")
	}
	return ViewLocation{
		Text: fmt.Sprintf("It is shown behind a link, for %d minutes at most: whoever has it can watch.",
			int(time.Until(issued.Until).Round(time.Minute)/time.Minute)),
		Link: link,
	}, nil
}

// End implements [Target].
func (s *LinkTarget) End(_ context.Context, show Presentation) error {
	s.Links.Revoke(ofShare(show.ID))
	return nil
}
