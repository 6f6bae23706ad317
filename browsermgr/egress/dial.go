package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	dialTimeout = 20 * time.Second       // for all addresses of a host together
	dialStagger = 250 * time.Millisecond // before the next address is tried concurrently (RFC 8305, section 8)
)

// ErrNoAddress is returned if there is no address to connect to.
var ErrNoAddress = errors.New("no address to connect to")

type dialAttempt struct {
	conn *net.TCPConn
	err  error
}

// DialAny connects to the port at one of the addresses: families alternate, and the next address is tried when one
// fails or is slow (RFC 8305). When it returns, all other attempts have ended. If all fail, the error is that of the
// first address.
func DialAny(ctx context.Context, addrs []netip.Addr, port uint16) (*net.TCPConn, error) {
	if len(addrs) == 0 {
		return nil, ErrNoAddress
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("connect: %w", context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if len(addrs) == 1 {
		return dialOne(ctx, addrs[0], port)
	}
	return dialStaggered(ctx, cancel, interleaveFamilies(addrs), port)
}

func dialOne(ctx context.Context, addr netip.Addr, port uint16) (*net.TCPConn, error) {
	var d net.Dialer
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, netip.AddrPortFrom(addr, port))
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // the message below repeats the rest
		}
		return nil, fmt.Errorf("connect to %s: %w", netip.AddrPortFrom(addr, port), err)
	}
	return conn, nil
}

func dialStaggered(ctx context.Context, cancel context.CancelFunc, addrs []netip.Addr,
	port uint16,
) (*net.TCPConn, error) {
	results := make(chan dialAttempt)
	begun, ended := 0, 0
	next := func() {
		addr := addrs[begun]
		begun++
		go func() {
			conn, err := dialOne(ctx, addr, port)
			results <- dialAttempt{conn, err}
		}()
	}
	next()
	timer := time.NewTimer(dialStagger)
	defer timer.Stop()
	var first error
	for ended < len(addrs) {
		select {
		case <-timer.C:
		case r := <-results:
			ended++
			if r.err == nil {
				cancel()
				drainAttempts(results, begun-ended)
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
		}
		if begun < len(addrs) && ctx.Err() == nil {
			next()
			timer.Reset(dialStagger)
		} else if ended == begun {
			break
		}
	}
	return nil, first
}

// drainAttempts waits for the remaining attempts and closes those that succeeded.
func drainAttempts(results <-chan dialAttempt, n int) {
	for range n {
		if r := <-results; r.err == nil {
			r.conn.Close()
		}
	}
}

// interleaveFamilies orders addresses so that families alternate, beginning with that of the first.
func interleaveFamilies(addrs []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	both := min(len(same), len(other))
	all := make([]netip.Addr, 0, len(addrs))
	for i := range both {
		all = append(all, same[i], other[i])
	}
	return slices.Concat(all, same[both:], other[both:])
}

// Resolver looks up names; *net.Resolver implements it. The network is "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dnsCacheTTL is how long an answer is cached, so that a page with many requests to a host needs one lookup.
const dnsCacheTTL = 30 * time.Second

const (
	lookupTimeout  = 10 * time.Second // of one lookup
	maxCachedNames = 1024             // cached answers
)

// ErrResolverClosed is returned by lookups after Close.
var ErrResolverClosed = errors.New("the resolver is closed")

// DNSCache caches the answers of a Resolver. It is safe for concurrent use. Make one with [NewDNSCache] and call Close.
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

// pendingLookup is a lookup in progress. Fields below done are set before it is closed.
type pendingLookup struct {
	waiting int // guarded by DNSCache.mu
	cancel  context.CancelFunc
	done    chan struct{}
	addrs   []netip.Addr
	err     error
}

// NewDNSCache returns a cache for a resolver; nil means the system's.
func NewDNSCache(r Resolver) *DNSCache {
	if r == nil {
		r = net.DefaultResolver
	}
	return &DNSCache{resolver: r, answers: map[string]cachedAddrs{}, lookups: map[string]*pendingLookup{}}
}

// Lookup returns all addresses of a host, at least one unless it fails. IPv4 addresses are not mapped to IPv6. The
// caller must not modify the slice. Failures are not cached.
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

// begin starts a lookup that is independent of the request that asked first. The caller holds c.mu.
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

// abandon cancels a lookup that nobody waits for. The caller holds c.mu.
func (c *DNSCache) abandon(host string, l *pendingLookup) {
	l.cancel()
	if c.lookups[host] == l {
		delete(c.lookups, host)
	}
}

func (c *DNSCache) ask(ctx context.Context, host string) ([]netip.Addr, error) {
	name := host
	if strings.Contains(name, ".") && !strings.HasSuffix(name, ".") {
		name += "." // fully qualified, so that the machine's search domains do not apply
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

// store caches an answer. The caller holds c.mu.
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
	c.answers[host] = cachedAddrs{addrs, now.Add(dnsCacheTTL)}
}

// Close cancels all lookups and waits for them.
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
