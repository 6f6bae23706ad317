package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/egress/policy"
)

// Proxy has the guards of all profiles. Its fields are set before Open; its methods may be called from many goroutines.
type Proxy struct {
	// Config says what holds now. Nil stands for [DefaultConfig].
	Config Config
	// Approver is who is asked. Without one the answer is no.
	Approver Approver
	// Machine tells the addresses of this machine and its networks, which count as private; it is asked every few seconds.
	// Nil stands for [ReadMachine].
	Machine func() policy.Machine
	// Resolver looks names up; nil stands for the system's.
	Resolver Resolver
	// Limits bound what a browser can take up.
	Limits Limits
	// Logger hears of refusals, without paths and parameters. Nil stands for none.
	Logger *slog.Logger

	names *DNSCache
	work  sync.WaitGroup
	stop  context.CancelCauseFunc
	done  <-chan struct{}

	mu           sync.Mutex
	open         bool
	conns        int
	byProfile    map[string]*profileProxy
	ownListeners []netip.AddrPort
	ruleset      *ruleset
	machine      policy.Machine
}

// Config is asked for each request, so that a change counts at once. Its methods are called from many goroutines.
type Config interface {
	// Rules returns the rules for pages. Connections that a change forbids are closed within a second. The caller does not
	// change what it returned. Rules that cannot be compiled refuse everything.
	Rules() policy.Rules
	// Upstream returns the proxy that a profile's traffic goes on through, nil for none; see [ParseUpstream]. One that
	// cannot be parsed lets nothing through.
	Upstream(profile string) *url.URL
	// AskUnlisted reports whether a host that no list of the rules names is asked about before it is reached.
	AskUnlisted() bool
	// Redact takes secrets out of what is recorded and logged of refusals, and of what a person is asked.
	Redact(text string) string
}

// DefaultConfig has the zero Rules, no upstream, no questions and no secrets. Embed it to set some of these.
type DefaultConfig struct{}

// Rules implements [Config].
func (DefaultConfig) Rules() policy.Rules { return policy.Rules{} }

// Upstream implements [Config].
func (DefaultConfig) Upstream(string) *url.URL { return nil }

// AskUnlisted implements [Config].
func (DefaultConfig) AskUnlisted() bool { return false }

// Redact implements [Config].
func (DefaultConfig) Redact(text string) string { return text }

// Limits bound what the browser of a profile can take up. Zero values stand for the defaults.
type Limits struct {
	// Idle is how long nothing may move on a connection: 15 minutes. A WebSocket that is silent for longer is closed.
	Idle time.Duration
	// Header is how long a client may take to send the header of a request: 15 seconds.
	Header time.Duration
	// Body is how many bytes a body, or one direction of a tunnel, may have: as many as it likes.
	Body int64
	// PerProfile and All are how many connections there may be to the listener of a profile, and to all: 512 and 2,048.
	PerProfile, Total int
}

func (l Limits) orDefault() Limits {
	l.Idle, l.Header = cmp.Or(l.Idle, 15*time.Minute), cmp.Or(l.Header, 15*time.Second)
	l.PerProfile, l.Total = cmp.Or(l.PerProfile, 512), cmp.Or(l.Total, 2048)
	return l
}

// ErrProxyClosed is the error of a Proxy that is not open.
var ErrProxyClosed = errors.New("the checking proxy is closed")

// rulesInterval is how often the rules are looked at while nobody asks for anything.
const rulesInterval = time.Second

// Open makes the proxy ready. Nothing listens yet.
func (g *Proxy) Open(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("open the checking proxy: %w", err)
	}
	g.Logger = cmp.Or(g.Logger, slog.New(slog.DiscardHandler))
	g.Limits = g.Limits.orDefault()
	if g.Config == nil {
		g.Config = DefaultConfig{}
	}
	g.names = NewDNSCache(g.Resolver)
	if g.Machine == nil {
		g.Machine = ReadMachine
	}
	// The guards live until Close, not until the context of this call ends.
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g.stop, g.done = stop, life.Done()
	g.mu.Lock()
	g.open, g.byProfile, g.machine = true, map[string]*profileProxy{}, g.Machine()
	g.mu.Unlock()
	g.work.Go(g.followRules)
	return nil
}

// followRules applies changes of the rules to what is open, and closes what was kept for too long.
func (g *Proxy) followRules() {
	tick := time.NewTicker(rulesInterval)
	defer tick.Stop()
	moved := time.NewTicker(machineInterval)
	defer moved.Stop()
	for {
		select {
		case <-g.done:
			return
		case <-moved.C:
			now := g.Machine()
			g.mu.Lock()
			g.machine = now
			g.mu.Unlock()
		case <-tick.C:
			g.currentRuleset()
			for _, d := range g.profileProxies() {
				d.pool.Sweep()
			}
		}
	}
}

