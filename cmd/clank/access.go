package main

import (
	"context"

	"clank/access"
	"clank/sessions"
	"clank/settings"
)

// person is who asks, as the rules of access know people. The operator, who asks at the terminal or on the page, is nobody
// of them.
func person(o sessions.Origin) (access.Person, bool) {
	return access.Person{User: o.User, Roles: o.Roles, Guild: o.Guild, Channel: o.Channel, Parent: o.Parent}, o.Kind == sessions.FromDiscord
}

// mayEnter says whether somebody may ask for anything.
func (a *app) mayEnter(o sessions.Origin) error {
	p, stranger := person(o)
	if !stranger {
		return nil
	}
	return a.settings.Now().Access.Rules().Enter(p)
}

// refusalFor is what somebody is told who may not ask for anything; empty for all others.
func (a *app) refusalFor(_ context.Context, o sessions.Origin) string {
	if err := a.mayEnter(o); err != nil {
		return err.Error()
	}
	return ""
}

// profileFor decides which browser profile somebody works with.
func (a *app) profileFor(o sessions.Origin, want string) (string, error) {
	return profileIn(a.settings.Now(), o, want)
}

func profileIn(s settings.Settings, o sessions.Origin, want string) (string, error) {
	p, stranger := person(o)
	switch {
	case stranger:
		return s.Access.Rules().Profile(p, want, s.Profile)
	case want != "":
		return want, nil
	}
	return s.Profile, nil
}

// mayUseUsual says whether somebody may work in the profile that the brain's own browser tool uses.
func mayUseUsual(s settings.Settings, o sessions.Origin) bool {
	name, err := profileIn(s, o, s.Profile)
	return err == nil && name == s.Profile
}
