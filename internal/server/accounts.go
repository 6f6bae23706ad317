package server

import (
	"context"

	"clank/bot"
	"clank/dashboard"
	"clank/internal/settings"
	"clank/sessions"
)

// accounts provides the Discord accounts that sign in to the dashboard; it implements [dashboard.Accounts].
type accounts struct{ *Server }

// SignInURL implements [dashboard.Accounts].
func (a accounts) SignInURL(redirect string) string {
	if id, _ := a.CallService.discordApplication(); id == "" ||
		a.Settings.Current().Dashboard.SignIn == settings.SignInOff {
		return ""
	}
	state, _ := a.CallService.signIn.Begin()
	return a.CallService.signIn.URL(state, redirect)
}

// SignIn implements [dashboard.Accounts].
func (a accounts) SignIn(ctx context.Context, state, code, redirect string) (id, name string, err error) {
	who, err := a.CallService.signIn.Finish(ctx, state, code, redirect)
	return who.ID, who.Name, err
}

// Person implements [dashboard.Accounts].
func (a accounts) Person(ctx context.Context, id string) dashboard.Person {
	who := a.Settings.Current().Dashboard
	if who.SignIn == settings.SignInOff {
		return dashboard.Person{}
	}
	if who.IsOperator(id) {
		return dashboard.Person{Operator: true}
	}
	b := a.Web.bot.Load()
	if b == nil || who.SignIn == settings.SignInOperators {
		return dashboard.Person{}
	}
	var p dashboard.Person
	for _, m := range b.Memberships(ctx, id) {
		seen := a.channelRoles(id, m, leastRoles[who.SignIn])
		if m.Manages || len(seen) > 0 {
			p.Servers = append(p.Servers, dashboard.Membership{Guild: m.Guild, Manages: m.Manages, Channels: seen})
		}
	}
	return p
}

var leastRoles = map[string]dashboard.Role{
	settings.SignInModerators: dashboard.RoleModerator, settings.SignInMembers: dashboard.RoleMember,
	settings.SignInViewers: dashboard.RoleViewer,
}

// channelRoles returns a member's role in each channel that they see, if it is at least least.
func (a accounts) channelRoles(user string, m bot.Membership, least dashboard.Role) map[string]dashboard.Role {
	s := a.Settings.For(m.Guild)
	rules, roles := s.Access.Rules(), make(map[string]dashboard.Role)
	for _, ch := range m.Channels {
		p := sessions.Origin{User: user, Roles: m.Roles, Guild: m.Guild, Channel: ch.ID, Parent: ch.Parent}
		role := dashboard.RoleViewer
		if rules.Check(p) == nil && s.Server.Check(p) == nil {
			role = dashboard.RoleMember
			if ch.Moderates {
				role = dashboard.RoleModerator
			}
		}
		if role >= least {
			roles[ch.ID] = role
		}
	}
	return roles
}

// Origin implements [dashboard.Accounts].
func (a accounts) Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error) {
	return activityDiscord{a.CallService}.Origin(ctx, o)
}
