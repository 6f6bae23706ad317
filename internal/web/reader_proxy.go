package web

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"clank/browsermgr/egress"
)

// NewReader returns a Reader whose way out is the listener that the gate has for the profile. The profile should be
// no browser's, so that what is refused to the reader is not told of that browser.
func NewReader(gate *egress.Proxy, profile string) *Reader {
	return &Reader{
		Proxy: func(ctx context.Context) (string, error) { return gate.Listen(ctx, profile) },
		Failure: func(address string, since time.Time) error {
			u, err := url.Parse(address)
			if err != nil {
				u = &url.URL{} // of no address nothing is known
			}
			for _, r := range slices.Backward(gate.Refusals(profile)) {
				if r.At.Before(since) {
					break
				}
				if r.Host == u.Hostname() || r.Address == u.Hostname() {
					return errors.New(r.Text)
				}
			}
			return gate.LastFailure(profile, address)
		},
	}
}
