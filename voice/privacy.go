package voice

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// PrivacyKey is a person on a server. Guild is empty where there are no servers: on the dashboard's page and in direct
// calls.
type PrivacyKey struct {
	Guild, User string
}

// PastCall is an earlier call: when and where it began, and for whom.
type PastCall struct {
	Guild, User string
	At          time.Time
}

// PrivacyStore keeps the choices over restarts.
type PrivacyStore interface {
	// ListOptedOut returns the opt-outs of all people on all servers.
	ListOptedOut(ctx context.Context) ([]PrivacyKey, error)

	// SetOptedOut keeps a choice. Making one again is no error.
	SetOptedOut(ctx context.Context, k PrivacyKey, out bool) error
}

// PrivacyList lists the people who opted out. Open one with [OpenPrivacyList]; its methods are safe for concurrent use.
type PrivacyList struct {
	store PrivacyStore

	save     sync.Mutex // one choice is saved at a time, so that the last one wins in the store, too
	mu       sync.RWMutex
	optedOut map[PrivacyKey]struct{}
}

// OpenPrivacyList reads the choices that were made before.
func OpenPrivacyList(ctx context.Context, s PrivacyStore) (*PrivacyList, error) {
	keys, err := s.ListOptedOut(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the list of people who are not to be heard: %w", err)
	}
	l := &PrivacyList{store: s, optedOut: make(map[PrivacyKey]struct{}, len(keys))}
	for _, k := range keys {
		l.optedOut[k] = struct{}{}
	}
	return l, nil
}

// OptedOut reports whether the person is not to be heard. It is asked for every packet, and answers from memory.
func (l *PrivacyList) OptedOut(guild, user string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, out := l.optedOut[PrivacyKey{Guild: guild, User: user}]
	return out
}

// Set saves a choice. An opt-out takes effect immediately, even if it cannot be saved; opting in takes effect only once
// it is saved.
func (l *PrivacyList) Set(ctx context.Context, guild, user string, out bool) error {
	k := PrivacyKey{Guild: guild, User: user}
	l.save.Lock()
	defer l.save.Unlock()
	if out {
		l.mu.Lock()
		l.optedOut[k] = struct{}{}
		l.mu.Unlock()
	}
	if err := l.store.SetOptedOut(ctx, k, out); err != nil {
		return fmt.Errorf("keep the choice of somebody in calls (it may not outlive a restart): %w", err)
	}
	if !out {
		l.mu.Lock()
		delete(l.optedOut, k)
		l.mu.Unlock()
	}
	return nil
}
