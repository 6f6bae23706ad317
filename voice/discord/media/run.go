package media

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	defaultMinWait   = 250 * time.Millisecond
	defaultMaxOutage = time.Minute
	maxDoublings     = 5
	// stable is how long a socket must have lived for its end to count as a first failure.
	stable = 3 * time.Second
	// bridging is how long media goes on when the gateway's socket has broken: packets have a way of their own, and mostly
	// the session is resumed before anybody would notice. Keys that may have changed meanwhile are kept by the others for longer.
	bridging = 2 * time.Second
)

// run connects again and again until ctx ends or trying again cannot help, and returns why it ended.
func (c *Conn) run(ctx context.Context, opened func()) error {
	c.drop()
	defer c.drop()
	maxOutage := c.MaxOutage
	if maxOutage == 0 {
		maxOutage = defaultMaxOutage
	}
	since, try := time.Now(), 0
	for {
		lived, err := c.connect(ctx, opened)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.lost(err)
		react := React(err)
		if react == Rejoin || react == Wait || react == Final {
			return err
		}
		if react == Afresh {
			c.drop()
		}
		if lived > stable {
			since, try = time.Now(), 0
		}
		if time.Since(since) > maxOutage {
			return fmt.Errorf("the voice connection could not be restored within %s: %w", maxOutage, err)
		}
		if err := c.pause(ctx, try); err != nil {
			return err
		}
		try++
	}
}

// lost tells that what we send does not go out for now.
func (c *Conn) lost(err error) {
	c.logger().Info("voice connection lost", "error", err)
	c.mu.Lock()
	c.last = err
	told := c.announced
	c.announced = false
	c.mu.Unlock()
	if told {
		c.tell(Event{Kind: Down, Text: err.Error()})
	}
}

// pause waits before the next try; the first one comes almost at once.
func (c *Conn) pause(ctx context.Context, try int) error {
	wait := c.MinWait
	if wait == 0 {
		wait = defaultMinWait
	}
	if try == 0 {
		wait /= 8
	} else {
		wait <<= min(try-1, maxDoublings)
	}
	t := time.NewTimer(wait/2 + rand.N(wait/2+1))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drop forgets the session, so that the next socket identifies anew.
func (c *Conn) drop() {
	c.mu.Lock()
	s := c.session
	c.session, c.seq, c.announced = nil, -1, false
	c.mu.Unlock()
	c.sending.Lock()
	c.out.speaking, c.out.told = false, false
	c.out.box.Empty()
	c.sending.Unlock()
	if s != nil && s.transport != nil {
		_ = s.transport.Close() // of a socket that is not used any more
	}
}

// connect opens one socket and lives with it. It returns why it ended, and for how long it was of use.
func (c *Conn) connect(ctx context.Context, opened func()) (time.Duration, error) {
	c.mu.Lock()
	seq := c.seq
	c.mu.Unlock()
	l, err := dial(ctx, c.HTTPClient, address(c.Target.Endpoint), seq)
	if err != nil {
		return 0, err
	}
	var settled time.Time
	l.settled = func() {
		if settled.IsZero() {
			settled = time.Now()
			opened()
		}
	}
	c.mu.Lock()
	c.link = l
	c.stats.Connects++
	c.mu.Unlock()
	err = l.run(ctx, c)
	c.mu.Lock()
	if l.usable {
		c.bridge = time.Now().Add(bridging)
	}
	c.link, c.seq = nil, int(l.seq.Load())
	c.mu.Unlock()
	if settled.IsZero() {
		return 0, err
	}
	return time.Since(settled), err
}

// address is the URL of an endpoint. Discord's never have a scheme.
func address(endpoint string) string {
	if !strings.Contains(endpoint, "://") {
		endpoint = "wss://" + endpoint
	}
	return strings.TrimSuffix(endpoint, "/") + "/?v=8"
}

var errSilent = errors.New("the voice gateway went silent")
