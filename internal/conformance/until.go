package main

import (
	"context"
	"fmt"
	"time"
)

// until asks again and again until it is so, for as long as the check may take.
func (s *suite) until(ctx context.Context, what string, is func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := is()
		if err != nil || ok {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}
