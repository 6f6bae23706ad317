package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

// Upstream is an upstream proxy for connections: http, https (both with CONNECT) or socks5 (RFC 1928, RFC 1929). The
// operator chose its address, which is looked up and dialed without checks.
type Upstream struct {
	scheme, address, host, user, password string
	resolvesNames                         bool
}

// ParseUpstream parses the URL of an upstream proxy: http://, https:// or socks5://, optionally with user and password.
// The proxy is given the addresses that were checked here, unless it is to resolve names itself, as requested by
// socks5h:// or ?resolve=upstream. Errors do not contain the password.
func ParseUpstream(u *url.URL) (*Upstream, error) {
	up := &Upstream{
		scheme: strings.ToLower(u.Scheme), host: u.Hostname(),
		resolvesNames: u.Query().Get("resolve") == "upstream",
	}
	port := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[up.scheme]
	switch {
	case port == "":
		return nil, fmt.Errorf("upstream proxy: unknown scheme %q: use http, https, socks5 or socks5h", u.Scheme)
	case up.host == "":
		return nil, errors.New("upstream proxy: the host is missing")
	case u.Query().Has("resolve") && !up.resolvesNames:
		return nil, errors.New("upstream proxy: resolve may only be upstream")
	}
	if up.scheme == "socks5h" {
		up.scheme, up.resolvesNames = "socks5", true
	}
	up.address = net.JoinHostPort(up.host, cmp.Or(u.Port(), port))
	if u.User != nil {
		up.user = u.User.Username()
		up.password, _ = u.User.Password()
	}
	return up, nil
}

// ResolvesNames reports whether the upstream proxy resolves names itself.
func (u *Upstream) ResolvesNames() bool { return u.resolvesNames }

// Literal returns the proxy's address and port if its host is an IP address or localhost.
func (u *Upstream) Literal() (addr netip.Addr, port uint16, ok bool) {
	host, number, err := net.SplitHostPort(u.address)
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		host = "127.0.0.1"
	}
	addr, bad := netip.ParseAddr(host)
	n, odd := strconv.ParseUint(number, 10, 16)
	return addr, uint16(n), err == nil && bad == nil && odd == nil
}

// String returns the proxy's URL without user and password.
func (u *Upstream) String() string { return u.scheme + "://" + u.address }

// Dial connects through the proxy to one of the addresses, or to the host by name if [Upstream.ResolvesNames].
func (u *Upstream) Dial(ctx context.Context, host string, addrs []netip.Addr, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, upstreamTimeout, errUpstreamSilent)
	defer cancel()
	if u.resolvesNames {
		return u.connect(ctx, net.JoinHostPort(host, strconv.Itoa(int(port))))
	}
	first := ErrNoAddress
	for i, addr := range addrs {
		conn, err := u.connect(ctx, netip.AddrPortFrom(addr, port).String())
		if err == nil {
			return conn, nil
		}
		if i == 0 {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// upstreamTimeout is shorter than the limit of a page load, so that the proxy is reported as the cause.
const upstreamTimeout = 15 * time.Second

var errUpstreamSilent = fmt.Errorf("it did not answer within %v", upstreamTimeout)

func (u *Upstream) connect(ctx context.Context, target string) (net.Conn, error) {
	dial := u.tunnel
	if u.scheme == "socks5" {
		dial = u.socks
	}
	conn, err := dial(ctx, target)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("through upstream proxy %s: %w", u, err)
	}
	return conn, nil
}

func (u *Upstream) socks(ctx context.Context, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if u.user != "" || u.password != "" {
		auth = &proxy.Auth{User: u.user, Password: u.password}
	}
	d, err := proxy.SOCKS5("tcp", u.address, auth, &net.Dialer{})
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
}

// tunnel asks an HTTP proxy for a connection with CONNECT (RFC 9110, section 9.3.6).
func (u *Upstream) tunnel(ctx context.Context, target string) (net.Conn, error) {
	conn, err := u.dialTransport(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	whole, err := u.ask(conn, target)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return whole, nil
}

func (u *Upstream) ask(conn net.Conn, target string) (net.Conn, error) {
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if secret := u.Authorization(); secret != "" {
		head += "Proxy-Authorization: " + secret + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, err
	}
	const longest = 64 << 10
	limited := &io.LimitedReader{R: conn, N: longest}
	r := bufio.NewReader(limited)
	resp, err := http.ReadResponse(r, //nolint:bodyclose // what follows is the tunnel
		&http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("read its answer: %.200q", err.Error()) // which may repeat all of it
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("it answered %.100q", resp.Status)
	}
	if r.Buffered() == 0 {
		return conn, nil
	}
	early, err := r.Peek(r.Buffered())
	return &bufferedConn{Conn: conn, early: early}, err
}

// bufferedConn is a connection of which some bytes have been read already.
type bufferedConn struct {
	net.Conn
	early []byte
}

func (b *bufferedConn) Read(p []byte) (int, error) {
	if len(b.early) > 0 {
		n := copy(p, b.early)
		b.early = b.early[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// ForwardsHTTP reports whether plain HTTP requests are forwarded to the proxy in absolute form. An HTTP proxy that
// resolves names supports that for every port, while many allow CONNECT for port 443 only.
func (u *Upstream) ForwardsHTTP() bool { return u.resolvesNames && u.scheme != "socks5" }

// DialProxy connects to the proxy itself, to forward requests; see [Upstream.ForwardsHTTP].
func (u *Upstream) DialProxy(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := u.dialTransport(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to upstream proxy %s: %w", u, err)
	}
	return conn, nil
}

func (u *Upstream) dialTransport(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.address)
	if err != nil || u.scheme != "https" {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{ServerName: u.host, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// Authorization returns the Proxy-Authorization header for the proxy; empty if it has no user.
func (u *Upstream) Authorization() string {
	if u.user == "" && u.password == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.user+":"+u.password))
}
