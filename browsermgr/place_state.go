package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
	"clank/sessions"
)

// isPacked reports whether the state of a profile is encrypted while its browser does not run, as for people's places.
func (m *Manager) isPacked(name string) bool {
	return m.StateKeys != nil && profile.IsPersons(name)
}

// packState encrypts a person's state after their browser has ended. If that fails the state stays unencrypted, and is
// packed when the browser ends the next time or clank starts.
func (m *Manager) packState(name string) {
	if !m.isPacked(name) {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	m.wg.Go(func() {
		select {
		case <-m.packingAbandoned:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	})
	if err := profile.PackState(ctx, m.userDataDir(name), m.StateKeys); err != nil {
		m.Logger.Warn("a person's browser state stays unencrypted on disk", "profile", name, "error", err)
	}
}

// unpackState decrypts a person's state before their browser starts.
func (p *profileState) unpackState(ctx context.Context) error {
	if !p.manager.isPacked(p.name) {
		return nil
	}
	return profile.UnpackState(ctx, p.manager.userDataDir(p.name), p.manager.StateKeys)
}

// packLeftStates packs state that a crashed run has left unencrypted.
func (m *Manager) packLeftStates() {
	ctx, release := m.untilClosed(context.Background())
	defer release()
	dirs, _ := filepath.Glob(filepath.Dir(m.userDataDir("*@*"))) // ErrBadPattern cannot occur
	for _, dir := range dirs {
		p := m.profileState(filepath.Base(dir))
		if acquireTurn(ctx, p.startTurn) != nil {
			return
		}
		if p.current() == nil { // otherwise it is packed when the browser ends
			m.packState(p.name)
		}
		releaseTurn(p.startTurn)
	}
}

// placesWithState lists the profiles matching pattern that have state on disk, packed or not.
func (m *Manager) placesWithState(pattern string) (names []string) {
	for _, what := range []string{filepath.Base(m.userDataDir("")), profile.PackName} {
		found, _ := filepath.Glob(filepath.Join(m.Home, "browser", pattern, what)) // ErrBadPattern cannot occur
		for _, path := range found {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RemovePlace stops the browsers of a place and of the people's places in it, and deletes their state without moving it
// to the trash.
func (m *Manager) RemovePlace(ctx context.Context, place sessions.Place) error {
	if err := m.checkOpen(); err != nil {
		return err
	}
	if _, _, ok := profile.SplitInstance(place.Profile(m.Profile)); !ok {
		return fault.Invalidf("%q is no place", place)
	}
	var errs []error
	for _, name := range append(m.placesWithState(place.Profile("*")), m.placesWithState(place.Of("*").Profile("*"))...) {
		p := m.profileState(name)
		err := acquireTurn(ctx, p.startTurn)
		if err == nil {
			if _, err = p.stopWithTurn(ctx); err == nil {
				_, err = p.removeState(ctx)
			}
			releaseTurn(p.startTurn)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// removeState deletes the folder of a profile whose browser has ended. The caller holds startTurn.
func (p *profileState) removeState(ctx context.Context) (TrashResult, error) {
	dir := p.manager.userDataDir(p.name)
	removed := TrashResult{From: filepath.Dir(dir)}
	p.manager.forgetParked(p.name)
	if err := chrome.Reap(ctx, dir); err != nil {
		return removed, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	removed.Moved = len(p.manager.placesWithState(p.name)) > 0
	return removed, os.RemoveAll(removed.From)
}
