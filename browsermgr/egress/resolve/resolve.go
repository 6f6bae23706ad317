// Package resolve turns host names into addresses, for a proxy that judges the addresses and dials what it judged. It asks
// once where many ask at the same time, and keeps answers for a short while. It judges nothing and connects to nothing.
//
// Keeping an answer is safe for whoever dials only addresses it got from here: a name that changes its mind changes
// nothing about an address that was judged, and an answer that is not kept any more is judged anew.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Resolver looks a name up. *net.Resolver is one. The network is "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Keep is how long an answer is used again. A page with a hundred requests to a host asks once.
const Keep = 30 * time.Second

const (
	patience = 10 * time.Second // a lookup that takes longer has failed
	most     = 1024             // answers that are kept at a time
)

// ErrClosed is the error of lookups in a closed Cache.
var ErrClosed = errors.New("the resolver is closed")

// Cache asks a Resolver. Its methods may be called from many goroutines. Make it with [New]; end it with Close.
type Cache struct {
	resolver Resolver
	work     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	answers map[string]answer
	lookups map[string]*lookup
}

type answer struct {
	addrs []netip.Addr
	until time.Time
}

// lookup is a question under way. Fields below done are set before it is closed.
type lookup struct {
	waiting int // guarded by Cache.mu
	cancel  context.CancelFunc
	done    chan struct{}
	addrs   []netip.Addr
	err     error
}

// New makes a Cache. A nil resolver stands for that of the system.
func New(r Resolver) *Cache {
	if r == nil {
		r = net.DefaultResolver
	}
	return &Cache{resolver: r, answers: map[string]answer{}, lookups: map[string]*lookup{}}
}

// Lookup returns all addresses of a host, IPv4 addresses not mapped into IPv6; at least one if there is no error. The
// caller does not change the slice. Failures are not kept.
func (c *Cache) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	if a, ok := c.answers[host]; ok && time.Now().Before(a.until) {
		c.mu.Unlock()
		return a.addrs, nil
	}
	l := c.lookups[host]
	if l == nil {
		l = c.begin(host)
	}
	l.waiting++
	c.mu.Unlock()

	select {
	case <-l.done:
		return l.addrs, l.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		c.abandon(host, l)
	}
	return nil, fmt.Errorf("look up %s: %w", host, context.Cause(ctx))
}

// begin starts a lookup that does not end with the request that is the first to ask. c.mu is held.
func (c *Cache) begin(host string) *lookup {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l := &lookup{cancel: cancel, done: make(chan struct{})}
	c.lookups[host] = l
	c.work.Go(func() {
		defer cancel()
		l.addrs, l.err = c.ask(ctx, host)
		c.mu.Lock()
		if c.lookups[host] == l {
			delete(c.lookups, host)
			if l.err == nil && !c.closed {
				c.keep(host, l.addrs)
			}
		}
		c.mu.Unlock()
		close(l.done)
	})
	return l
}

// abandon ends a lookup that nobody waits for. c.mu is held.
func (c *Cache) abandon(host string, l *lookup) {
	l.cancel()
	if c.lookups[host] == l {
		delete(c.lookups, host)
	}
}

func (c *Cache) ask(ctx context.Context, host string) ([]netip.Addr, error) {
	name := host
	if strings.Contains(name, ".") && !strings.HasSuffix(name, ".") {
		name += "." // a whole name: the search list of this machine's network has no say
	}
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %s: %w", host, &net.DNSError{Err: "no address", Name: host, IsNotFound: true})
	}
	plain := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		plain[i] = a.Unmap()
	}
	return plain, nil
}

// keep remembers an answer. c.mu is held.
func (c *Cache) keep(host string, addrs []netip.Addr) {
	now := time.Now()
	if len(c.answers) >= most {
		for h, a := range c.answers {
			if now.After(a.until) {
				delete(c.answers, h)
			}
		}
	}
	if len(c.answers) >= most {
		clear(c.answers)
	}
	c.answers[host] = answer{addrs, now.Add(Keep)}
}

// Close ends all lookups and waits for them.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	clear(c.answers)
	for _, l := range c.lookups {
		l.cancel()
	}
	c.mu.Unlock()
	c.work.Wait()
}
