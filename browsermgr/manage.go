package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"clank/browsermgr/chrome"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/fault"
	"clank/browsermgr/plan"
	"clank/browsermgr/roster"
	"clank/browsermgr/survey"
	"clank/browsermgr/trash"
)

// CreateOptions describe a new profile, as a client writes them. Name is required.
type CreateOptions struct {
	Name        string
	Driver      string // clank (openclaw, clawd) or existing-session; empty means clank
	Color       string // #RRGGBB; otherwise one is chosen
	CDPURL      string
	UserDataDir string // of existing-session only; ~ is the home; it must exist
}

// Created is a profile that was made.
type Created struct {
	Profile     string  `json:"profile"`
	Transport   string  `json:"transport"`
	CDPPort     *int    `json:"cdpPort"`
	CDPURL      *string `json:"cdpUrl"` // redacted
	UserDataDir *string `json:"userDataDir"`
	Color       string  `json:"color"`
	IsRemote    bool    `json:"isRemote"`
}

// Create adds a profile. The error wraps [ErrInvalid], [ErrProfileExists], [ErrNoPort] or [ErrEndpointBlocked].
func (m *Manager) Create(ctx context.Context, opts CreateOptions) (Created, error) {
	if err := m.check(); err != nil {
		return Created{}, err
	}
	p := roster.Profile{
		Name: opts.Name, Driver: roster.Driver(opts.Driver), Color: opts.Color, CDPURL: opts.CDPURL, UserDataDir: opts.UserDataDir,
	}
	if p.CDPURL != "" {
		e, err := endpoint.Parse(p.CDPURL)
		if err != nil {
			return Created{}, err
		}
		if err := m.connector(m.config()).Permit(ctx, e); err != nil {
			return Created{}, err
		}
	}
	p, err := m.roster.Create(p)
	if err != nil {
		return Created{}, fmt.Errorf("create profile: %w", err)
	}
	pl, err := m.plan(p)
	if err != nil {
		return Created{}, err
	}
	c := Created{Profile: p.Name, Transport: survey.Transport, CDPPort: pl.Port(), CDPURL: pl.URL(), Color: p.Color, IsRemote: pl.Remote()}
	if p.UserDataDir != "" {
		c.UserDataDir = &p.UserDataDir
	}
	return c, nil
}

// Delete ends the profile's browser, moves the profile's folder to the trash and takes the profile off the list. deleted
// says that a folder was moved: a profile that was never started, or whose browser is not ours, has none. If it cannot be
// moved, the profile stays. The error wraps [ErrInvalid] for the default profile and for bad names, or [ErrNoProfile].
func (m *Manager) Delete(ctx context.Context, name string) (deleted bool, err error) {
	if err := m.check(); err != nil {
		return false, err
	}
	if err := m.roster.Deletable(name); err != nil {
		return false, fmt.Errorf("delete profile: %w", err)
	}
	p := m.profile(name)
	if err := take(ctx, p.turn); err != nil {
		return false, err
	}
	defer give(p.turn)
	moved, err := p.discard(ctx, filepath.Dir(m.userDataDir(name)))
	if err != nil {
		return false, fmt.Errorf("delete profile %q: %w", name, err)
	}
	return moved.Moved, m.roster.Delete(name)
}

// Moved says what became of a folder.
type Moved struct {
	Moved bool   `json:"moved"`
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
}

// Reset ends the profile's browser and moves its user data directory to the trash: the next start begins afresh. It is
// refused ([ErrInvalid]) where we do not start the browser.
func (p *Profile) Reset(ctx context.Context) (Moved, error) {
	if err := take(ctx, p.profile.turn); err != nil {
		return Moved{}, err
	}
	defer give(p.profile.turn)
	pl, err := p.profile.setup()
	if err != nil {
		return Moved{}, err
	}
	if pl.Mode != plan.Launched {
		return Moved{}, fault.Invalidf("reset-profile is for profiles whose browser is started here; that of %q is not, and its data is not ours", p.Name())
	}
	moved, err := p.profile.discard(ctx, p.profile.manager.userDataDir(p.Name()))
	if err != nil {
		return moved, fmt.Errorf("reset profile %q: %w", p.Name(), err)
	}
	p.profile.breaker.Close()
	return moved, nil
}

// discard ends the browser and moves a folder of the profile's to the trash, unless another program uses it. The caller
// has the turn.
func (p *profile) discard(ctx context.Context, dir string) (Moved, error) {
	moved := Moved{From: dir}
	if _, err := p.stopNow(ctx); err != nil {
		return moved, err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return moved, nil
	}
	if err := chrome.Reap(ctx, p.manager.userDataDir(p.name)); err != nil {
		return moved, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	to, err := trash.Move(ctx, dir)
	if err != nil {
		return moved, err
	}
	moved.Moved, moved.To = true, to
	return moved, nil
}
