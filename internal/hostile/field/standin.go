package field

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

func standin(ctx context.Context, o Options, p *pass) (*browser, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", p.names4u.String())
	}}
	check := func(hp string) (string, bool) {
		host, port, err := net.SplitHostPort(hp)
		if err != nil {
			return "", false
		}
		addrs, err := resolver.LookupHost(ctx, host)
		if err != nil || len(addrs) == 0 {
			return "", false
		}
		for _, a := range addrs {
			if a != p.ground.Site.String() {
				return "", false
			}
		}
		return net.JoinHostPort(addrs[0], port), true
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hp := r.Host
		if !strings.Contains(hp, ":") {
			hp += ":80"
		}
		to, ok := check(hp)
		if !ok {
			w.Header().Set("X-Clank-Refused", "x")
			w.WriteHeader(403)
			return
		}
		if r.Method == "CONNECT" {
			up, err := net.Dial("tcp", to)
			if err != nil {
				w.WriteHeader(502)
				return
			}
			c, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { io.Copy(up, c); up.Close() }()
			io.Copy(c, up)
			c.Close()
			return
		}
		r.RequestURI = ""
		tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", to)
		}, DisableKeepAlives: true}
		res, err := tr.RoundTrip(r)
		if err != nil {
			w.WriteHeader(502)
			return
		}
		defer res.Body.Close()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		io.Copy(w, res.Body)
	})}
	go s.Serve(l)
	flags := append([]string{"--proxy-server=http://" + l.Addr().String(), "--proxy-bypass-list=<-loopback>"}, strings.FieldsFunc(os.Getenv("GFLAGS"), func(r rune) bool { return r == 10 })...)
	b, err := bare(ctx, flags...)
	if err != nil {
		return nil, err
	}
	c := b.close
	b.close = func(ctx context.Context) error { s.Close(); return c(ctx) }
	return b, nil
}
