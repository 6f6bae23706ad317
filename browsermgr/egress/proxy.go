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

// Proxy manages the proxies of all profiles. Set its fields before Open. Its methods are safe for concurrent use.
type Proxy struct {
	// Config is the current configuration; nil means [DefaultConfig].
	Config Config
	// Approver asks a person about hosts; without one they are refused.
	Approver Approver
	// Machine returns the addresses of this machine and its networks, which count as private; it is called every few
	// seconds. Nil means [ReadMachine].
	Machine func() policy.Machine
	// Resolver looks up names; nil means the system's.
	Resolver Resolver
	// Limits bounds the resources that a browser can use.
	Limits Limits
	// Logger receives refusals, without paths and parameters; nil discards them.
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

// Config is read for each request, so that changes apply at once. It must be safe for concurrent use.
type Config interface {
	// Rules returns the rules for pages. Connections that a change forbids are closed within a second. The caller must
	// not modify the result. Rules that do not compile refuse everything.
	Rules() policy.Rules
	// Upstream returns the upstream proxy for a profile's traffic, nil for none; see [ParseUpstream]. An invalid one
	// refuses everything.
	Upstream(profile string) *url.URL
	// AskUnlisted reports whether a person is asked about hosts that the rules do not list.
	AskUnlisted() bool
	// Redact removes secrets from recorded and logged refusals and from questions.
	Redact(text string) string
}

// DefaultConfig has the zero Rules, no upstream proxy, no questions and no redaction. Embed it to implement only some
// methods.
type DefaultConfig struct{}

// Rules implements [Config].
func (DefaultConfig) Rules() policy.Rules { return policy.Rules{} }

// Upstream implements [Config].
func (DefaultConfig) Upstream(string) *url.URL { return nil }

// AskUnlisted implements [Config].
func (DefaultConfig) AskUnlisted() bool { return false }

// Redact implements [Config].
func (DefaultConfig) Redact(text string) string { return text }

// Limits bounds the resources that the browser of a profile can use. Zero values mean the defaults.
type Limits struct {
	// Idle is how long a connection may be idle: 15 minutes by default. It applies to WebSockets, too.
	Idle time.Duration
	// Header bounds reading the header of a request: 15 seconds by default.
	Header time.Duration
	// Body bounds a body, or one direction of a tunnel, in bytes: unlimited by default.
	Body int64
	// PerProfile and Total bound the connections to the listener of a profile, and to all: 512 and 2,048 by default.
	PerProfile, Total int
}

func (l Limits) orDefault() Limits {
	l.Idle, l.Header = cmp.Or(l.Idle, 15*time.Minute), cmp.Or(l.Header, 15*time.Second)
	l.PerProfile, l.Total = cmp.Or(l.PerProfile, 512), cmp.Or(l.Total, 2048)
	return l
}

// errProxyClosed is returned if a Proxy is not open.
var errProxyClosed = errors.New("the checking proxy is closed")

// rulesInterval is how often the rules are read while there are no requests.
const rulesInterval = time.Second

// Open prepares the proxy without listening yet.
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
	// The proxies live until Close, not until the context of this call ends.
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g.stop, g.done = stop, life.Done()
	g.mu.Lock()
	g.open, g.byProfile, g.machine = true, map[string]*profileProxy{}, g.Machine()
	g.mu.Unlock()
	g.work.Go(g.followRules)
	return nil
}

// followRules applies changes of the rules to open connections, and closes idle ones.
func (g *Proxy) followRules() {
	tick := time.Tick(rulesInterval)
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
		case <-tick:
			g.currentRuleset()
			for _, d := range g.profileProxies() {
				d.pool.Sweep()
			}
		}
	}
}

// Close closes all listeners and connections and waits for them until ctx ends.
func (g *Proxy) Close(ctx context.Context) error {
	g.mu.Lock()
	if !g.open {
		g.mu.Unlock()
		return nil
	}
	g.open = false
	g.mu.Unlock()
	g.stop(errProxyClosed)
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

// Listen returns the address of the profile's proxy, http://127.0.0.1:PORT. The first call starts the listener, which
// runs until StopListening or Close. Each call begins a new browser session: approvals of hosts for the previous
// session are forgotten.
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

// StopListening closes the listener of the profile's proxy and the connections to it. The next Listen starts another.
func (g *Proxy) StopListening(profile string) {
	if d, err := g.profileProxy(profile); err == nil {
		d.stopListening()
	}
}

// profileProxy returns the proxy of a profile, creating it on the first call.
func (g *Proxy) profileProxy(profile string) (*profileProxy, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return nil, errProxyClosed
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

// Allow returns nil if a document of the profile may have this address, or an error for a person to read. A refusal is
// recorded. A host that does not resolve is allowed, since nothing can be reached there; so is one that needs a
// person's approval, which is requested when the browser connects.
func (g *Proxy) Allow(ctx context.Context, profile, address string) error {
	return g.judgeAddress(ctx, profile, address, false)
}

// AllowRequest checks one request of a page, for browsers that do not use the proxy. It may ask a person. A name that
// does not resolve here is refused, since the browser may resolve it differently.
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

// Watch records the first document refused to the tab with that CDP target id from now on, as reported by
// [Proxy.AttributeRefusal]. finish, which must be called once, returns it. While a request of the profile is being
// checked, or a refusal is not attributed to a tab yet, finish waits for at most 250 ms.
func (g *Proxy) Watch(profile, target string) (finish func(ctx context.Context) error) {
	d, err := g.profileProxy(profile)
	if err != nil {
		return func(context.Context) error { return nil }
	}
	return d.refusals.Watch(target)
}

// AttributeRefusal reports the tab of a failed request: the tab's observer calls it for each request that may have been
// refused or could not connect. document reports that a page or frame was to be loaded.
func (g *Proxy) AttributeRefusal(profile, target, requestURL string, document bool) {
	if d, err := g.profileProxy(profile); err == nil {
		d.refusals.Attribute(target, g.Config.Redact(requestURL), document)
		if document {
			d.failures.attribute(target, requestURL)
		}
	}
}

// LastFailure returns why the host of a request could not be reached, or nil if that is unknown or more than a minute
// ago. Browsers only report that a tunnel failed. It is the error that a browser would report itself.
func (g *Proxy) LastFailure(profile, requestURL string) error {
	d, err := g.profileProxy(profile)
	if err != nil {
		return err
	}
	if err := d.failures.last(urlHostPort(requestURL)); err != nil {
		return g.redactError(unreachedError(requestURL, err))
	}
	return nil
}

// Refusals returns the last refusals of a profile, at most 200, oldest first.
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

// CheckWithoutDNS checks an http or https URL without DNS, questions or records, for callers that must not wait.
func (g *Proxy) CheckWithoutDNS(address string) error {
	_, err := g.currentRuleset().address(address)
	return g.redactError(err)
}
