package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
)

// A line is what viewers have between them and clank: a proxy for HTTP, WebSockets and the UDP of WebRTC, whose
// addresses it replaces in offers and answers. The kernel is not asked to lose anything, so what a loss costs over TCP
// is imitated: what comes after is held up until it was sent again.
type line struct {
	name  string
	loss  float64 // of the packets
	rate  int     // bits a second each way; 0 is no bound
	noUDP bool
}

const (
	segment     = 1460 // bytes of a packet of TCP
	resendAfter = 50 * time.Millisecond
	longestWait = 300 * time.Millisecond // of a datagram; later ones are dropped
)

// pacer says when what is sent in one direction has gone out.
type pacer struct {
	rate int
	mu   sync.Mutex
	free time.Time
}

func (p *pacer) reserve(n int, most time.Duration) (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.rate == 0 {
		return now, true
	}
	if p.free.Before(now) {
		p.free = now
	}
	if most > 0 && p.free.Sub(now) > most {
		return now, false
	}
	p.free = p.free.Add(time.Duration(n) * 8 * time.Second / time.Duration(p.rate))
	return p.free, true
}

// open puts the line before a server, and returns the address that viewers have.
func (l line) open(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	check.Must(t, err)
	proxy := &httputil.ReverseProxy{ModifyResponse: func(r *http.Response) error { return l.answer(t, r) }}
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if r.In.Header.Get("Origin") != "" {
			r.Out.Header.Set("Origin", to.Scheme+"://"+to.Host)
		}
		if r.In.Method == http.MethodPost { // offers have no addresses of the viewer's, so packets come through the line
			body, _ := io.ReadAll(r.In.Body)
			body = offered.ReplaceAll(body, nil)
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
	}
	server := httptest.NewUnstartedServer(proxy)
	server.Listener = &lineListener{server.Listener, l, &pacer{rate: l.rate}}
	server.Start()
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

var (
	offered  = regexp.MustCompile(`a=candidate:[^\\]*\\r\\n`)
	answered = map[string]*regexp.Regexp{"udp": candidateOf("udp"), "tcp": candidateOf("tcp")}
)

func candidateOf(network string) *regexp.Regexp {
	return regexp.MustCompile(`(a=candidate:\S+ \d+ ` + network + ` \d+) (127\.0\.0\.1) (\d+) (typ host[^\\]*\\r\\n)`)
}

// answer has packets for the server go through the line.
func (l line) answer(t *testing.T, r *http.Response) error {
	t.Helper()
	if r.Request.Method != http.MethodPost || r.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if at := offered.FindIndex(body); at != nil {
		var near []byte // candidates, which lie in the line
		for network, is := range answered {
			if m := is.FindSubmatch(body); m != nil {
				port, _ := strconv.Atoi(string(m[3]))
				open := map[string]func(*testing.T, int) int{"udp": l.openUDP, "tcp": l.openTCP}[network]
				near = fmt.Appendf(near, "%s 127.0.0.1 %d %s", m[1], open(t, port), m[4])
			}
		}
		body = slices.Concat(body[:at[0]], near, offered.ReplaceAll(body[at[0]:], nil))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// openUDP passes packets on to a server and back, and returns the port to which they come.
func (l line) openUDP(t *testing.T, port int) int {
	t.Helper()
	to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	near, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check.Must(t, err)
	far, err := net.DialUDP("udp", nil, to)
	check.Must(t, err)
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	var mu sync.Mutex
	var viewer *net.UDPAddr
	l.carry(func(b []byte) (int, error) {
		n, from, err := near.ReadFromUDP(b)
		mu.Lock()
		defer mu.Unlock()
		viewer = from
		return n, err
	}, far.Write)
	l.carry(far.Read, func(b []byte) (int, error) {
		mu.Lock()
		to := viewer
		mu.Unlock()
		return near.WriteToUDP(b, to)
	})
	return near.LocalAddr().(*net.UDPAddr).Port
}

// carry passes packets on in one direction until its sockets are closed.
func (l line) carry(read, write func([]byte) (int, error)) {
	type packet struct {
		at   time.Time
		data []byte
	}
	pace, queue := &pacer{rate: l.rate}, make(chan packet, 4096)
	go func() {
		defer close(queue)
		for buf := make([]byte, 64<<10); ; {
			n, err := read(buf)
			switch {
			case err != nil && n == 0:
				return
			case l.noUDP || rand.Float64() < l.loss:
				continue
			}
			if at, ok := pace.reserve(n, longestWait); ok {
				queue <- packet{at, bytes.Clone(buf[:n])}
			}
		}
	}()
	go func() {
		for p := range queue {
			<-time.After(time.Until(p.at))
			_, _ = write(p.data)
		}
	}()
}

// openTCP passes connections on to a server, and returns the port to which they come.
func (l line) openTCP(t *testing.T, port int) int {
	t.Helper()
	near, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	t.Cleanup(func() { _ = near.Close() })
	at := &lineListener{near, l, &pacer{rate: l.rate}}
	go func() {
		for {
			viewer, err := at.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
			if err != nil {
				_ = viewer.Close()
				continue
			}
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_, _ = to.Close(), from.Close()
			}
			go pass(viewer, server)
			go pass(server, viewer)
		}
	}()
	return near.Addr().(*net.TCPAddr).Port
}

type lineListener struct {
	net.Listener

	line line
	down *pacer // all connections share it, as they do a line
}

func (l *lineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &lineConn{c, l}, err
}

type lineConn struct {
	net.Conn

	on *lineListener
}

func (c *lineConn) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		next := b[n:min(n+segment, len(b))]
		at, _ := c.on.down.reserve(len(next), 0)
		if rand.Float64() < c.on.line.loss {
			at = at.Add(resendAfter)
		}
		<-time.After(time.Until(at))
		var m int
		m, err = c.Conn.Write(next)
		n += m
	}
	return n, err
}
