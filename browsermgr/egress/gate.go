package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"clank/browsermgr/egress/ledger"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/egress/resolve"
)

// Gate has the guards of all profiles. Its fields are set before Open; its methods may be called from many goroutines.
type Gate struct {
	// Rules are asked for each request, so that a change counts at once; connections that a change forbids are closed within
	// a second. The caller does not change what it returned. Rules that cannot be compiled refuse everything. Nil stands
	// for the zero Rules.
	Rules func() policy.Rules
	// Upstream is the proxy that a profile's traffic goes on through, nil for none; see [dial.ParseUpstream]. One that
	// cannot be parsed lets nothing through. Nil stands for none at all.
	Upstream func(profile string) *url.URL
	// Ask says whether a host that no list of the rules names is asked about before it is reached. Nil stands for no.
	Ask func() bool
	// Asker is who is asked. Without one the answer is no.
	Asker Asker
	// Resolver looks names up; nil stands for the system's.
	Resolver resolve.Resolver
	// Limits bound what a browser can take up.
	Limits Limits
	// Clean, if set, takes secrets out of what is recorded and logged of refusals, and of what a person is asked.
	Clean func(text string) string
	// Logger hears of refusals, without paths and parameters. Nil stands for none.
	Logger *slog.Logger

	names *resolve.Cache
	work  sync.WaitGroup
	stop  context.CancelCauseFunc
	life  <-chan struct{}

	mu     sync.Mutex
	open   bool
	conns  int
	guards map[string]*guard
	own    []netip.AddrPort
	law    *law
}

// Limits bound what the browser of a profile can take up. Zero values stand for the defaults.
type Limits struct {
	// Idle is how long nothing may move on a connection: 15 minutes. A WebSocket that is silent for longer is closed.
	Idle time.Duration
	// Header is how long a client may take to send the header of a request: 15 seconds.
	Header time.Duration
	// Body is how many bytes a body, or one direction of a tunnel, may have: as many as it likes.
	Body int64
	// Profile and All are how many connections there may be to the listener of a profile, and to all: 512 and 2,048.
	Profile, All int
}

func (l Limits) orDefault() Limits {
	set := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	set(&l.Idle, 15*time.Minute)
	set(&l.Header, 15*time.Second)
	if l.Profile <= 0 {
		l.Profile = 512
	}
	if l.All <= 0 {
		l.All = 2048
	}
	return l
}

// Refused is one request that was refused.
type Refused = ledger.Refused

// ErrClosed is the error of a Gate that is not open.
var ErrClosed = errors.New("the checking proxy is closed")

// refresh is how often the rules are looked at while nobody asks for anything.
const refresh = time.Second

// Open makes the Gate ready. Nothing listens yet.
func (g *Gate) Open(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("open the checking proxy: %w", err)
	}
	if g.Logger == nil {
		g.Logger = slog.New(slog.DiscardHandler)
	}
	g.Limits = g.Limits.orDefault()
	g.names = resolve.New(g.Resolver)
	// The guards live until Close, not until the context of this call ends.
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g.stop, g.life = stop, life.Done()
	g.mu.Lock()
	g.open, g.guards = true, map[string]*guard{}
	g.mu.Unlock()
	g.work.Go(g.follow)
	return nil
}

// follow applies changes of the rules to what is open, and closes what was kept for too long.
func (g *Gate) follow() {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-g.life:
			return
		case <-tick.C:
			g.rules()
			for _, d := range g.all() {
				d.pool.Sweep()
			}
		}
	}
}

// Close ends all listeners and connections and waits for them, as long as ctx lets it.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	if !g.open {
		g.mu.Unlock()
		return nil
	}
	g.open = false
	g.mu.Unlock()
	g.stop(ErrClosed)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, d := range g.all() {
			d.close()
		}
		g.names.Close()
		g.work.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the checking proxy: %w", context.Cause(ctx))
	}
}

