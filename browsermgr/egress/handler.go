package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"clank/browsermgr/egress/policy"
	"clank/browsermgr/egress/relay"
)

const (
	refusedHeader = "X-Clank-Refused" // with the rule, on answers of ours to what is refused
	failedHeader  = "X-Clank-Failed"  // with "dns", "connect" or "timeout", on answers of ours to what was tried
)

// asRefusal finds the refusal of package policy in an error.
func asRefusal(err error) (*policy.Refusal, bool) { return errors.AsType[*policy.Refusal](err) }

// ServeHTTP serves one request of the browser.
func (d *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.clients.Add(1)
	defer d.clients.Done()
	defer func() {
		// The server does not tell of the end of connections that were taken over; they end with their request.
		if _, err := w.Write(nil); errors.Is(err, http.ErrHijacked) {
			d.leave()
		}
	}()
	switch {
	case r.Method == http.MethodConnect && r.URL.Path == "":
		d.connect(w, r)
	case r.URL.IsAbs() && r.URL.Host != "" && r.Method != http.MethodConnect:
		d.forward(w, r)
	default:
		// Whoever found the port and takes it for a server learns nothing.
		d.hangUp(w)
	}
}

func (d *guard) hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// connectTarget reads what CONNECT names: host:port, with brackets around an IPv6 address (RFC 9112, section 3.2.3).
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

// connect makes a tunnel.
func (d *guard) connect(w http.ResponseWriter, r *http.Request) {
	host, port, ok := connectTarget(r.RequestURI)
	if !ok || r.ContentLength != 0 {
		d.hangUp(w)
		return
	}
	rules := d.gate.rules()
	judged := d.ledger.Judging()
	t, err := rules.hostPort(host, port)
	way, err := d.reach(r.Context(), rules, t, err, r.RequestURI)
	if isRefusal(err) {
		d.record(r.Context(), r.RequestURI, t, err, false)
	}
	judged()
	if err != nil {
		d.fail(w, t, err)
		return
	}
	defer way.Release()
	defer way.conn.Close()
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		d.gate.Logger.Error("taking over a connection failed", "profile", d.profile, "error", err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	if err := relay.Early(in.Reader, way.conn); err != nil {
		return
	}
	if err := relay.Tunnel(conn, way.conn, d.pool.Limits); err != nil {
		d.gate.Logger.Debug("tunnel ended", "profile", d.profile, "host", d.gate.clean(t.Host), "error", d.gate.cleaned(err))
	}
}

// reach judges what has passed the judgement of its name, and connects.
func (d *guard) reach(ctx context.Context, rules *law, t policy.Target, judged error, address string) (*way, error) {
	if judged != nil {
		return nil, judged
	}
	up, err := d.upstream(rules)
	if err != nil {
		return nil, err
	}
	addrs, err := d.admit(ctx, rules, t, up, address)
	if err != nil {
		return nil, err
	}
	return d.open(ctx, route{t, addrs, up}, false)
}

// forward sends a request on.
func (d *guard) forward(w http.ResponseWriter, r *http.Request) {
	rules := d.gate.rules()
	judged := d.ledger.Judging()
	to, err := d.judge(r, rules)
	if isRefusal(err) {
		d.record(r.Context(), r.RequestURI, to.target, err, false)
	}
	judged()
	if err != nil {
		d.fail(w, to.target, err)
		return
	}
	x := relay.Request{Server: serverName(to), Host: hostHeader(to.target), Private: []string{refusedHeader, failedHeader}}
	if to.forwards() {
		x.Forward, x.Proxy = true, to.upstream.Authorization()
	}
	x.Dial = func(ctx context.Context) (net.Conn, relay.Holder, error) {
		way, err := d.open(ctx, to, x.Forward)
		if err != nil {
			return nil, nil, err
		}
		return way.conn, way, nil
	}
	upgrade := r.Header.Get("Upgrade") != ""
	err = d.pool.Exchange(w, r, x)
	switch {
	case err == nil:
	case errors.Is(err, relay.ErrAnswered):
		if !upgrade {
			panic(http.ErrAbortHandler) // net/http's way to break an answer off
		}
	default:
		d.fail(w, to.target, err)
	}
}

// judge finds out where a request in absolute form goes.
func (d *guard) judge(r *http.Request, rules *law) (route, error) {
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
	to.addrs, err = d.admit(r.Context(), rules, t, to.upstream, r.RequestURI)
	return to, err
}

// serverName names the connections that may serve requests of a route.
func serverName(r route) string {
	name := net.JoinHostPort(r.target.Host, strconv.Itoa(int(r.target.Port)))
	if r.upstream != nil {
		name += " " + r.upstream.String()
		if r.upstream.Names() {
			name += " names"
		}
	}
	return name
}

// hostHeader is the host as it was judged, whatever the client's header says.
func hostHeader(t policy.Target) string {
	if t.Port != 80 {
		return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	if addr, err := netip.ParseAddr(t.Host); err == nil && addr.Is6() {
		return "[" + t.Host + "]"
	}
	return t.Host
}

// fail answers a request that was refused, or came to nothing.
func (d *guard) fail(w http.ResponseWriter, t policy.Target, err error) {
	if rule := ruleOf(err); rule != "" {
		tell(w, http.StatusForbidden, refusedHeader, rule, "clank did not load this", err.Error())
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
	d.failed.note(net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))), err)
	tell(w, status, failedHeader, what, "This page cannot be reached", unreached("http://"+hostHeader(t)+"/", err).Error())
}
