package egress

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/egress/dial"
	"clank/browsermgr/egress/ledger"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/egress/relay"
)

var errChanged = errors.New("the settings of what pages may reach have changed meanwhile")

// guard is the proxy of one profile.
type guard struct {
	gate    *Gate
	profile string
	ledger  ledger.Ledger
	asked   questions
	pool    relay.Pool
	failed  failures
	serving sync.WaitGroup // the listener
	clients sync.WaitGroup // connections to it, and requests

	mu      sync.Mutex
	closed  bool
	address netip.AddrPort
	server  *http.Server
	conns   int
	ways    map[*way]bool
	told    map[string]bool // refusals that were logged
}

func newGuard(g *Gate, profile string) *guard {
	return &guard{
		gate: g, profile: profile, ways: map[*way]bool{}, told: map[string]bool{},
		pool: relay.Pool{Limits: relay.Limits{Idle: g.Limits.Idle, Body: g.Limits.Body}},
	}
}

// listen starts the listener unless it runs.
func (d *guard) listen(ctx context.Context) (netip.AddrPort, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return netip.AddrPort{}, ErrClosed
	}
	if d.server != nil {
		return d.address, nil
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	d.address = l.Addr().(*net.TCPAddr).AddrPort()
	d.gate.mu.Lock()
	d.gate.own = append(d.gate.own, d.address)
	d.gate.mu.Unlock()
	const header, idle = 256 << 10, 5 * time.Minute
	d.server = &http.Server{
		Handler: d, ReadHeaderTimeout: d.gate.Limits.Header, IdleTimeout: idle, MaxHeaderBytes: header, ConnState: d.count,
		DisableGeneralOptionsHandler: true, ErrorLog: log.New(discard{}, "", 0),
	}
	d.serving.Go(func() {
		if err := d.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.gate.Logger.Error("checking proxy ended", "profile", d.profile, "error", err)
		}
	})
	return d.address, nil
}

// discard is where the server's talk of broken connections goes.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// count closes connections that are too many.
func (d *guard) count(c net.Conn, state http.ConnState) {
	g := d.gate
	switch state {
	case http.StateNew:
		d.clients.Add(1)
		g.mu.Lock()
		g.conns++
		all := g.conns
		g.mu.Unlock()
		d.mu.Lock()
		d.conns++
		mine := d.conns
		d.mu.Unlock()
		if mine > g.Limits.Profile || all > g.Limits.All {
			c.Close()
		}
	case http.StateHijacked:
		d.clients.Done()
	case http.StateClosed:
		d.leave()
		d.clients.Done()
	case http.StateActive, http.StateIdle:
	}
}

// leave makes room for another connection.
func (d *guard) leave() {
	d.gate.mu.Lock()
	d.gate.conns--
	d.gate.mu.Unlock()
	d.mu.Lock()
	d.conns--
	d.mu.Unlock()
}

// way is an open connection to where a request goes.
type way struct {
	guard  *guard
	conn   net.Conn
	target policy.Target
	addrs  []netip.Addr // the one it leads to; all that were judged, if it goes through an upstream proxy
}

// Valid says whether the rules of now allow it.
func (w *way) Valid() bool { return w.guard.gate.rules().still(w.target, w.addrs) }

// Release forgets it.
func (w *way) Release() {
	w.guard.mu.Lock()
	delete(w.guard.ways, w)
	w.guard.mu.Unlock()
}

// enforce closes what the law does not allow any more.
func (d *guard) enforce(l *law) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := range d.ways {
		if !l.still(w.target, w.addrs) {
			w.conn.Close()
		}
	}
}

// route is where a request that was judged goes.
type route struct {
	target   policy.Target
	addrs    []netip.Addr // all judged; none if the upstream resolves what we cannot
	upstream *dial.Upstream
}

// forwards says whether the upstream is handed the request as it is.
func (r route) forwards() bool { return r.upstream != nil && r.upstream.Forwards() }

