package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"
)

// connectDialer dials through CONNECT of the proxy at that host:port.
func connectDialer(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		if err != nil || resp.StatusCode != http.StatusOK {
			conn.Close()
			return nil, fmt.Errorf("connect: %v %w", resp, err)
		}
		return conn, nil
	}
}

const bulk = 64 << 20

// bench is a server, a way there, and a way there through the proxy.
type bench struct {
	address         string
	direct, proxied *http.Client
}

func newBench(b *testing.B, secure, tunnel, fresh bool) bench {
	b.Helper()
	piece := make([]byte, 64<<10)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/bulk" {
			io.WriteString(w, "hello")
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(bulk))
		for range bulk / len(piece) {
			w.Write(piece)
		}
	})
	s := httptest.NewUnstartedServer(handler)
	start := s.Start
	if secure {
		start = s.StartTLS
	}
	start()
	b.Cleanup(s.Close)
	u := open(b, nil).proxy
	client := func() (*http.Client, *http.Transport) {
		t := &http.Transport{DisableCompression: true, DisableKeepAlives: fresh, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		b.Cleanup(t.CloseIdleConnections)
		return &http.Client{Transport: t}, t
	}
	direct, _ := client()
	proxied, transport := client()
	if tunnel && !secure {
		transport.DialContext = connectDialer(u.Host)
	} else {
		transport.Proxy = http.ProxyURL(u)
	}
	return bench{s.URL, direct, proxied}
}

func fetch(b *testing.B, c *http.Client, address string) time.Duration {
	b.Helper()
	began := time.Now()
	resp, err := c.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(discard{}, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status, err)
	}
	resp.Body.Close()
	return time.Since(began)
}

// discard reads in pieces of the size that io.Copy has; io.Discard would read in smaller ones.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// compare fetches by turns directly and through the proxy, and reports both, so that what else the machine does falls on
// both alike.
func compare(b *testing.B, s bench, path string) {
	b.Helper()
	var direct, proxied []time.Duration
	fetch(b, s.direct, s.address+path)
	fetch(b, s.proxied, s.address+path)
	for b.Loop() {
		direct = append(direct, fetch(b, s.direct, s.address+path))
		proxied = append(proxied, fetch(b, s.proxied, s.address+path))
	}
	d, p := median(direct), median(proxied)
	if path == "/bulk" {
		// The best of each side is what the way can carry; the medians have in them what else the machine does.
		b.ReportMetric(bulk/direct[0].Seconds()/1e6, "direct-MB/s")
		b.ReportMetric(bulk/proxied[0].Seconds()/1e6, "proxy-MB/s")
		b.ReportMetric(direct[0].Seconds()/proxied[0].Seconds(), "ratio")
		b.ReportMetric(d.Seconds()/p.Seconds(), "median-ratio")
		return
	}
	b.ReportMetric(float64(d.Nanoseconds())/1e3, "direct-µs")
	b.ReportMetric(float64(p.Nanoseconds())/1e3, "proxy-µs")
	b.ReportMetric(float64((p-d).Nanoseconds())/1e3, "added-µs")
}

func BenchmarkDirectAndThroughProxy(b *testing.B) {
	for _, c := range []struct {
		name                  string
		secure, tunnel, fresh bool
		path                  string
	}{
		{"small/kept", false, false, false, "/"},
		{"small/new", false, false, true, "/"},
		{"small/tunnel-new", false, true, true, "/"},
		{"small/tls-kept", true, true, false, "/"},
		{"small/tls-new", true, true, true, "/"},
		{"bulk/plain", false, false, false, "/bulk"},
		{"bulk/tunnel", false, true, false, "/bulk"},
		{"bulk/tls", true, true, false, "/bulk"},
	} {
		b.Run(c.name, func(b *testing.B) { compare(b, newBench(b, c.secure, c.tunnel, c.fresh), c.path) })
	}
}
