package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/egress/policy"
)

const (
	refusedHeader = "X-Clank-Refused" // rule id, on our responses to refused requests
	failedHeader  = "X-Clank-Failed"  // "dns", "connect" or "timeout", on our responses to failed requests
)

// asRefusal returns the policy refusal that an error wraps.
func asRefusal(err error) (*policy.Refusal, bool) { return errors.AsType[*policy.Refusal](err) }

// ServeHTTP serves one request of the browser.
func (d *profileProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.clients.Add(1)
	defer d.clients.Done()
	defer func() {
		// http.Server does not report the end of hijacked connections; they end with their request.
		if _, err := w.Write(nil); errors.Is(err, http.ErrHijacked) {
			d.connClosed()
		}
	}()
	switch {
	case d.refusesPeer(w, r):
	case r.Method == http.MethodConnect && r.URL.Path == "":
		d.connect(w, r)
	case r.URL.IsAbs() && r.URL.Host != "" && r.Method != http.MethodConnect:
		d.forward(w, r)
	default:
		// Do not reveal the proxy to clients that treat it as a web server.
		d.hangUp(w)
	}
}

func (d *profileProxy) hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// connectTarget parses the target of CONNECT: host:port, with brackets around an IPv6 address (RFC 9112, section
// 3.2.3).
func connectTarget(s string) (host string, port uint16, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 || i == len(s)-1 {
		return "", 0, false
	}
	host, number := s[:i], s[i+1:]
	if strings.Trim(number, "0123456789") != "" || strings.ContainsAny(host, "@/\\?#") {
		return "", 0, false
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		inner, found = strings.CutSuffix(inner, "]")
		if !found || !strings.Contains(inner, ":") || strings.ContainsAny(inner, "[]") {
			return "", 0, false
		}
	} else if strings.ContainsAny(host, ":[]") {
		return "", 0, false
	}
	n, err := strconv.ParseUint(number, 10, 16)
	return host, uint16(n), err == nil && n > 0
}

// connect creates a tunnel.
func (d *profileProxy) connect(w http.ResponseWriter, r *http.Request) {
	host, port, ok := connectTarget(r.RequestURI)
	if !ok || r.ContentLength != 0 {
		d.hangUp(w)
		return
	}
	rules := d.proxy.currentRuleset()
	judged := d.refusals.BeginRequest()
	t, err := rules.hostPort(host, port)
	way, err := d.reach(r.Context(), rules, t, err, r.RequestURI)
	if isRefusal(err) {
		d.recordRefusal(r.Context(), r.RequestURI, t, err, false)
	}
	judged()
	if err != nil {
		d.writeFailure(w, t, err)
		return
	}
	defer way.Release()
	defer way.conn.Close()
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		d.proxy.Logger.Error("taking over a connection failed", "profile", d.profile, "error", err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	if err := forwardBuffered(in.Reader, way.conn); err != nil {
		return
	}
	if err := Tunnel(conn, way.conn, d.pool.Limits); err != nil {
		d.proxy.Logger.Debug("tunnel ended", "profile", d.profile, "host", d.proxy.Config.Redact(t.Host), "error",
			d.proxy.redactError(err))
	}
}

// reach checks the addresses of a target whose name is allowed, and connects.
func (d *profileProxy) reach(ctx context.Context, rules *ruleset, t policy.Target, judged error,
	address string,
) (*outboundConn, error) {
	if judged != nil {
		return nil, judged
	}
	up, err := d.upstream(rules)
	if err != nil {
		return nil, err
	}
	addrs, err := d.judgeAndResolve(ctx, rules, t, up, address)
	if err != nil {
		return nil, err
	}
	return d.openOutbound(ctx, route{t, addrs, up}, false)
}

// forward forwards a request.
func (d *profileProxy) forward(w http.ResponseWriter, r *http.Request) {
	rules := d.proxy.currentRuleset()
	judged := d.refusals.BeginRequest()
	to, err := d.routeRequest(r, rules)
	if isRefusal(err) {
		d.recordRefusal(r.Context(), r.RequestURI, to.target, err, false)
	}
	judged()
	if err != nil {
		d.writeFailure(w, to.target, err)
		return
	}
	x := Exchange{Server: connPoolKey(to), Host: hostHeader(to.target), Private: []string{refusedHeader, failedHeader}}
	if to.forwards() {
		x.Forward, x.Proxy = true, to.upstream.Authorization()
	}
	x.Dial = func(ctx context.Context) (net.Conn, ConnOwner, error) {
		way, err := d.openOutbound(ctx, to, x.Forward)
		if err != nil {
			return nil, nil, err
		}
		return way.conn, way, nil
	}
	upgrade := r.Header.Get("Upgrade") != ""
	err = d.pool.Do(w, r, x)
	switch {
	case err == nil:
	case errors.Is(err, ErrResponseStarted):
		if !upgrade {
			panic(http.ErrAbortHandler) // aborts the response
		}
	default:
		d.writeFailure(w, to.target, err)
	}
}

// routeRequest determines the route of a request in absolute form.
func (d *profileProxy) routeRequest(r *http.Request, rules *ruleset) (route, error) {
	t, err := rules.address(r.RequestURI)
	to := route{target: t}
	if err != nil {
		return to, err
	}
	if t.Scheme != "http" && t.Scheme != "ws" {
		return to, &policy.Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Rule: policy.RuleScheme}
	}
	if to.upstream, err = d.upstream(rules); err != nil {
		return to, err
	}
	to.addrs, err = d.judgeAndResolve(r.Context(), rules, t, to.upstream, r.RequestURI)
	return to, err
}

