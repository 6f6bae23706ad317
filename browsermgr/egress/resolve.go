package egress

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

// DNSCacheTTL is how long an answer is used again. A page with a hundred requests to a host asks once.
const DNSCacheTTL = 30 * time.Second

const (
	lookupTimeout  = 10 * time.Second // a lookup that takes longer has failed
	maxCachedNames = 1024             // answers that are kept at a time
)

// ErrResolverClosed is the error of lookups in a closed Cache.
var ErrResolverClosed = errors.New("the resolver is closed")

// DNSCache asks a Resolver. Its methods may be called from many goroutines. Make it with [NewDNSCache]; end it with Close.
type DNSCache struct {
	resolver Resolver
	work     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	answers map[string]cachedAddrs
	lookups map[string]*pendingLookup
}

type cachedAddrs struct {
	addrs []netip.Addr
	until time.Time
}

// pendingLookup is a question under way. Fields below done are set before it is closed.
type pendingLookup struct {
	waiting int // guarded by Cache.mu
	cancel  context.CancelFunc
	done    chan struct{}
	addrs   []netip.Addr
	err     error
}

// NewDNSCache makes a Cache. A nil resolver stands for that of the system.
func NewDNSCache(r Resolver) *DNSCache {
	if r == nil {
		r = net.DefaultResolver
	}
	return &DNSCache{resolver: r, answers: map[string]cachedAddrs{}, lookups: map[string]*pendingLookup{}}
}

// Lookup returns all addresses of a host, IPv4 addresses not mapped into IPv6; at least one if there is no error. The
// caller does not change the slice. Failures are not kept.
func (c *DNSCache) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrResolverClosed
	}
	if a, ok := c.answers[host]; ok && time.Now().Before(a.until) {
		c.mu.Unlock()
		return a.addrs, nil
	}
	l := c.lookups[host]
	if l == nil {
		l = c.begin(ctx, host)
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
func (c *DNSCache) begin(ctx context.Context, host string) *pendingLookup {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	l := &pendingLookup{cancel: cancel, done: make(chan struct{})}
	c.lookups[host] = l
	c.work.Go(func() {
		defer cancel()
		l.addrs, l.err = c.ask(ctx, host)
		c.mu.Lock()
		if c.lookups[host] == l {
			delete(c.lookups, host)
			if l.err == nil && !c.closed {
				c.store(host, l.addrs)
			}
		}
		c.mu.Unlock()
		close(l.done)
	})
	return l
}

// abandon ends a lookup that nobody waits for. c.mu is held.
func (c *DNSCache) abandon(host string, l *pendingLookup) {
	l.cancel()
	if c.lookups[host] == l {
		delete(c.lookups, host)
	}
}

func (c *DNSCache) ask(ctx context.Context, host string) ([]netip.Addr, error) {
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

// store remembers an answer. c.mu is held.
func (c *DNSCache) store(host string, addrs []netip.Addr) {
	now := time.Now()
	if len(c.answers) >= maxCachedNames {
		for h, a := range c.answers {
			if now.After(a.until) {
				delete(c.answers, h)
			}
		}
	}
	if len(c.answers) >= maxCachedNames {
		clear(c.answers)
	}
	c.answers[host] = cachedAddrs{addrs, now.Add(DNSCacheTTL)}
}

// Close ends all lookups and waits for them.
func (c *DNSCache) Close() {
	c.mu.Lock()
	c.closed = true
	clear(c.answers)
	for _, l := range c.lookups {
		l.cancel()
	}
	c.mu.Unlock()
	c.work.Wait()
}
