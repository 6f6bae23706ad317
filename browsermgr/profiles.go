package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
)

// CreateProfileOptions describes a new profile, as clients send it. Name is required.
type CreateProfileOptions struct {
	Name        string
	Driver      string // clank (openclaw, clawd) or existing-session; empty means clank
	Color       string // #RRGGBB; if empty, one is chosen
	CDPURL      string
	UserDataDir string // for existing-session only; ~ is the home directory; it must exist
}

// CreatedProfile describes a new profile.
type CreatedProfile struct {
	Profile     string  `json:"profile"`
	Transport   string  `json:"transport"`
	CDPPort     *int    `json:"cdpPort"`
	CDPURL      *string `json:"cdpUrl"` // redacted
	UserDataDir *string `json:"userDataDir"`
	Color       string  `json:"color"`
	IsRemote    bool    `json:"isRemote"`
}

// CreateProfile adds a profile. The error wraps [ErrInvalid], [profile.ErrExists], [profile.ErrNoPort] or
// [profile.ErrEndpointBlocked].
func (m *Manager) CreateProfile(ctx context.Context, opts CreateProfileOptions) (CreatedProfile, error) {
	if err := m.checkOpen(); err != nil {
		return CreatedProfile{}, err
	}
	p := profile.Profile{
		Name: opts.Name, Driver: profile.Driver(opts.Driver), Color: opts.Color, CDPURL: opts.CDPURL,
		UserDataDir: opts.UserDataDir,
	}
	if p.CDPURL != "" {
		e, err := profile.ParseEndpoint(p.CDPURL)
		if err != nil {
			return CreatedProfile{}, err
		}
		if err := m.connector(m.config()).CheckAllowed(ctx, e); err != nil {
			return CreatedProfile{}, err
		}
	}
	p, err := m.store.Create(p)
	if err != nil {
		return CreatedProfile{}, fmt.Errorf("create profile: %w", err)
	}
	pl, err := m.resolve(p)
	if err != nil {
		return CreatedProfile{}, err
	}
	c := CreatedProfile{
		Profile: p.Name, Transport: profile.TransportCDP, CDPPort: pl.KnownPort(), CDPURL: pl.DisplayURL(),
		Color: p.Color, IsRemote: pl.IsRemote(),
	}
	if p.UserDataDir != "" {
		c.UserDataDir = &p.UserDataDir
	}
	return c, nil
}

// DeleteProfile stops the profile's browser, moves the profile's folder to the trash and removes the profile from the
// list. deleted reports that a folder was moved; a profile that was never started, or whose browser we do not start,
// has none. If the folder cannot be moved, the profile stays. The error wraps [ErrInvalid] for the default profile and
// for bad names, or [profile.ErrNotFound].
func (m *Manager) DeleteProfile(ctx context.Context, name string) (deleted bool, err error) {
	if err := m.checkOpen(); err != nil {
		return false, err
	}
	if err := m.store.CheckDeletable(name); err != nil {
		return false, fmt.Errorf("delete profile: %w", err)
	}
	p := m.profileState(name)
	if err := acquireTurn(ctx, p.startTurn); err != nil {
		return false, err
	}
	defer releaseTurn(p.startTurn)
	moved, err := p.moveToTrash(ctx, filepath.Dir(m.userDataDir(name)))
	if err != nil {
		return false, fmt.Errorf("delete profile %q: %w", name, err)
	}
	return moved.Moved, m.store.Delete(name)
}

// RenameProfile renames a profile and moves its data and that of its places. It fails with [ErrUnavailable] while one
// of its browsers runs or a window in it exists, since the window refers to the old name. Other errors wrap
// [ErrInvalid], [profile.ErrExists] or [profile.ErrNotFound].
func (m *Manager) RenameProfile(ctx context.Context, name, to string) (err error) {
	if err := m.checkOpen(); err != nil {
		return err
	}
	if m.CheckRename != nil {
		if err := m.CheckRename(ctx, name); err != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	names := append([]string{name}, m.placesWithState(name+"@*")...)
	for _, one := range names {
		p := m.profileState(one)
		if err := acquireTurn(ctx, p.startTurn); err != nil {
			return err
		}
		defer releaseTurn(p.startTurn)
		if b := p.current(); b != nil && !b.isGone() || m.hasWindow(one) {
			return fmt.Errorf("%w: profile %q is in use: stop its browser and close its sessions first", ErrUnavailable, one)
		}
		if err := chrome.Reap(ctx, m.userDataDir(one)); err != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	if err := m.store.Rename(name, to); err != nil {
		return fmt.Errorf("rename profile: %w", err)
	}
	for i, one := range names {
		err := m.moveData(one, to+strings.TrimPrefix(one, name))
		if err == nil {
			continue
		}
		for _, moved := range names[:i] {
			err = errors.Join(err, m.moveData(to+strings.TrimPrefix(moved, name), moved))
		}
		return fmt.Errorf("rename profile: %w", errors.Join(err, m.store.Rename(to, name)))
	}
	return nil
}

// moveData moves the folder of a profile, if there is one, to the path for its new name.
func (m *Manager) moveData(name, to string) error {
	from, target := filepath.Dir(m.userDataDir(name)), filepath.Dir(m.userDataDir(to))
	if _, err := os.Stat(target); err == nil {
		return fmt.Errorf("the folder %s already exists", target)
	}
	if err := os.Rename(from, target); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// hasWindow reports whether a window in the profile exists, open or not.
func (m *Manager) hasWindow(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.windows {
		if w.profile == name {
			return true
		}
	}
	return false
}

// TrashResult is the outcome of moving a folder to the trash.
type TrashResult struct {
	Moved bool   `json:"moved"`
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
}

// Reset stops the profile's browser and moves its user data directory to the trash: the next start begins with an empty
// profile. It fails with [ErrInvalid] if we do not start the browser.
func (p *Profile) Reset(ctx context.Context) (TrashResult, error) {
	if err := acquireTurn(ctx, p.state.startTurn); err != nil {
		return TrashResult{}, err
	}
	defer releaseTurn(p.state.startTurn)
	pl, err := p.state.resolve()
	if err != nil {
		return TrashResult{}, err
	}
	if pl.Mode != profile.ModeLaunched {
		return TrashResult{}, fault.Invalidf("reset-profile is for profiles whose browser is started here; that of %q is "+
			"not, and its data is not ours", p.Name())
	}
	moved, err := p.state.moveToTrash(ctx, p.state.manager.userDataDir(p.Name()))
	if err != nil {
		return moved, fmt.Errorf("reset profile %q: %w", p.Name(), err)
	}
	p.state.breaker.Close()
	return moved, nil
}