// connPoolKey returns the key of connections that may serve requests of a route.
func connPoolKey(r route) string {
	name := net.JoinHostPort(r.target.Host, strconv.Itoa(int(r.target.Port)))
	if r.upstream != nil {
		name += " " + r.upstream.String()
		if r.upstream.ResolvesNames() {
			name += " names"
		}
	}
	return name
}

// hostHeader returns the host that was checked, regardless of the client's Host header.
func hostHeader(t policy.Target) string {
	if t.Port != 80 {
		return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	if addr, err := netip.ParseAddr(t.Host); err == nil && addr.Is6() {
		return "[" + t.Host + "]"
	}
	return t.Host
}

// writeFailure responds to a request that was refused or failed.
func (d *profileProxy) writeFailure(w http.ResponseWriter, t policy.Target, err error) {
	if rule := ruleOf(err); rule != "" {
		writeErrorPage(w, http.StatusForbidden, refusedHeader, rule, "clank did not load this page", err.Error())
		return
	}
	status, what := http.StatusBadGateway, "connect"
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		what = "dns"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		status, what = http.StatusGatewayTimeout, "timeout"
	}
	if !errors.Is(err, context.Canceled) { // a request that the browser cancelled says nothing about the server
		d.failures.record(net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))), err)
	}
	writeErrorPage(w, status, failedHeader, what, "This page cannot be reached",
		unreachedError("http://"+hostHeader(t)+"/", err).Error())
}

// RelayLimits bounds a relay. Zero values mean no limit.
type RelayLimits struct {
	// Idle is how long a connection may be idle.
	Idle time.Duration
	// Body bounds one body, or one direction of a tunnel, in bytes.
	Body int64
}

// ErrBodyTooLarge is returned if a body or a direction of a tunnel exceeds the limit.
var ErrBodyTooLarge = errors.New("more bytes than the limit")

// ErrIdleTimeout is returned if a connection was idle for too long.
var ErrIdleTimeout = errors.New("nothing moved for too long")

func (l RelayLimits) body() int64 {
	if l.Body <= 0 {
		return math.MaxInt64
	}
	return l.Body
}

// activity tracks whether any of several copies makes progress.
type activity struct {
	moved      atomic.Int64
	lastMoved  atomic.Int64 // value of moved at the last check
	idleChecks atomic.Int64 // consecutive checks without progress
}

// isAlive checks for progress. Copies that share an activity check in turn, and one may have moved bytes that it has
// not counted yet, so only looks consecutive checks without progress count as idle.
func (p *activity) isAlive(looks int64) bool {
	now := p.moved.Load()
	if p.lastMoved.Swap(now) != now {
		p.idleChecks.Store(0)
		return true
	}
	return p.idleChecks.Add(1) < looks
}

// copyBounded copies from src, which reads from conn, until EOF or limit bytes. It gives up when the activity is idle.
func copyBounded(dst io.Writer, src io.Reader, conn net.Conn, limits RelayLimits, limit int64, p *activity,
	looks int64,
) (int64, error) {
	left := &io.LimitedReader{R: src, N: limit}
	for {
		if limits.Idle > 0 {
			if err := conn.SetReadDeadline(time.Now().Add(limits.Idle / 2)); err != nil {
				return limit - left.N, err
			}
		}
		n, err := io.Copy(dst, left)
		p.moved.Add(n)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || limits.Idle == 0 {
			return limit - left.N, err
		}
		if !p.isAlive(looks) {
			return limit - left.N, ErrIdleTimeout
		}
	}
}

// Tunnel copies bytes between two connections in both directions until both have ended, one fails, or both are idle. It
// closes both. The error is nil after a regular end.
func Tunnel(a, b net.Conn, limits RelayLimits) error {
	var p activity
	var errs [2]error
	var both sync.WaitGroup
	one := func(i int, dst, src net.Conn) {
		n, err := copyBounded(dst, src, src, limits, limits.body(), &p, 4)
		if err == nil && n == limits.body() {
			err = ErrBodyTooLarge
		}
		if err == nil {
			err = closeWrite(dst)
		}
		if errs[i] = err; err != nil {
			a.Close()
			b.Close()
		}
	}
	both.Go(func() { one(0, a, b) })
	one(1, b, a)
	both.Wait()
	a.Close()
	b.Close()
	for _, err := range errs {
		if err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("tunnel: %w", err)
		}
	}
	return nil
}

// closeWrite closes one direction.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
