package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/egress"
	"clank/internal/test/check"
)

// holder counts the open connections.
type holder struct {
	open    *atomic.Int32
	invalid *atomic.Bool
}

func (h holder) Valid() bool { return !h.invalid.Load() }
func (h holder) Release()    { h.open.Add(-1) }

// proxy serves every request with Exchange from one server.
type proxy struct {
	*httptest.Server
	pool    egress.ConnPool
	errs    chan error
	dials   atomic.Int32
	open    atomic.Int32
	invalid atomic.Bool
}

func newProxy(t *testing.T, server string, limits egress.RelayLimits) *proxy {
	t.Helper()
	p := &proxy{pool: egress.ConnPool{Limits: limits}, errs: make(chan error, 100)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := p.pool.Do(w, r, egress.Exchange{
			Server: server, Host: server,
			Dial: func(ctx context.Context) (net.Conn, egress.ConnOwner, error) {
				p.dials.Add(1)
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
				if err != nil {
					return nil, nil, err
				}
				p.open.Add(1)
				return conn, holder{&p.open, &p.invalid}, nil
			},
		})
		p.errs <- err
		if err != nil && !errors.Is(err, egress.ErrResponseStarted) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}))
	t.Cleanup(func() {
		p.Close()
		p.pool.Close()
		until(t, "the end of all connections", func() bool { return p.open.Load() == 0 })
	})
	return p
}

// script returns a server that, for each connection, reads a request, sends one text, and then continues as given.
func script(t *testing.T, answers ...func(net.Conn, *http.Request)) string {
	t.Helper()
	var n atomic.Int32
	return serve(t, "127.0.0.1:0", func(c net.Conn) {
		i := int(n.Add(1)) - 1
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			answers[min(i, len(answers)-1)](c, req)
		}
	}).String()
}

func say(text string) func(net.Conn, *http.Request) {
	return func(c net.Conn, _ *http.Request) { io.WriteString(c, text) }
}

func (p *proxy) get(t *testing.T) (status int, body string, err error) {
	t.Helper()
	resp, err := p.Client().Get(p.URL)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestConnectionsAreUsedAgainWhileTheyAreValid(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer s.Close()
	p := newProxy(t, s.Listener.Addr().String(), egress.RelayLimits{Idle: testTimeout})
	for range 5 {
		if status, body, err := p.get(t); status != http.StatusOK || body != "hello" || err != nil {
			t.Fatalf("got %d %q %v", status, body, err)
		}
		<-p.errs
	}
	check.Equal(t, "times dialed", p.dials.Load(), 1)
	p.invalid.Store(true)
	p.pool.Sweep()
	check.Equal(t, "connections are kept though they are not valid", p.open.Load(), 0)
	p.get(t)
	p.get(t)
	check.Equal(t, "times dialed", p.dials.Load(), 3)
}

func TestAConnectionThatTheServerClosedIsNotUsedAgain(t *testing.T) {
	closed := make(chan bool, 2)
	at := script(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		c.Close()
		closed <- true
	})
	p := newProxy(t, at, egress.RelayLimits{})
	for range 3 {
		resp, err := p.Client().Post(p.URL, "text/plain", strings.NewReader("not to be sent twice"))
		check.Must(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d", resp.StatusCode)
		}
		<-closed
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"nonsense":     "hello\r\n\r\n",
		"huge header":  "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n",
		"two lengths":  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"only interim": strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 30),
		"proxy auth":   "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
	} {
		p := newProxy(t, script(t, say(text)), egress.RelayLimits{})
		if status, _, err := p.get(t); status != http.StatusBadGateway || err != nil {
			t.Errorf("%s: got %d %v", name, status, err)
		}
	}
}

func TestAnswersOfManyKinds(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		status     int
	}{
		"interim": {
			"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
			"ok", 200,
		},
		"too long": {
			"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
			"The answer is larger than 1 kB, which is the limit.\n", 502,
		},
		"until close":  {"HTTP/1.1 200 OK\r\n\r\nok", "ok", 200},
		"old":          {"HTTP/1.0 200 OK\r\n\r\nok", "ok", 200},
		"no content":   {"HTTP/1.1 204 No Content\r\n\r\n", "", 204},
		"not modified": {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", 304},
		"chunked":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n", "ok", 200},
		"more than it said": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: " +
			"6\r\n\r\nforged", "ok", 200},
	} {
		p := newProxy(t, script(t, say(c.text)), egress.RelayLimits{Body: 1000})
		for range 2 {
			if status, body, err := p.get(t); status != c.status || body != c.want || err != nil {
				t.Errorf("%s: got %d %q %v", name, status, body, err)
			}
		}
	}
}

func TestAnAnswerBeforeTheEndOfTheRequestIsPassedOn(t *testing.T) {
	at := script(t, say("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"))
	p := newProxy(t, at, egress.RelayLimits{})
	conn, err := net.Dial("tcp", p.Listener.Addr().String())
	check.Must(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(testTimeout))
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	check.Must(t, err)
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusRequestEntityTooLarge || string(b) != "no" ||
		err != nil {
		t.Errorf("got %d %q %v", resp.StatusCode, b, err)
	}
	check.Must(t, <-p.errs)
}

