package browsermgr

import (
	"context"
	"errors"
	"fmt"

	"clank/browsermgr/page"
)

// Errors of [Manager.FindProfile] and [Profile.Use] that callers tell apart.
var (
	// ErrNoProfile says that there is no profile of that name.
	ErrNoProfile = errors.New("profile not found")
	// ErrNotRunning says that the profile's browser does not run, and was not to be started.
	ErrNotRunning = errors.New("browser not running")
)

// Profile is one profile, for those who work all tabs of its browser rather than a [Window] of their own.
// It is safe for concurrent use.
type Profile struct{ profile *profile }

// FindProfile returns the profile of that name, or the default one if name is empty. The error wraps [ErrNoProfile].
func (m *Manager) FindProfile(name string) (*Profile, error) {
	if name == "" {
		name = m.Profile
	}
	if err := checkProfileName(name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoProfile, err)
	}
	return &Profile{m.profile(name)}, nil
}

// Name is the profile's name.
func (p *Profile) Name() string { return p.profile.name }

// Use is a running browser that no rule ends for idleness until Release.
type Use struct {
	Browser *page.Browser

	browser *browser
}

// Release gives the browser back. It is called once.
func (u *Use) Release() { u.browser.leave() }

// Use returns the profile's browser. If it does not run it is started, or the error wraps [ErrNotRunning] if launch is
// false. The caller releases it.
func (p *Profile) Use(ctx context.Context, launch bool) (*Use, error) {
	if !launch {
		b := p.profile.look()
		if b == nil || !b.enter() {
			return nil, fmt.Errorf("profile %q: %w", p.Name(), ErrNotRunning)
		}
		return &Use{Browser: b.conn, browser: b}, nil
	}
	b, err := p.profile.use(ctx, false)
	if err != nil {
		return nil, err
	}
	return &Use{Browser: b.conn, browser: b}, nil
}

// Stop ends the profile's browser. stopped is false if none ran.
func (p *Profile) Stop(ctx context.Context) (stopped bool, err error) {
	if err := take(ctx, p.profile.turn); err != nil {
		return false, err
	}
	defer give(p.profile.turn)
	b := p.profile.look()
	if b == nil || b.isGone() {
		return false, nil
	}
	if err := b.stop(ctx); err != nil {
		return false, fmt.Errorf("stop browser of profile %q: %w", p.Name(), err)
	}
	return true, nil
}
