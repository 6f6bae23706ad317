package dashboard

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"clank/cancel"
	"clank/sessions"
	"clank/sessions/agent"
)

// Role is what somebody may do on the page. Each may what those before it may.
type Role int

// The roles.
const (
	RoleNobody    Role = iota
	RoleViewer         // sees what is not private, in the channels that they see in Discord
	RoleMember         // may ask for tasks there, and has a say in their own
	RoleModerator      // has a say in those of others there
	RoleOperator       // sees and may do everything, but of what others asked privately only that it is there
)

// Membership is what somebody is on a Discord server at this moment.
type Membership struct {
	Guild    string
	Manages  bool            // may set what holds on the server
	Channels map[string]Role // those that they see
}

// Person is who a Discord account is at this moment. The zero Person may not sign in.
type Person struct {
	Operator bool
	Servers  []Membership
}

// Accounts are the Discord accounts with which people sign in. Errors are sentences for people.
type Accounts interface {
	// SignInURL returns where somebody signs in who is then sent back to redirect; empty where nobody can.
	SignInURL(redirect string) string
	// SignIn returns who has agreed to the sign-in of a state.
	SignIn(ctx context.Context, state, code, redirect string) (id, name string, err error)
	// Person returns who an account is. It is asked for each request.
	Person(ctx context.Context, id string) Person
	// Origin returns who the person of o is in its channel, as if they asked there, if they may.
	Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error)
}

// visitor is whoever asks for something. The zero visitor is nobody.
type visitor struct {
	id, name string // of their Discord account; empty for the operator by link or token
	role     Role   // the highest that they have anywhere
	servers  []Membership
}

var theOperator = visitor{role: RoleOperator}

type visitorKey struct{}

// visitorOf returns who asks for what [Server.requireRole] has let pass.
func visitorOf(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

// identify returns who makes a request: somebody with a token or the key of a sign-in, as what they are just now.
func (s *Server) identify(r *http.Request) visitor {
	secret := bearer(r)
	if s.isToken(secret) {
		return theOperator
	}
	switch t, ok := s.Tokens.SignedIn(secret); {
	case !ok:
		return visitor{}
	case t.User == "":
		return theOperator
	default:
		return s.visitor(r.Context(), t.User, t.Name)
	}
}

// visitor returns who a Discord account is.
func (s *Server) visitor(ctx context.Context, id, name string) visitor {
	v := visitor{id: id, name: name}
	if s.Accounts == nil {
		return v
	}
	p := s.Accounts.Person(ctx, id)
	v.servers = p.Servers
	for _, m := range p.Servers {
		v.role = max(v.role, RoleViewer) // a manager may see no channel
		for _, role := range m.Channels {
			v.role = max(v.role, role)
		}
	}
	if p.Operator {
		v.role = RoleOperator
	}
	return v
}

// sight returns what v sees of tasks and sessions.
func (v visitor) sight() *sessions.Sight {
	if v.role == RoleOperator {
		return nil
	}
	sight := &sessions.Sight{User: v.id}
	for _, m := range v.servers {
		sight.Guilds = append(sight.Guilds, m.Guild)
		sight.Channels = slices.AppendSeq(sight.Channels, maps.Keys(m.Channels))
	}
	return sight
}

// roleAt returns what v may do about what was asked for from o.
func (v visitor) roleAt(o sessions.Origin) Role {
	switch {
	case v.role == RoleOperator:
		return RoleOperator
	case !v.sight().Includes(o):
		return RoleNobody
	case o.Guild == "":
		return min(v.role, RoleMember)
	}
	for _, m := range v.servers {
		if m.Guild == o.Guild {
			return max(m.Channels[o.Channel], RoleViewer)
		}
	}
	return RoleNobody
}

// mayAct reports whether v may allow, steer and end what was asked for from o: who asked for it, if they still may, and
// moderators.
func (v visitor) mayAct(o sessions.Origin) bool {
	role := v.roleAt(o)
	return role >= RoleModerator || role >= RoleMember && o.User == v.id
}

// manages reports whether v may set what holds on a Discord server.
func (v visitor) manages(guild string) bool {
	return v.role == RoleOperator ||
		slices.ContainsFunc(v.servers, func(m Membership) bool { return m.Guild == guild && m.Manages })
}

// account returns v as budgets know people; empty for the operator, who sees what everybody spends.
func (v visitor) account() string {
	if v.role == RoleOperator {
		return ""
	}
	return agent.PersonID(sessions.Origin{Kind: sessions.FromDiscord, User: v.id})
}

// byName returns v as others read it.
func (v visitor) byName() string {
	if v.id != "" {
		return "@" + v.name
	}
	return operatorName
}

// actor returns v as who ends what was asked for from o. For work of Discord's users the operator by link is "the
// operator", for their own "you".
func (v visitor) actor(o sessions.Origin) cancel.Actor {
	switch {
	case v.id != "":
		moderates := v.roleAt(o) >= RoleModerator && (!o.Private || v.role == RoleOperator)
		return cancel.Actor{ID: v.id, Name: v.byName(), Moderator: moderates}
	case o.Kind == sessions.FromDiscord:
		return cancel.Actor{Name: operatorName, Moderator: true}
	}
	return cancel.Actor{Name: "you", Moderator: true}
}

// originAt returns v as one who says something about what was asked for from o.
func (s *Server) originAt(ctx context.Context, v visitor, o sessions.Origin) (sessions.Origin, error) {
	mine := o.Private && v.asked(o)
	if v.role == RoleOperator && (!mine || o.Kind != sessions.FromDiscord) {
		if o.Private { // one operator is not another then
			return v.privately(operator()), nil
		}
		return operator(), nil
	}
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: o.Guild, Channel: o.Channel, User: v.id, UserName: v.name}
	from.Private = mine
	from, err := s.Accounts.Origin(ctx, from)
	if err != nil {
		return from, refuse(http.StatusForbidden, "%v", err)
	}
	return from, nil
}

// seenTask returns the task that a part of the path names. To whoever does not see it, it is not there.
func (s *Server) seenTask(r *http.Request, part string) (sessions.TaskRecord, error) {
	t, err := s.Manager.Task(r.Context(), r.PathValue(part))
	if err == nil && !visitorOf(r).sight().Includes(t.Origin) {
		t, err = sessions.TaskRecord{}, sessions.ErrNotFound
	}
	if err != nil {
		return t, failed("read the task", err)
	}
	return t, nil
}

// seenSession is like [Server.seenTask] for sessions.
func (s *Server) seenSession(r *http.Request) (sessions.Session, error) {
	se, err := s.Manager.Session(r.Context(), r.PathValue("id"))
	if err == nil && !visitorOf(r).sight().Includes(se.Origin) {
		se, err = sessions.Session{}, sessions.ErrNotFound
	}
	if err != nil {
		return se, failed("find the session", err)
	}
	return se, nil
}