// Close ends all listeners and connections and waits for them, as long as ctx lets it.
func (g *Proxy) Close(ctx context.Context) error {
	g.mu.Lock()
	if !g.open {
		g.mu.Unlock()
		return nil
	}
	g.open = false
	g.mu.Unlock()
	g.stop(ErrProxyClosed)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, d := range g.profileProxies() {
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

// Listen returns the address of the profile's proxy, http://127.0.0.1:PORT. The listener is started at the first call
// and kept until Close. A call begins a new session of the profile's browser: hosts that a person allowed for the
// session before are asked about again.
func (g *Proxy) Listen(ctx context.Context, profile string) (proxy string, err error) {
	d, err := g.profileProxy(profile)
	if err != nil {
		return "", err
	}
	d.approvals.reset()
	address, err := d.listen(ctx)
	if err != nil {
		return "", fmt.Errorf("listen for the browser of profile %q: %w", profile, err)
	}
	return "http://" + address.String(), nil
}

// profileProxy returns the proxy of a profile, creating it on the first call.
func (g *Proxy) profileProxy(profile string) (*profileProxy, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return nil, ErrProxyClosed
	}
	d := g.byProfile[profile]
	if d == nil {
		d = newProfileProxy(g, profile)
		g.byProfile[profile] = d
	}
	return d, nil
}

func (g *Proxy) profileProxies() []*profileProxy {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.byProfile))
}

// Allow says whether a document of the profile may be at the address: nil, or an error for a person to read. A refusal
// is recorded. A host that does not resolve is let pass, since nothing can be reached there; so is one that a person
// would be asked about when the browser goes there.
func (g *Proxy) Allow(ctx context.Context, profile, address string) error {
	return g.judgeAddress(ctx, profile, address, false)
}

// AllowRequest judges one request of a page, for browsers that do not use the proxy. A person may be asked. What does
// not resolve here is refused, since the browser may resolve it elsewhere.
func (g *Proxy) AllowRequest(ctx context.Context, profile, address string) error {
	return g.judgeAddress(ctx, profile, address, true)
}

func (g *Proxy) judgeAddress(ctx context.Context, profile, address string, request bool) error {
	d, err := g.profileProxy(profile)
	if err != nil {
		return err
	}
	defer d.refusals.BeginRequest()()
	rules := g.currentRuleset()
	t, err := rules.address(address)
	if err == nil && t.Scheme != "about" {
		if !request && rules.needsApproval(t) && !d.approvals.approved(t.Host) {
			return nil
		}
		_, err = d.judgeAndResolve(ctx, rules, t, nil, address)
	}
	if isRefusal(err) {
		d.recordRefusal(ctx, address, t, err, !request)
		return g.redactError(err)
	}
	if err != nil && (request || ctx.Err() != nil) {
		return err
	}
	return nil
}

// Watch notes the first document that the tab with that CDP target id is refused from now on, as far as
// [Proxy.AttributeRefusal] tells. finish, which is called once, returns it. It waits, at most for 250 ms, while a
// request of the profile is being judged or a refusal since then has no tab yet.
func (g *Proxy) Watch(profile, target string) (finish func(ctx context.Context) error) {
	d, err := g.profileProxy(profile)
	if err != nil {
		return func(context.Context) error { return nil }
	}
	return d.refusals.Watch(target)
}

// AttributeRefusal says which tab a request came from that failed: an observer of the tab calls it for each that may
// have been refused, or got no connection. document says whether a page or frame was to be loaded.
func (g *Proxy) AttributeRefusal(profile, target, requestURL string, document bool) {
	if d, err := g.profileProxy(profile); err == nil {
		d.refusals.Attribute(target, g.Config.Redact(requestURL), document)
		if document {
			d.failures.attribute(target, requestURL)
		}
	}
}

// LastFailure returns why the host of a request was last not reached, or nil if that is not known or more than a minute
// ago. Browsers report no more than that a tunnel failed.
func (g *Proxy) LastFailure(profile, requestURL string) error {
	d, err := g.profileProxy(profile)
	if err != nil {
		return err
	}
	return d.failures.last(urlHostPort(requestURL))
}

// Refusals returns the last refusals of a profile, at most 200, newest last.
func (g *Proxy) Refusals(profile string) []RefusalRecord {
	d, err := g.profileProxy(profile)
	if err != nil {
		return nil
	}
	return d.refusals.Refusals()
}

// AllRefusals returns the last refusals of all profiles, newest first.
func (g *Proxy) AllRefusals() (all []RefusalRecord) {
	for _, d := range g.profileProxies() {
		all = append(all, d.refusals.Refusals()...)
	}
	slices.SortStableFunc(all, func(a, b RefusalRecord) int { return b.At.Compare(a.At) })
	return all
}

// RefusalCount returns how many requests of a profile were refused since Open.
func (g *Proxy) RefusalCount(profile string) uint64 {
	d, err := g.profileProxy(profile)
	if err != nil {
		return 0
	}
	return d.refusals.Count()
}

// Refused returns how many requests of all profiles were refused since Open.
func (g *Proxy) Refused() (n uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.byProfile {
		n += d.refusals.Count()
	}
	return n
}

// CheckWithoutDNS judges the http or https address of something that loads already by how it is written, without the
// DNS, a question or a record, for those who may not wait.
func (g *Proxy) CheckWithoutDNS(address string) error {
	_, err := g.currentRuleset().address(address)
	return g.redactError(err)
}
