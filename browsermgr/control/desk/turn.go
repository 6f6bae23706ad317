package desk

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// turnLimit bounds waiting for the requests that act in the same tab.
	turnLimit = 3 * time.Minute
	// stopLimit bounds ending what an abandoned request has left running in a page.
	stopLimit = 1500 * time.Millisecond
)

var errTurn = errors.New("other requests have kept the tab busy for three minutes")

// Exclusively does something in the tab when no other request acts there. If the request is abandoned meanwhile, the
// scripts it has set off are ended before the next one comes: the tab survives.
func (h *Held) Exclusively(ctx context.Context, do func() error) error {
	h.Desk.mu.Lock()
	seat := h.Desk.seat(h.Tab.TargetID())
	h.Desk.mu.Unlock()
	timer := time.NewTimer(turnLimit)
	defer timer.Stop()
	select {
	case seat <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.Tab.Done():
		return h.Tab.Err()
	case <-timer.C:
		return fmt.Errorf("wait for tab %s: %w", h.Names.Name(), errTurn)
	}
	defer func() { <-seat }()
	err := do()
	if ctx.Err() != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, h.Tab.Stop(after))
	}
	return err
}