// Listen returns the address of the profile's proxy, http://127.0.0.1:PORT. The listener is started at the first call and
// kept until Close. A call begins a new session of the profile's browser: hosts that a person allowed for the session
// before are asked about again.
func (g *Gate) Listen(ctx context.Context, profile string) (proxy string, err error) {
	d, err := g.guard(profile)
	if err != nil {
		return "", err
	}
	d.asked.reset()
	address, err := d.listen(ctx)
	if err != nil {
		return "", fmt.Errorf("listen for the browser of profile %q: %w", profile, err)
	}
	return "http://" + address.String(), nil
}

// guard is that of a profile, made at the first call.
func (g *Gate) guard(profile string) (*guard, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return nil, ErrClosed
	}
	d := g.guards[profile]
	if d == nil {
		d = newGuard(g, profile)
		g.guards[profile] = d
	}
	return d, nil
}

func (g *Gate) all() []*guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]*guard, 0, len(g.guards))
	for _, d := range g.guards {
		all = append(all, d)
	}
	return all
}

// Allow says whether a document of the profile may be at the address: nil, or an error for a person to read. A refusal is
// recorded. A host that does not resolve is let pass, since nothing can be reached there; so is one that a person would be
// asked about when the browser goes there.
func (g *Gate) Allow(ctx context.Context, profile, address string) error {
	return g.check(ctx, profile, address, false)
}

// Request judges one request of a page, for browsers that do not use the proxy. A person may be asked. What does not resolve
// here is refused, since the browser may resolve it elsewhere.
func (g *Gate) Request(ctx context.Context, profile, address string) error {
	return g.check(ctx, profile, address, true)
}

func (g *Gate) check(ctx context.Context, profile, address string, request bool) error {
	d, err := g.guard(profile)
	if err != nil {
		return err
	}
	defer d.ledger.Judging()()
	rules := g.rules()
	t, err := rules.address(address)
	if err == nil && t.Scheme != "about" {
		if !request && rules.asks(t) && !d.asked.approved(t.Host) {
			return nil
		}
		_, err = d.admit(ctx, rules, t, nil, address)
	}
	if isRefusal(err) {
		d.record(ctx, address, t, err, !request)
		return g.cleaned(err)
	}
	if err != nil && (request || ctx.Err() != nil) {
		return err
	}
	return nil
}

// Watch notes the first document that the tab with that CDP target id is refused from now on, as far as [Gate.Attribute]
// tells. finish, which is called once, returns it. It waits, at most for 250 ms, while a request of the profile is being
// judged or a refusal since then has no tab yet.
func (g *Gate) Watch(profile, target string) (finish func(ctx context.Context) error) {
	d, err := g.guard(profile)
	if err != nil {
		return func(context.Context) error { return nil }
	}
	return d.ledger.Watch(target)
}

// Attribute says which tab a request came from that failed: an observer of the tab calls it for each that may have been
// refused, or got no connection. document says whether a page or frame was to be loaded.
func (g *Gate) Attribute(profile, target, requestURL string, document bool) {
	if d, err := g.guard(profile); err == nil {
		d.ledger.Attribute(target, g.clean(requestURL), document)
		if document {
			d.failed.credit(target, requestURL)
		}
	}
}

// Failure is why the place of a request was last not reached, nil if that is not known or more than a minute ago. Of a tunnel
// that did not come about browsers say no more than that.
func (g *Gate) Failure(profile, requestURL string) error {
	d, err := g.guard(profile)
	if err != nil {
		return err
	}
	return d.failed.last(ledger.Place(requestURL))
}

// Refusals returns the last refusals of a profile, at most 200, newest last.
func (g *Gate) Refusals(profile string) []Refused {
	d, err := g.guard(profile)
	if err != nil {
		return nil
	}
	return d.ledger.Refusals()
}

// Count is how many requests of a profile were refused since Open.
func (g *Gate) Count(profile string) uint64 {
	d, err := g.guard(profile)
	if err != nil {
		return 0
	}
	return d.ledger.Count()
}

// Glance judges the http or https address of something that loads already by how it is written, without the DNS, a question
// or a record, for those who may not wait.
func (g *Gate) Glance(address string) error {
	_, err := g.rules().address(address)
	return g.cleaned(err)
}
