package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/profile"
)

// errNoRoom says that the limit of running browsers is reached and all of them are in use.
var errNoRoom = errors.New("no more browsers may run at once")

// inUseFor is how long a browser with working windows counts as in use after each use, since a model thinks between its
// actions.
const inUseFor = time.Minute

// makeRoom ensures that one more browser may be started: if most are running, it stops the least recently used one that
// is not in use, whose pages reopen at their next use. The profile counts as running from now on, until endStarting.
// The error wraps errNoRoom if all are in use.
func (m *Manager) makeRoom(ctx context.Context, p *profileState, most int) error {
	if most <= 0 {
		return nil
	}
	if err := acquireTurn(ctx, m.roomTurn); err != nil {
		return err
	}
	defer releaseTurn(m.roomTurn)
	for {
		count, browsers := m.launched(p)
		if count < most {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.starting = true
			return nil
		}
		b := stopUnused(browsers)
		if b == nil {
			m.Logger.Warn("browser not started: too many are in use", "profile", p.name, "running", count)
			return fmt.Errorf("%w: %d run (setting “Running browsers”), and all of them are in use; try again when somebody's "+
				"task has ended", errNoRoom, count)
		}
		m.Logger.Info("stopping the least recently used browser", "profile", b.resolved.Name, "pid", b.pid())
		select {
		case <-b.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// launched counts the other profiles' browsers that we have started or are starting, and returns those that run.
func (m *Manager) launched(besides *profileState) (count int, running []*browser) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.profiles {
		p.mu.Lock()
		b, starting := p.browser, p.starting
		p.mu.Unlock()
		switch {
		case p == besides:
		case starting:
			count++
		case b != nil && b.resolved.Mode == profile.ModeLaunched && !b.isGone():
			count++
			running = append(running, b)
		}
	}
	return count, running
}

// stopUnused begins to end a browser that is not in use and returns it; nil if there is none. It prefers browsers
// without working windows, then the least recently used. A browser that is ending already counts.
func stopUnused(list []*browser) *browser {
	slices.SortFunc(list, func(a, b *browser) int { return a.uses.LastUse().Compare(b.uses.LastUse()) })
	for _, b := range list {
		select {
		case <-b.uses.Ending():
			return b
		default:
		}
	}
	for _, idle := range []time.Duration{time.Nanosecond, inUseFor} {
		for _, b := range list {
			if (idle == inUseFor || !b.hasWorkingWindows()) && !b.hasUnownedPages() && b.uses.TryEnd(idle) {
				return b
			}
		}
	}
	return nil
}
