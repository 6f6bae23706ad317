package discord

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/oauth2"
)

// Reasons why a person is not signed in.
var (
	ErrStateInvalid = errors.New("this sign-in was not begun here, took too long, or was used already: begin it again")
	ErrCodeRefused  = errors.New("Discord does not accept this sign-in: begin it again") //nolint:staticcheck // a name
)

const (
	stateLifetime = 10 * time.Minute
	stateNonce    = 16 // bytes
	maxSigningIn  = 16 // concurrent sign-ins: each asks Discord
)

// SignIn signs people in with their Discord accounts: OAuth2 with PKCE (RFC 6749, RFC 7636) and no scope but identify.
// What Discord issues is bound to the state for which it was requested, and a state is valid once. Set the fields
// before first use; its methods are safe for concurrent use.
type SignIn struct {
	// Application returns the id of the application and its client secret; if either is empty nobody can sign in.
	Application func() (id, secret string)

	Base       string       // scheme and host in place of https://discord.com
	HTTPClient *http.Client // nil is the default client

	once sync.Once
	key  [32]byte

	mu   sync.Mutex
	used map[string]time.Time // used states, until they expire
	busy int
}

// SignedIn is a person who has signed in.
type SignedIn struct {
	ID, Name string
	Token    string // the person's own, for what the scope allows
}

// Begin returns a state for one sign-in, and the challenge that goes with it (S256).
func (s *SignIn) Begin() (state, challenge string) {
	until := time.Now().Add(stateLifetime).Unix()
	body := binary.BigEndian.AppendUint64(nil, uint64(until)) //nolint:gosec // after 1970
	nonce := make([]byte, stateNonce)
	_, _ = rand.Read(nonce) // which never fails
	body = append(body, nonce...)
	state = base64.RawURLEncoding.EncodeToString(append(body, s.mac("state", string(body))...))
	return state, oauth2.S256ChallengeFromVerifier(s.verifier(state))
}

// URL returns the URL where a person signs in, from which they return to redirect.
func (s *SignIn) URL(state, redirect string) string {
	return s.config(redirect).AuthCodeURL(state, oauth2.S256ChallengeOption(s.verifier(state)))
}

// Finish returns the person who agreed to the sign-in of a state. redirect is as in URL, or empty for one in an
// Activity. The error is [ErrStateInvalid], [ErrCodeRefused], or why Discord could not be asked.
func (s *SignIn) Finish(ctx context.Context, state, code, redirect string) (SignedIn, error) {
	done, err := s.use(state)
	if err != nil {
		return SignedIn{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	client := http.Client{}
	if s.HTTPClient != nil {
		client = *s.HTTPClient
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &client)
	config := s.config(redirect)
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(s.verifier(state)))
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal.ErrorCode == "invalid_grant" {
		return SignedIn{}, ErrCodeRefused
	}
	if err != nil { // its text may contain what was sent
		return SignedIn{}, fmt.Errorf("ask Discord who signs in: %s", errorKind(err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base()+"/api/v10/users/@me", nil)
	if err != nil {
		return SignedIn{}, fmt.Errorf("ask Discord who signs in: %w", err)
	}
	res, err := config.Client(ctx, token).Do(req)
	if err != nil {
		return SignedIn{}, fmt.Errorf("ask Discord who signs in: %s", errorKind(err))
	}
	defer res.Body.Close()
	var u discordgo.User
	err = json.NewDecoder(http.MaxBytesReader(nil, res.Body, 64<<10)).Decode(&u)
	if err != nil || u.ID == "" || u.Bot {
		return SignedIn{}, fmt.Errorf("ask Discord who signs in: it answers with status %d", res.StatusCode)
	}
	return SignedIn{ID: u.ID, Name: cmp.Or(u.GlobalName, u.Username), Token: token.AccessToken}, nil
}

// errorKind returns what went wrong, without what was sent.
func errorKind(err error) string {
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Sprintf("it answers with status %d %s", refusal.Response.StatusCode, refusal.ErrorCode)
	}
	return "it cannot be reached"
}

// use invalidates a state, and reserves one of the concurrent sign-ins.
func (s *SignIn) use(state string) (done func(), err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	const size = 8 + stateNonce
	if err != nil || len(raw) != size+sha256.Size || !hmac.Equal(raw[size:], s.mac("state", string(raw[:size]))) {
		return nil, ErrStateInvalid
	}
	now := time.Now()
	until := time.Unix(int64(binary.BigEndian.Uint64(raw)), 0) //nolint:gosec // our own, by its signature
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, end := range s.used {
		if now.After(end) {
			delete(s.used, other)
		}
	}
	switch _, again := s.used[state]; {
	case again, now.After(until):
		return nil, ErrStateInvalid
	case s.busy >= maxSigningIn:
		return nil, errors.New("too many people sign in at this moment; try again in a few seconds")
	}
	if s.used == nil {
		s.used = map[string]time.Time{}
	}
	s.used[state] = until
	s.busy++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
	}, nil
}

// mac returns a signature with a key of this run.
func (s *SignIn) mac(use, text string) []byte {
	s.once.Do(func() { _, _ = rand.Read(s.key[:]) }) // which never fails
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(use + " " + text))
	return mac.Sum(nil)
}

// verifier returns the secret that goes with a state, which only we know.
func (s *SignIn) verifier(state string) string {
	return base64.RawURLEncoding.EncodeToString(s.mac("verifier", state))
}

func (s *SignIn) base() string { return cmp.Or(s.Base, "https://discord.com") }

func (s *SignIn) config(redirect string) *oauth2.Config {
	id, secret := s.Application()
	return &oauth2.Config{
		ClientID: id, ClientSecret: secret, RedirectURL: redirect, Scopes: []string{"identify"},
		Endpoint: oauth2.Endpoint{
			AuthURL: s.base() + "/oauth2/authorize", TokenURL: s.base() + "/api/v10/oauth2/token",
			AuthStyle: oauth2.AuthStyleInHeader,
		},
	}
}
