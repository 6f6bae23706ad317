package field

import "context"

// guarded starts clank's browser behind its guard.
func guarded(ctx context.Context, o Options, p *pass) (*browser, error) {
	return standin(ctx, o, p)
}
