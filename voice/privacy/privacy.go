// Package privacy knows who does not want to be heard in calls: one choice per
// person and server, made by that person, which holds until it is taken back.
//
// What follows from a choice is not its business: a call asks before it looks
// at what somebody sends.
package privacy

import (
	"context"
	"fmt"
	"sync"
)

// Key is a person on a server. Guild is empty where there are no servers: the page of the dashboard, a direct call.
type Key struct {
	Guild, User string
}

// Store keeps the choices over restarts.
type Store interface {
	// LeftOut returns everybody who wants to be left out, everywhere.
	LeftOut(ctx context.Context) ([]Key, error)

	// SetLeftOut keeps a choice. Making one again is no error.
	SetLeftOut(ctx context.Context, k Key, out bool) error
}

// List is who is left out. Open one with [Open]; its methods are safe for concurrent use.
type List struct {
	store Store

	save sync.Mutex // one choice is saved at a time, so that the last one wins in the store, too
	mu   sync.RWMutex
	out  map[Key]struct{}
}

// Open reads the choices that were made before.
func Open(ctx context.Context, s Store) (*List, error) {
	keys, err := s.LeftOut(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the list of people who are not to be heard: %w", err)
	}
	l := &List{store: s, out: make(map[Key]struct{}, len(keys))}
	for _, k := range keys {
		l.out[k] = struct{}{}
	}
	return l, nil
}

// LeftOut reports whether the person is not to be heard. It is asked for every packet, and answers from memory.
func (l *List) LeftOut(guild, user string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, out := l.out[Key{Guild: guild, User: user}]
	return out
}

// Toggle turns a choice round and returns the new one.
func (l *List) Toggle(ctx context.Context, guild, user string) (out bool, err error) {
	l.save.Lock()
	defer l.save.Unlock()
	out = !l.LeftOut(guild, user)
	return out, l.set(ctx, Key{Guild: guild, User: user}, out)
}

// Set makes a choice. To be left out counts at once, also if it could not be saved; to be heard again counts only when
// that is saved.
func (l *List) Set(ctx context.Context, guild, user string, out bool) error {
	l.save.Lock()
	defer l.save.Unlock()
	return l.set(ctx, Key{Guild: guild, User: user}, out)
}

// set is Set with the lock save held.
func (l *List) set(ctx context.Context, k Key, out bool) error {
	if out {
		l.mu.Lock()
		l.out[k] = struct{}{}
		l.mu.Unlock()
	}
	if err := l.store.SetLeftOut(ctx, k, out); err != nil {
		return fmt.Errorf("keep the choice of somebody in calls (it may not outlive a restart): %w", err)
	}
	if !out {
		l.mu.Lock()
		delete(l.out, k)
		l.mu.Unlock()
	}
	return nil
}
