package control

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// turnTimeout bounds waiting for the requests that act in the same tab.
	turnTimeout = 3 * time.Minute
	// stopScriptsTimeout bounds ending what an abandoned request has left running in a page.
	stopScriptsTimeout = 1500 * time.Millisecond
)

var errTabBusy = errors.New("other requests have kept the tab busy for three minutes")

// Exclusively does something in the tab when no other request acts there. If the request is abandoned meanwhile, the
// scripts it has set off are ended before the next one comes: the tab survives.
func (h *heldTab) Exclusively(ctx context.Context, do func() error) error {
	h.Profile.mu.Lock()
	seat := h.Profile.turnOf(h.Tab.TargetID())
	h.Profile.mu.Unlock()
	timer := time.NewTimer(turnTimeout)
	defer timer.Stop()
	select {
	case seat <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.Tab.Done():
		return h.Tab.Err()
	case <-timer.C:
		return fmt.Errorf("wait for tab %s: %w", h.Names.Name(), errTabBusy)
	}
	defer func() { <-seat }()
	err := do()
	if ctx.Err() != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopScriptsTimeout)
		defer cancel()
		err = errors.Join(err, h.Tab.Stop(after))
	}
	return err
}