// A server that responds before it has read a request that the client sent completely leaves the client's connection
// unusable, since its context has ended. The client must be told to open another.
func TestAfterAnAnswerToAHalfReadRequestTheClientOpensAnotherConnection(t *testing.T) {
	var pool egress.ConnPool
	defer pool.Close()
	var open atomic.Int32
	var invalid atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := pool.Do(w, r, egress.Exchange{
			Server: "x", Host: "x",
			Dial: func(ctx context.Context) (net.Conn, egress.ConnOwner, error) {
				if ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				near, far := net.Pipe() // nothing is buffered: the request is written as far as it is read
				open.Add(1)
				go func() {
					in := bufio.NewReaderSize(far, 16)
					for line := ""; line != "\r\n"; line, _ = in.ReadString('\n') {
					}
					io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}()
				return near, holder{&open, &invalid}, nil
			},
		})
		if err != nil && !errors.Is(err, egress.ErrResponseStarted) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}))
	defer front.Close()
	for range 3 {
		resp, err := front.Client().Post(front.URL, "text/plain", strings.NewReader(strings.Repeat("b", 2000)))
		check.Must(t, err)
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || string(b) != "ok" || err != nil {
			t.Errorf("got %d %q %v", resp.StatusCode, b, err)
		}
		if !resp.Close {
			t.Error("the client may use the connection again")
		}
	}
}

func TestAClientThatGoesAwayEndsTheExchange(t *testing.T) {
	began := make(chan bool)
	at := script(t, func(c net.Conn, _ *http.Request) {
		close(began)
		io.Copy(io.Discard, c)
	})
	p := newProxy(t, at, egress.RelayLimits{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	check.Must(t, err)
	if resp, err := p.Client().Do(req); err == nil {
		resp.Body.Close()
	}
	check.Fails(t, <-p.errs, context.Canceled)
}

// pair returns the two ends of a TCP connection.
func pair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	accepted := make(chan net.Conn)
	closed := make(chan bool)
	at := serve(t, "127.0.0.1:0", func(c net.Conn) {
		accepted <- c
		<-closed
	})
	a, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
	check.Must(t, err)
	t.Cleanup(func() {
		a.Close()
		close(closed)
	})
	a.SetDeadline(time.Now().Add(testTimeout))
	return a, (<-accepted).(*net.TCPConn)
}

// tunnelled returns the outer ends of a tunnel, and the result of [egress.Tunnel].
func tunnelled(t *testing.T, limits egress.RelayLimits) (client, server *net.TCPConn, done chan error) {
	t.Helper()
	client, a := pair(t)
	server, b := pair(t)
	done = make(chan error, 1)
	go func() { done <- egress.Tunnel(a, b, limits) }()
	return client, server, done
}

func TestTunnelPassesTheEndOfEachDirectionOn(t *testing.T) {
	client, server, done := tunnelled(t, egress.RelayLimits{Idle: testTimeout})
	for text, way := range map[string][2]*net.TCPConn{"question": {client, server}, "answer": {server, client}} {
		io.WriteString(way[0], text)
		way[0].CloseWrite()
		if got, err := io.ReadAll(way[1]); string(got) != text || err != nil {
			t.Errorf("got %q %v", got, err)
		}
	}
	check.Must(t, <-done)
}

func TestTunnelStaysWhileOneDirectionMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a := net.Pipe()
		server, b := net.Pipe()
		const idle = time.Minute
		done := make(chan error, 1)
		go func() { done <- egress.Tunnel(a, b, egress.RelayLimits{Idle: idle}) }()
		buf := make([]byte, 1)
		var moved time.Time
		for began := time.Now(); time.Since(began) < 3*idle; <-time.After(idle / 20) {
			go server.Write([]byte("x"))
			if _, err := io.ReadFull(client, buf); err != nil {
				t.Fatalf("ended after %s: %v", time.Since(began), err)
			}
			moved = time.Now()
		}
		// Either direction may be the first to give up; the other then finds its pipe closed.
		err := <-done
		if !errors.Is(err, egress.ErrIdleTimeout) && !errors.Is(err, io.ErrClosedPipe) || time.Since(moved) < idle {
			t.Errorf("got %v, %s after the last byte", err, time.Since(moved))
		}
	})
}

func TestTunnelEndsWhenItCarriesTooMuch(t *testing.T) {
	client, server, done := tunnelled(t, egress.RelayLimits{Body: 1000})
	go server.Write(make([]byte, 5000))
	if got, _ := io.ReadAll(client); len(got) > 1000 {
		t.Errorf("%d bytes came through", len(got))
	}
	check.Fails(t, <-done, egress.ErrBodyTooLarge)
}
