package discordtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// EntryPoint is the type of the command with which people open an Activity.
const EntryPoint = 4

// ErrEntryPointRemoved rejects a list of commands without the existing entry point command.
var ErrEntryPointRemoved = Refuse(http.StatusBadRequest, 50240,
	"You cannot remove this app's Entry Point command in a bulk update operation. Please include the Entry Point "+
		"command in your update request or delete it separately.")

// oauth is the state of authorizations and open Activities.
type oauth struct {
	grants    map[string]*grant // by code
	bearers   map[string]User   // by token
	instances map[string]*ActivityInstance
	visitor   User // the user signed in on the site, for getAuthorize
}

// grant is an authorization until its code is exchanged.
type grant struct {
	app                 *Account
	user                User
	challenge, redirect string
}

// ActivityInstance is an open Activity.
type ActivityInstance struct {
	ApplicationID string           `json:"application_id"`
	InstanceID    string           `json:"instance_id"`
	LaunchID      string           `json:"launch_id"`
	Location      ActivityLocation `json:"location"`
	Users         []string         `json:"users"`
}

// ActivityLocation is where an Activity is open: kind "gc" in a guild, "pc" in a private conversation.
type ActivityLocation struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"`
	ChannelID string  `json:"channel_id"`
	GuildID   *string `json:"guild_id,omitempty"`
}

// SetUpOAuth gives an application a client secret and a redirect URI.
func (s *Server) SetUpOAuth(bot Bot, secret, redirect string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	a := s.hub.Accounts[bot.ID]
	a.Secret, a.Redirect = secret, redirect
}

// EnableActivity enables Activities in the portal, which creates the application's entry point command.
func (s *Server) EnableActivity(bot Bot) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	a := s.hub.Accounts[bot.ID]
	a.Activity = true
	launch := Command{ID: s.hub.NewID(), ApplicationID: bot.ID, Version: s.hub.NewID(), Type: EntryPoint, Name: "launch"}
	launch.Handler = 2
	a.Commands = append(a.Commands, launch)
}

// OpenActivity opens an Activity of a bot in a channel with people in it, and returns its instance id.
func (s *Server) OpenActivity(bot Bot, in Channel, users ...User) (instance string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return s.hub.openInstance(s.hub.Accounts[bot.ID], s.hub.Channels[in.ID], users...)
}

// JoinActivity adds a person to an instance.
func (s *Server) JoinActivity(instance string, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	i := s.hub.instances[instance]
	i.Users = append(i.Users, user.ID)
}

// LeaveActivity removes a person from an instance.
func (s *Server) LeaveActivity(instance string, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	i := s.hub.instances[instance]
	i.Users = slices.DeleteFunc(i.Users, func(id string) bool { return id == user.ID })
}

// Authorize authorizes the application in an Activity on behalf of a person. It returns the code.
func (s *Server) Authorize(bot Bot, user User, challenge string) (code string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return s.hub.grant(&grant{app: s.hub.Accounts[bot.ID], user: user, challenge: challenge})
}

// VisitAs sets the user who is signed in on Discord's site in browsers, and who authorizes every sign-in. The zero
// User is nobody.
func (s *Server) VisitAs(user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.visitor = user
}

func (s *hub) grant(g *grant) (code string) {
	if s.grants == nil {
		s.grants = map[string]*grant{}
	}
	code = "code-" + s.NewID()
	s.grants[code] = g
	return code
}

func (s *hub) openInstance(app *Account, in *Channel, users ...User) string {
	id := s.NewID()
	i := &ActivityInstance{ApplicationID: app.User.ID, InstanceID: "i-" + id + "-gc-" + in.ID, LaunchID: id}
	i.Location = ActivityLocation{ID: "gc-" + in.ID, Kind: "gc", ChannelID: in.ID, GuildID: &in.GuildID}
	if in.GuildID == "" {
		i.Location = ActivityLocation{ID: "pc-" + in.ID, Kind: "pc", ChannelID: in.ID}
	}
	for _, u := range users {
		i.Users = append(i.Users, u.ID)
	}
	if s.instances == nil {
		s.instances = map[string]*ActivityInstance{}
	}
	s.instances[i.InstanceID] = i
	return i.InstanceID
}

// launch opens an Activity for the user of an interaction: in their call, or where they are.
func (s *hub) launch(it *InteractionExchange) error {
	if !it.App.Activity {
		return FormError("type", "INTERACTION_CALLBACK_INVALID", "This application has no Activity.")
	}
	in := it.Channel
	if g := s.Guilds[in.GuildID]; g != nil {
		if v, ok := g.Voice[it.User.ID]; ok && v.ChannelID != nil {
			in = s.Channels[*v.ChannelID]
		}
	}
	it.Instance = s.openInstance(it.App, in, it.User)
	return nil
}

func (s *hub) getInstance(c *RESTCall) (any, error) {
	if err := s.checkApplication(c); err != nil {
		return nil, err
	}
	i := s.instances[c.PathValue("instance")]
	if i == nil || i.ApplicationID != c.Bot.User.ID {
		return nil, ErrNotFound
	}
	return i, nil
}

// checkEntryPoint checks a list of commands against the one it replaces.
func checkEntryPoint(had, list []Command) error {
	entry := func(c Command) bool { return c.Type == EntryPoint }
	if slices.ContainsFunc(had, entry) && !slices.ContainsFunc(list, entry) {
		return ErrEntryPointRemoved
	}
	return nil
}

// postToken exchanges a code, once (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
func (s *hub) postToken(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	refuse := func(status int, code string) {
		write(w, restReply{status, fmt.Appendf(nil, `{"error":%q}`, code)})
	}
	id, secret, _ := r.BasicAuth()
	app := s.Accounts[id]
	if app == nil || app.Secret == "" || app.Secret != secret {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	code := r.PostFormValue("code")
	g := s.grants[code]
	delete(s.grants, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case r.PostFormValue("grant_type") != "authorization_code":
		refuse(http.StatusBadRequest, "unsupported_grant_type")
		return
	case g == nil, g.app != app, g.redirect != r.PostFormValue("redirect_uri"),
		g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	if s.bearers == nil {
		s.bearers = map[string]User{}
	}
	token := "bearer-" + s.NewID()
	s.bearers[token] = g.user
	body, _ := json.Marshal(map[string]any{ // strings and numbers always marshal
		"access_token": token, "token_type": "Bearer", "expires_in": 604800, "scope": "identify",
	})
	write(w, restReply{http.StatusOK, body})
}

func (s *hub) getMe(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	u, ok := s.bearers[token]
	if !ok {
		write(w, newReply(nil, ErrUnauthorized))
		return
	}
	write(w, newReply(u, nil))
}

// getAuthorize serves the authorization page. A signed-in user authorizes at once.
func (s *hub) getAuthorize(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	q := r.URL.Query()
	app := s.Accounts[q.Get("client_id")]
	back, err := url.Parse(q.Get("redirect_uri"))
	if app == nil || app.Redirect == "" || app.Redirect != q.Get("redirect_uri") || err != nil ||
		q.Get("response_type") != "code" || q.Get("scope") != "identify" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "Invalid OAuth2 request", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	if s.visitor.ID != "" {
		code := s.grant(&grant{app, s.visitor, q.Get("code_challenge"), app.Redirect})
		answer = url.Values{"state": {q.Get("state")}, "code": {code}}
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}
