package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/egress/policy"
)

var errRulesChanged = errors.New("the rules for what pages may reach have changed meanwhile")

type profileProxy struct {
	proxy     *Proxy
	profile   string
	refusals  RefusalLog
	approvals approvals
	pool      ConnPool
	failures  connectFailures
	serving   sync.WaitGroup // the listener
	clients   sync.WaitGroup // connections to it, and requests

	mu        sync.Mutex
	closed    bool
	address   netip.AddrPort
	server    *http.Server
	connCount int
	conns     map[*outboundConn]bool
	logged    map[string]bool // refusals already logged
}

func newProfileProxy(g *Proxy, profile string) *profileProxy {
	return &profileProxy{
		proxy: g, profile: profile, conns: map[*outboundConn]bool{}, logged: map[string]bool{},
		pool: ConnPool{Limits: RelayLimits{Idle: g.Limits.Idle, Body: g.Limits.Body}},
	}
}

// listen starts the listener unless it is running.
func (d *profileProxy) listen(ctx context.Context) (netip.AddrPort, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return netip.AddrPort{}, errProxyClosed
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
	d.proxy.mu.Lock()
	d.proxy.ownListeners = append(d.proxy.ownListeners, d.address)
	d.proxy.mu.Unlock()
	const header, idle = 256 << 10, 5 * time.Minute
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: d.proxy.Limits.Header, IdleTimeout: idle, MaxHeaderBytes: header,
		ConnState: d.limitConns, ConnContext: withPeerCheck, DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0), // reports only broken connections
	}
	d.server = server
	d.serving.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.proxy.Logger.Error("checking proxy ended", "profile", d.profile, "error", err)
		}
	})
	return d.address, nil
}

// stopListening closes the listener, if there is one, and the connections to it. It must not run together with listen.
func (d *profileProxy) stopListening() {
	d.mu.Lock()
	server, address := d.server, d.address
	d.server = nil
	d.mu.Unlock()
	if server == nil {
		return
	}
	d.endServing(server)
	d.proxy.mu.Lock()
	defer d.proxy.mu.Unlock()
	others := slices.Clone(d.proxy.ownListeners)
	d.proxy.ownListeners = slices.DeleteFunc(others, func(a netip.AddrPort) bool { return a == address })
}

// endServing closes the listener and waits until it is closed.
func (d *profileProxy) endServing(server *http.Server) {
	if err := server.Close(); err != nil {
		d.proxy.Logger.Debug("closing a listener failed", "profile", d.profile, "error", err)
	}
	d.serving.Wait()
}

// limitConns closes connections in excess of the limits.
func (d *profileProxy) limitConns(c net.Conn, state http.ConnState) {
	g := d.proxy
	switch state {
	case http.StateNew:
		d.clients.Add(1)
		g.mu.Lock()
		g.conns++
		all := g.conns
		g.mu.Unlock()
		d.mu.Lock()
		d.connCount++
		mine := d.connCount
		d.mu.Unlock()
		if mine > g.Limits.PerProfile || all > g.Limits.Total {
			c.Close()
		}
	case http.StateHijacked:
		d.clients.Done()
	case http.StateClosed:
		d.connClosed()
		d.clients.Done()
	case http.StateActive, http.StateIdle:
	}
}

// connClosed counts a closed connection.
func (d *profileProxy) connClosed() {
	d.proxy.mu.Lock()
	d.proxy.conns--
	d.proxy.mu.Unlock()
	d.mu.Lock()
	d.connCount--
	d.mu.Unlock()
}

// outboundConn is an open connection to a request's server or upstream proxy.
type outboundConn struct {
	owner  *profileProxy
	conn   net.Conn
	target policy.Target
	addrs  []netip.Addr // its address; all checked ones if an upstream proxy connects
}

// Valid reports whether the present rules allow the connection.
func (w *outboundConn) Valid() bool {
	return w.owner.proxy.currentRuleset().stillAllows(w.target, w.addrs)
}

// Release removes it from the open connections.
func (w *outboundConn) Release() {
	w.owner.mu.Lock()
	delete(w.owner.conns, w)
	w.owner.mu.Unlock()
}

// enforce closes connections that the rules no longer allow.
func (d *profileProxy) enforce(l *ruleset) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := range d.conns {
		if !l.stillAllows(w.target, w.addrs) {
			w.conn.Close()
		}
	}
}

// route is the destination of an allowed request.
type route struct {
	target   policy.Target
	addrs    []netip.Addr // all checked; none if the upstream resolves a name that we cannot
	upstream *Upstream
}

// forwards reports whether requests are forwarded to an upstream HTTP proxy.
func (r route) forwards() bool { return r.upstream != nil && r.upstream.ForwardsHTTP() }