// open connects. forward says that the upstream itself is wanted.
func (d *guard) open(ctx context.Context, r route, forward bool) (*way, error) {
	w := &way{guard: d, target: r.target, addrs: r.addrs}
	var err error
	switch {
	case r.upstream == nil:
		var conn *net.TCPConn
		if conn, err = dial.Any(ctx, r.addrs, r.target.Port); err == nil {
			w.conn, w.addrs = conn, []netip.Addr{conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()}
		}
	case forward:
		w.conn, err = r.upstream.Open(ctx)
	default:
		w.conn, err = r.upstream.Dial(ctx, r.target.Host, r.addrs, r.target.Port)
	}
	if err != nil && r.upstream != nil {
		err = upstreamError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", r.target.Host, err)
	}
	d.mu.Lock()
	closed := d.closed
	if !closed {
		d.ways[w] = true
	}
	d.mu.Unlock()
	// The rules may have changed since the target was judged, before enforce could see the connection.
	if closed || !w.Valid() {
		w.conn.Close()
		w.Release()
		return nil, fmt.Errorf("reach %s: %w", r.target.Host, errChanged)
	}
	return w, nil
}

// upstream is the proxy that the profile's traffic goes on through. A listener of ours cannot be: it would go in circles.
func (d *guard) upstream(l *law) (*dial.Upstream, error) {
	var u *url.URL
	if d.gate.Upstream != nil {
		u = d.gate.Upstream(d.profile)
	}
	if u == nil {
		return nil, nil
	}
	up, err := dial.ParseUpstream(u)
	if err != nil {
		return nil, err
	}
	if addr, port, ok := up.Literal(); ok {
		if refusal, ok := asRefusal(l.policy.IP(policy.Target{Host: addr.String(), Port: port, Literal: addr}, addr)); ok && refusal.Rule == policy.RuleOwn {
			return nil, fmt.Errorf("upstream proxy %s is a listener of this program: name another", up)
		}
	}
	return up, nil
}

// admit judges a target that the rules let pass by its name: it asks a person if need be, resolves the name, and judges
// every address. One that is refused refuses the host.
func (d *guard) admit(ctx context.Context, l *law, t policy.Target, up *dial.Upstream, url string) ([]netip.Addr, error) {
	if t.Host == "invalid" || strings.HasSuffix(t.Host, ".invalid") {
		// There are no such hosts (RFC 6761, section 6.4): neither a person nor the DNS has to be asked.
		return nil, fmt.Errorf("look up %s: %w", t.Host, &net.DNSError{Err: "no such host", Name: t.Host, IsNotFound: true})
	}
	if l.asks(t) {
		why := "a page wants to load " + ledger.Clean(d.gate.clean(url))
		if err := d.asked.ask(ctx, d.gate.Asker, d.profile, t.Host, why); err != nil {
			return nil, err
		}
	}
	if t.Literal.IsValid() {
		return []netip.Addr{t.Literal.Unmap()}, nil
	}
	addrs, err := d.gate.names.Lookup(ctx, t.Host)
	if err != nil {
		if up != nil && up.Names() && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	for _, a := range addrs {
		if err := l.policy.IP(t, a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// record notes a refusal. before says that it is no request of a page, but of somebody who asks before loading one.
func (d *guard) record(ctx context.Context, address string, t policy.Target, err error, before bool) {
	r := Refused{At: time.Now(), Profile: d.profile, URL: address, Host: t.Host, Rule: ruleOf(err), Text: err.Error(), Document: before}
	place := ""
	if refusal, ok := asRefusal(err); ok {
		if r.Host == "" {
			r.Host = refusal.Host
		}
		if refusal.Addr.IsValid() {
			r.Address = refusal.Addr.String()
		}
		place = net.JoinHostPort(r.Host, strconv.Itoa(int(refusal.Port)))
	}
	if t.Host != "" {
		place = net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	r.URL, r.Host, r.Text = d.gate.clean(r.URL), d.gate.clean(r.Host), d.gate.clean(r.Text)
	d.ledger.Add(r, place, d.gate.cleaned(err))
	d.gate.Logger.Log(ctx, d.level(r), "request refused", "profile", d.profile, "host", r.Host, "address", r.Address, "rule", r.Rule)
}

// level lets a page that is refused over and over fill no logs.
func (d *guard) level(r Refused) slog.Level {
	const most = 100
	key := r.Rule + " " + r.Host
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told[key] || len(d.told) >= most {
		return slog.LevelDebug
	}
	d.told[key] = true
	return slog.LevelInfo
}

// close ends everything and waits for it.
func (d *guard) close() {
	d.mu.Lock()
	d.closed = true
	server := d.server
	for w := range d.ways {
		w.conn.Close()
	}
	d.mu.Unlock()
	if server != nil {
		if err := server.Close(); err != nil {
			d.gate.Logger.Debug("closing a listener failed", "profile", d.profile, "error", err)
		}
	}
	d.serving.Wait()
	d.asked.close()
	d.pool.Close()
	d.clients.Wait()
}
