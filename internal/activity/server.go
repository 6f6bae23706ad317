package activity

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/cancel"
	"clank/internal/liveview/assets"
	"clank/sessions"

	"github.com/coder/websocket"
)

const (
	// Lifetime is how long a sign-in is valid.
	Lifetime = 4 * time.Hour

	// defaultRecheck is how long an answer of Discord about a person is cached.
	defaultRecheck = 30 * time.Second

	launchLifetime = 10 * time.Minute // between the request for a session and the start of the Activity that shows it
	maxVisits      = 2000             // when it is exceeded the oldest are removed
)

// Discord is what the Activity needs from Discord. Errors are shown to people.
type Discord interface {
	// Begin returns the application id, a state for one sign-in, and the PKCE challenge that belongs to it.
	Begin() (app, state, challenge string)

	// SignIn completes the sign-in with a state and returns the account, and the access token for Discord's client.
	SignIn(ctx context.Context, state, code string) (user, name, token string, err error)

	// Instance returns where an Activity instance is open, with an empty guild for a private conversation, and who is
	// in it.
	Instance(ctx context.Context, id string) (guild, channel string, users []string, err error)

	// Origin returns o with the current rights of its person in the channel, if they see it and may use clank there.
	Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error)
}

// Live shows a session to a person over a WebSocket, until that ends.
type Live interface {
	Serve(ctx context.Context, conn *websocket.Conn, session string, v sessions.Viewer)
}

// Server serves the Activity. Set its fields before first use; its methods are safe for concurrent use.
type Server struct {
	Sessions *sessions.Manager
	Live     Live
	Discord  Discord

	// AnyoneMayStop lets everyone who watches stop tasks. nil means no.
	AnyoneMayStop func() bool
	// CheckShare returns an error if a person may not show a session to others.
	CheckShare func(by sessions.Origin, s sessions.Session) error

	Logger *slog.Logger

	Now     func() time.Time // nil means [time.Now]
	Recheck time.Duration    // 0 means [defaultRecheck]

	site *assets.Site

	mu       sync.Mutex
	visits   map[[sha256.Size]byte]*visit // by the digest of their tokens
	launches map[person]launch
	shown    map[string]string // by instance: the session that everyone in it may watch
}

// person is a person in a guild, or in private conversations.
type person struct{ guild, user string }

// launch is a requested session until the Activity starts.
type launch struct {
	session string
	share   bool // with everyone in the instance
	at      time.Time
}

// visit is one person in one instance.
type visit struct {
	origin   sessions.Origin // at sign-in
	instance string
	until    time.Time
	session  string // requested session; may be empty. Guarded by the server's lock.

	mu      sync.Mutex // held during requests to Discord
	checked time.Time
	now     sessions.Origin
}

// Reasons why a person is not admitted.
var (
	errSignedOut   = errors.New("you are not signed in, or not any more")
	errNotInside   = errors.New("you are not in this Activity")
	errNotHere     = errors.New("this session is not to be seen here")
	errNotYours    = errors.New("only its owner, or somebody who moderates its channel, can show this session")
	errIsPrivate   = errors.New("this session is private, so only its owner can see it")
	errNotInPublic = errors.New("this session belongs to another server")
)

