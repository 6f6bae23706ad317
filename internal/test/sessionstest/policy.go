package sessionstest

import (
	"context"
	"errors"

	"clank/sessions"
)

// Policy is a [sessions.Policy] made of functions. Nil functions behave like a Manager without a policy.
type Policy struct {
	Access   func(o sessions.Origin) error
	Profile  func(o sessions.Origin, place sessions.Place, want string) (string, error)
	RouteTo  func(t sessions.Task) (runtime, model string, err error)
	HandOver func(ctx context.Context, s sessions.Session, t sessions.Task, to sessions.HandOverError) (string, error)
}

// CheckAccess calls Access.
func (p *Policy) CheckAccess(o sessions.Origin) error {
	if p.Access == nil {
		return nil
	}
	return p.Access(o)
}

// SelectProfile calls Profile.
func (p *Policy) SelectProfile(o sessions.Origin, place sessions.Place, want string) (string, error) {
	if p.Profile == nil {
		return want, nil
	}
	return p.Profile(o, place, want)
}

// Route calls RouteTo.
func (p *Policy) Route(t sessions.Task) (runtime, model string, err error) {
	if p.RouteTo == nil {
		return t.Runtime, t.Model, nil
	}
	return p.RouteTo(t)
}

// AllowHandOver calls HandOver.
func (p *Policy) AllowHandOver(
	ctx context.Context, s sessions.Session, t sessions.Task, to sessions.HandOverError,
) (string, error) {
	if p.HandOver == nil {
		return "", errors.New("the settings do not allow it")
	}
	return p.HandOver(ctx, s, t, to)
}
