package dashboard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"clank/cancel"
	"clank/sessions"
	"clank/sessions/agent"
)

// Role is what a visitor may do on the page. Each role includes those before it.
type Role int

// Roles of visitors.
const (
	RoleNobody    Role = iota
	RoleViewer         // sees tasks that are not private, in the channels that they see in Discord
	RoleMember         // may ask for tasks there and control their own
	RoleModerator      // may control the tasks of others there
	RoleOperator       // sees and may do everything, except read what others asked privately
)

// Membership is a person's current standing on a Discord server.
type Membership struct {
	Guild    string
	Manages  bool            // may change the server's settings
	Channels map[string]Role // the channels that they see
}

// Person is the current standing of a Discord account. The zero Person may not sign in.
type Person struct {
	Operator bool
	Servers  []Membership
}

// Accounts are the Discord accounts with which people sign in. Its errors are sentences for people.
type Accounts interface {
	// SignInURL returns the address for signing in, after which Discord redirects to redirect; empty if nobody can
	// sign in.
	SignInURL(redirect string) string
	// SignIn completes the sign-in with the given state and returns the account.
	SignIn(ctx context.Context, state, code, redirect string) (id, name string, err error)
	// Person returns the current standing of an account. It is called for each request.
	Person(ctx context.Context, id string) Person
	// Origin returns o with the current rights of its person in its channel, or an error if they may not ask there.
	Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error)
}

// visitor is the person who makes a request. The zero visitor has no rights.
type visitor struct {
	id, name string // the Discord account; empty for an operator who signed in by link or token
	role     Role   // the highest role that they have anywhere
	servers  []Membership
}

var theOperator = visitor{role: RoleOperator}

type visitorKey struct{}

// visitorOf returns the visitor whose request passed [Server.requireRole].
func visitorOf(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

// identify returns the visitor that a request's token or sign-in key belongs to, with their current rights.
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

// visitor returns the visitor with a Discord account.
func (s *Server) visitor(ctx context.Context, id, name string) visitor {
	v := visitor{id: id, name: name}
	if s.Accounts == nil {
		return v
	}
	p := s.Accounts.Person(ctx, id)
	v.servers = p.Servers
	for _, m := range p.Servers {
		v.role = max(v.role, RoleViewer) // even if they see no channel
		for _, role := range m.Channels {
			v.role = max(v.role, role)
		}
	}
	if p.Operator {
		v.role = RoleOperator
	}
	return v
}

// sight returns the tasks and sessions that v sees.
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

// roleAt returns v's role for a task or session with origin o.
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

// mayAct reports whether v may approve, steer and stop a task with origin o: its requester, if they may still ask
// there, and moderators.
func (v visitor) mayAct(o sessions.Origin) bool {
	role := v.roleAt(o)
	return role >= RoleModerator || role >= RoleMember && o.User == v.id
}

// manages reports whether v may change the settings of a Discord server.
func (v visitor) manages(guild string) bool {
	return v.role == RoleOperator ||
		slices.ContainsFunc(v.servers, func(m Membership) bool { return m.Guild == guild && m.Manages })
}

// account returns v's key in budgets; empty for the operator, who sees everyone's spending.
func (v visitor) account() string {
	if v.role == RoleOperator {
		return ""
	}
	return agent.PersonID(sessions.Origin{Kind: sessions.FromDiscord, User: v.id})
}

// byName returns the name under which others see v.
func (v visitor) byName() string {
	if v.id != "" {
		return "@" + v.name
	}
	return operatorName
}

// actor returns v as the one who stops a task with origin o. For tasks of Discord users the operator without an
// account is "the operator", for their own "you".
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

// originAt returns the origin of a message from v about a task with origin o.
func (s *Server) originAt(ctx context.Context, v visitor, o sessions.Origin) (sessions.Origin, error) {
	mine := o.Private && v.asked(o)
	if v.role == RoleOperator && (!mine || o.Kind != sessions.FromDiscord) {
		if o.Private { // all operators without an account count as one person
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

// seenTask returns the task with the id in a part of the path. If the visitor does not see it, the error is that of a
// missing task.
func (s *Server) seenTask(r *http.Request, part string) (sessions.TaskRecord, error) {
	t, err := s.Manager.Task(r.Context(), r.PathValue(part))
	switch {
	case errors.Is(err, sessions.ErrNotFound), err == nil && !visitorOf(r).sight().Includes(t.Origin):
		return sessions.TaskRecord{}, refuse(http.StatusNotFound, "this task does not exist, or was forgotten")
	case err != nil:
		return t, failed("read the task", err)
	}
	return t, nil
}

// seenSession is like [Server.seenTask], for sessions.
func (s *Server) seenSession(r *http.Request) (sessions.Session, error) {
	se, err := s.Manager.Session(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, sessions.ErrNotFound), err == nil && !visitorOf(r).sight().Includes(se.Origin):
		return sessions.Session{}, refuse(http.StatusNotFound, "this session does not exist, or was forgotten")
	case err != nil:
		return se, failed("find the session", err)
	}
	return se, nil
}