// Launch sets the session for the next Activity that o's person opens; with share, everyone in the instance may watch
// it.
func (s *Server) Launch(o sessions.Origin, session sessions.Session, share bool) error {
	owns := session.MayUse(o)
	secret := session.Origin.Private || session.Origin.Guild == ""
	switch {
	case session.State == sessions.SessionClosed:
		return sessions.ErrSessionClosed
	case secret && !owns:
		return errIsPrivate
	case session.Origin.Guild != o.Guild:
		return errNotInPublic
	case !owns && !o.Moderates(session.Origin.Guild, session.Origin.Channel) &&
		(share || session.Origin.Channel != o.Channel):
		return errNotYours
	}
	if err := s.CheckShare(o, session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for who, l := range s.launches {
		if s.now().Sub(l.at) > launchLifetime {
			delete(s.launches, who)
		}
	}
	if s.launches == nil {
		s.launches = map[person]launch{}
	}
	wish := launch{session.ID, share && !secret, s.now()}
	s.launches[person{o.Guild, o.User}] = wish
	for _, v := range s.visits { // the Activity may be open already
		if v.origin.User == o.User && v.origin.Guild == o.Guild {
			s.show(v, wish)
		}
	}
	return nil
}

// show makes an instance show the session that a person in it has requested. The caller holds the lock.
func (s *Server) show(v *visit, wish launch) {
	v.session = wish.session
	if wish.share {
		s.shown[v.instance] = wish.session
	}
}

// signIn admits a person and returns the token that authenticates them.
func (s *Server) signIn(
	ctx context.Context, state, code, instance string,
) (token, discord string, v *visit, err error) {
	user, name, discord, err := s.Discord.SignIn(ctx, state, code)
	if err != nil {
		return "", "", nil, err
	}
	v = &visit{instance: instance, until: s.now().Add(Lifetime)}
	v.origin = sessions.Origin{Kind: sessions.FromDiscord, User: user, UserName: name}
	if v.origin.Guild, v.origin.Channel, _, err = s.Discord.Instance(ctx, instance); err != nil {
		return "", "", nil, err
	}
	if _, err = s.check(ctx, v); err != nil {
		return "", "", nil, err
	}
	token = rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom()
	s.visits[sha256.Sum256([]byte(token))] = v
	who := person{v.origin.Guild, user}
	if wish, ok := s.launches[who]; ok && s.now().Sub(wish.at) <= launchLifetime {
		s.show(v, wish)
	}
	delete(s.launches, who)
	return token, discord, v, nil
}

// makeRoom removes expired visits and, if there are too many, the oldest. The caller holds the lock.
func (s *Server) makeRoom() {
	if s.visits == nil {
		s.visits, s.shown = map[[sha256.Size]byte]*visit{}, map[string]string{}
	}
	open := map[string]bool{}
	var first [sha256.Size]byte
	for key, v := range s.visits {
		if !s.now().Before(v.until) {
			delete(s.visits, key)
			continue
		}
		open[v.instance] = true
		if before := s.visits[first]; before == nil || v.until.Before(before.until) {
			first = key
		}
	}
	if len(s.visits) >= maxVisits {
		delete(s.visits, first)
	}
	for instance := range s.shown {
		if !open[instance] {
			delete(s.shown, instance)
		}
	}
}

// visitor returns the visit of a token, and its person's current rights on Discord.
func (s *Server) visitor(ctx context.Context, token string) (*visit, sessions.Origin, error) {
	s.mu.Lock()
	v := s.visits[sha256.Sum256([]byte(token))]
	s.mu.Unlock()
	if token == "" || v == nil || !s.now().Before(v.until) {
		return nil, sessions.Origin{}, errSignedOut
	}
	o, err := s.check(ctx, v)
	return v, o, err
}

// check asks Discord whether a person is in their instance and its channel, unless the last answer is recent.
func (s *Server) check(ctx context.Context, v *visit) (sessions.Origin, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.now().Sub(v.checked) < s.recheck() {
		return v.now, nil
	}
	guild, channel, users, err := s.Discord.Instance(ctx, v.instance)
	switch {
	case err != nil:
		return sessions.Origin{}, err
	case guild != v.origin.Guild || channel != v.origin.Channel || !slices.Contains(users, v.origin.User):
		return sessions.Origin{}, errNotInside
	}
	o, err := s.Discord.Origin(ctx, v.origin)
	if err != nil {
		return sessions.Origin{}, err
	}
	v.now, v.checked = o, s.now()
	return o, nil
}

// find returns a session that a person may watch.
func (s *Server) find(ctx context.Context, v *visit, o sessions.Origin, id string) (sessions.Session, error) {
	session, err := s.Sessions.Session(ctx, id)
	if errors.Is(err, sessions.ErrNotFound) {
		return session, errNotHere
	}
	if err == nil {
		err = s.mayWatch(ctx, v, o, session)
	}
	return session, err
}

// mayWatch returns an error if a person may not watch a session. They may watch their own, those of the channel that
// are not private, the one shown to everyone in the instance and, if they see its channel, the one that they have
// requested.
func (s *Server) mayWatch(ctx context.Context, v *visit, o sessions.Origin, session sessions.Session) error {
	at := session.Origin
	wanted, shown := s.chosen(v)
	switch {
	case session.State == sessions.SessionClosed:
		return sessions.ErrSessionClosed
	case at.Kind != sessions.FromDiscord || at.Guild != o.Guild:
		return errNotHere
	case session.MayUse(o):
		return nil
	case at.Private || at.Guild == "":
		return errNotHere
	case at.Channel == o.Channel || session.ID == shown:
		return nil
	case session.ID != wanted:
		return errNotHere
	}
	there := v.origin
	there.Channel = at.Channel
	_, err := s.Discord.Origin(ctx, there)
	return err
}

// chosen returns the session that a person has requested, and the one shown to everyone in the instance.
func (s *Server) chosen(v *visit) (wanted, shown string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return v.session, s.shown[v.instance]
}

// list returns the sessions that a person may watch: the requested or shown one first, then by last use.
func (s *Server) list(ctx context.Context, v *visit, o sessions.Origin) ([]sessions.Session, error) {
	all, err := s.Sessions.Sessions(ctx, sessions.SessionQuery{
		Kind: sessions.FromDiscord, Guild: o.Guild, Limit: maxSessions,
		States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
	})
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(all, func(x sessions.Session) bool { return s.mayWatch(ctx, v, o, x) != nil })
	wanted, shown := s.chosen(v)
	rank := func(x sessions.Session) int {
		switch {
		case x.ID == wanted:
			return 0
		case x.ID == shown:
			return 1
		case x.Origin.Channel == o.Channel:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(list, func(a, b sessions.Session) int { return cmp.Compare(rank(a), rank(b)) })
	return list[:min(len(list), maxListed)], nil
}

const (
	maxSessions = 400 // sessions searched
	maxListed   = 25
)

// viewer returns a person as a viewer of a session, with their rights on Discord.
func (s *Server) viewer(o sessions.Origin, session sessions.Session) sessions.Viewer {
	owns := session.MayUse(o)
	moderates := !session.Origin.Private && o.Moderates(session.Origin.Guild, session.Origin.Channel)
	anyone := s.AnyoneMayStop != nil && s.AnyoneMayStop()
	return sessions.Viewer{
		Name: o.UserName, From: o, Invited: !owns, Actor: cancel.Actor{
			ID: o.User, Name: "@" + o.UserName,
			Moderator: moderates,
		},
		May: sessions.Rights{Control: owns, Stop: owns || moderates || anyone, Note: owns || moderates},
	}
}

func (s *Server) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Server) recheck() time.Duration { return cmp.Or(s.Recheck, defaultRecheck) }

func (s *Server) logger() *slog.Logger { return cmp.Or(s.Logger, slog.New(slog.DiscardHandler)) }