// openOutbound connects. forward reports that the connection is to the upstream proxy itself.
func (d *profileProxy) openOutbound(ctx context.Context, r route, forward bool) (*outboundConn, error) {
	w := &outboundConn{owner: d, target: r.target, addrs: r.addrs}
	var err error
	switch {
	case r.upstream == nil:
		var conn *net.TCPConn
		if conn, err = DialAny(ctx, r.addrs, r.target.Port); err == nil {
			w.conn, w.addrs = conn, []netip.Addr{conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()}
		}
	case forward:
		w.conn, err = r.upstream.DialProxy(ctx)
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
		d.conns[w] = true
	}
	d.mu.Unlock()
	// The rules may have changed between the check and adding the connection.
	if closed || !w.Valid() {
		w.conn.Close()
		w.Release()
		return nil, fmt.Errorf("reach %s: %w", r.target.Host, errRulesChanged)
	}
	return w, nil
}

// upstream returns the upstream proxy of the profile. It must not be a listener of ours, which would be a loop.
func (d *profileProxy) upstream(l *ruleset) (*Upstream, error) {
	u := d.proxy.Config.Upstream(d.profile)
	if u == nil {
		return nil, nil
	}
	up, err := ParseUpstream(u)
	if err != nil {
		return nil, err
	}
	if addr, port, ok := up.Literal(); ok {
		if refusal, ok := asRefusal(l.policy.CheckIP(policy.Target{Host: addr.String(), Port: port, Literal: addr},
			addr)); ok && refusal.Rule == policy.RuleOwnListener {
			return nil, fmt.Errorf("upstream proxy %s is a listener of this program: name another", up)
		}
	}
	return up, nil
}

// judgeAndResolve checks a target whose name is allowed by the rules: it asks a person if necessary, resolves the name
// and checks every address. One refused address refuses the host.
func (d *profileProxy) judgeAndResolve(ctx context.Context, l *ruleset, t policy.Target, up *Upstream,
	url string,
) ([]netip.Addr, error) {
	if t.Host == "invalid" || strings.HasSuffix(t.Host, ".invalid") {
		// These names never exist (RFC 6761, section 6.4), so ask neither a person nor DNS.
		return nil, fmt.Errorf("look up %s: %w", t.Host, &net.DNSError{Err: "no such host", Name: t.Host, IsNotFound: true})
	}
	if l.needsApproval(t) {
		why := "a page wants to load " + RedactURL(d.proxy.Config.Redact(url))
		if err := d.approvals.ask(ctx, d.proxy.Approver, d.profile, t.Host, why); err != nil {
			return nil, err
		}
	}
	if t.Literal.IsValid() {
		return []netip.Addr{t.Literal.Unmap()}, nil
	}
	addrs, err := d.proxy.names.Lookup(ctx, t.Host)
	if err != nil {
		if up != nil && up.ResolvesNames() && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	for _, a := range addrs {
		if err := l.policy.CheckIP(t, a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// recordRefusal records a refusal. before reports that it is not of a request but of a check before loading.
func (d *profileProxy) recordRefusal(ctx context.Context, address string, t policy.Target, err error, before bool) {
	r := RefusalRecord{
		At: time.Now(), Profile: d.profile, URL: address, Host: t.Host, Rule: ruleOf(err),
		Text: err.Error(), Document: before,
	}
	place := ""
	if refusal, ok := asRefusal(err); ok {
		r.Host, r.Named = cmp.Or(r.Host, refusal.Host), refusal.Named
		if refusal.Addr.IsValid() {
			r.Address = refusal.Addr.String()
		}
		place = net.JoinHostPort(r.Host, strconv.Itoa(int(refusal.Port)))
	}
	if t.Host != "" {
		place = net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	r.URL, r.Host, r.Text = d.proxy.Config.Redact(r.URL), d.proxy.Config.Redact(r.Host), d.proxy.Config.Redact(r.Text)
	d.refusals.Add(r, place, d.proxy.redactError(err))
	d.proxy.Logger.Log(ctx, d.logLevel(r), "request refused", "profile", d.profile, "host", r.Host, "address", r.Address,
		"rule", r.Rule)
}

// logLevel limits the logs of a page that is refused repeatedly.
func (d *profileProxy) logLevel(r RefusalRecord) slog.Level {
	const most = 100
	key := r.Rule + " " + r.Host
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.logged[key] || len(d.logged) >= most {
		return slog.LevelDebug
	}
	d.logged[key] = true
	return slog.LevelInfo
}

// close closes everything and waits for it.
func (d *profileProxy) close() {
	d.mu.Lock()
	d.closed = true
	server := d.server
	for w := range d.conns {
		w.conn.Close()
	}
	d.mu.Unlock()
	if server != nil {
		d.endServing(server)
	}
	d.approvals.close()
	d.pool.Close()
	d.clients.Wait()
}
