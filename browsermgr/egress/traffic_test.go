package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/egress"
	"clank/internal/test/check"

	"github.com/coder/websocket"
)

func TestSendsServersWhatTheBrowserSaidAndNothingOfItself(t *testing.T) {
	f := open(t, nil)
	got := make(chan http.Header, 1)
	s := site(t, func(_ http.ResponseWriter, r *http.Request) {
		r.Header.Set("Test-Host", r.Host)
		got <- r.Header
	})
	host := strings.TrimPrefix(s.URL, "http://")
	f.say(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: other.test\r\nAccept: */*\r\nProxy-Connection: "+
		"keep-alive\r\nProxy-Authorization: Basic eDp5\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: "+
		"trailers\r\nKeep-Alive: 5\r\nProxy-X: 1\r\nCookie: a=b\r\n\r\n")
	want := http.Header{"Accept": {"*/*"}, "Cookie": {"a=b"}, "Test-Host": {host}}
	check.Diff(t, "headers", <-got, want)
}

func TestGivesTheBrowserWhatServersSay(t *testing.T) {
	f := open(t, nil)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Date"] = nil, nil
		h.Set("Proxy-Authenticate", "Basic")
		h.Set("X-Clank-Refused", "forged")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "1")
		h.Add("Set-Cookie", "a=1")
		h.Add("Set-Cookie", "b=2")
		io.WriteString(w, "<p>hello")
	})
	resp, err := f.client.Get(s.URL)
	check.Must(t, err)
	defer resp.Body.Close()
	want := http.Header{"Set-Cookie": {"a=1", "b=2"}, "Content-Length": {"8"}}
	check.Diff(t, "headers", resp.Header, want)
}

func TestBodiesOfAllKindsComeThroughWhole(t *testing.T) {
	f := open(t, nil)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			b, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Equal(b, big) {
				t.Errorf("the server got %d bytes: %v", len(b), err)
			}
		}
		if r.URL.Path == "/measured" {
			w.Header().Set("Content-Length", strconv.Itoa(len(big)))
		}
		w.Write(big)
	})
	for _, path := range []string{"/measured", "/chunked", "/measured"} {
		if status, _, body := f.get(t, s.URL+path); status != http.StatusOK || body != string(big) {
			t.Errorf("%s: got %d, %d bytes", path, status, len(body))
		}
		for _, body := range []io.Reader{bytes.NewReader(big), io.MultiReader(bytes.NewReader(big))} {
			resp, err := f.client.Post(s.URL+path, "text/plain", body)
			check.Must(t, err)
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !bytes.Equal(got, big) {
				t.Errorf("%s: got %d bytes: %v", path, len(got), err)
			}
		}
	}
	resp, err := f.client.Head(s.URL + "/measured")
	check.Must(t, err)
	resp.Body.Close()
	check.Equal(t, "length", resp.ContentLength, int64(len(big)))
}

func TestEventsArriveAsTheyAreSent(t *testing.T) {
	f := open(t, nil)
	next := make(chan bool)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		for range next {
			io.WriteString(w, "data: x\n\n")
			w.(http.Flusher).Flush()
		}
	})
	go func() { next <- true }()
	resp, err := f.client.Get(s.URL)
	check.Must(t, err)
	defer resp.Body.Close()
	buf := make([]byte, 9)
	for range 3 {
		check.Must(t, check.Err(io.ReadFull(resp.Body, buf)))
		go func() { next <- true }()
	}
	check.Must(t, check.Err(io.ReadFull(resp.Body, buf)))
	close(next)
}

func TestAnAnswerThatBreaksOffBreaksOffForTheBrowserToo(t *testing.T) {
	f := open(t, nil)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/measured" {
			w.Header().Set("Content-Length", "1000000")
		}
		w.Write(make([]byte, 10000))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, path := range []string{"/measured", "/chunked"} {
		resp, err := f.client.Get(s.URL + path)
		check.Must(t, err)
		check.Fails(t, check.Err(io.Copy(io.Discard, resp.Body)), io.ErrUnexpectedEOF)
		resp.Body.Close()
	}
}

func TestWebSocketsWorkThroughTunnelsAndUpgrades(t *testing.T) {
	f := open(t, nil)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, data, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	})
	for name, client := range map[string]*http.Client{"upgrade": f.client, "tunnel": tunnelClient(f)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			plain := *client
			plain.Timeout = 0
			c, _, err := websocket.Dial(ctx, s.URL, &websocket.DialOptions{HTTPClient: &plain})
			check.Must(t, err)
			defer c.CloseNow()
			for range 3 {
				check.Must(t, c.Write(ctx, websocket.MessageText, []byte("hello")))
				if _, got, err := c.Read(ctx); err != nil || string(got) != "hello" {
					t.Fatalf("got %q, %v", got, err)
				}
			}
		})
	}
}

// tunnelClient sends plain HTTP through CONNECT, as browsers do for ws:// addresses.
func tunnelClient(f *fixture) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: connectDialer(f.proxy.Host), DisableCompression: true}}
}

func TestTLSGoesThroughUntouched(t *testing.T) {
	f := open(t, nil, "example.com")
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Host+" "+r.TLS.ServerName)
	}))
	defer s.Close()
	f.names.set("example.com", addrs("127.0.0.1"))
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	f.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	host := "example.com:" + s.Listener.Addr().String()[len("127.0.0.1:"):]
	if status, _, body := f.get(t, "https://"+host+"/"); status != http.StatusOK || body != host+" example.com" {
		t.Errorf("got %d %q", status, body)
	}
}

func TestSaysWhatKindOfFailureItWas(t *testing.T) {
	f := open(t, nil, "*.test")
	for address, want := range map[string]string{"http://nowhere.test/": "dns", "http://" + unused(t) + "/x": "connect"} {
		resp, err := f.client.Get(address)
		check.Must(t, err)
		resp.Body.Close()
		if got := resp.Header.Get("X-Clank-Failed"); resp.StatusCode != http.StatusBadGateway || got != want {
			t.Errorf("%s: got %d %q, want 502 %q", address, resp.StatusCode, got, want)
		}
	}
	check.Fails(t, f.LastFailure(profile, "http://nowhere.test/"), nil, "no such host nowhere.test: check the spelling")
	check.Must(t, f.LastFailure(profile, "https://other.test/"))
	check.Equal(t, "failures were counted as refusals", f.RefusalCount(profile), 0)
}

func TestSlowGarbledAndHugeRequestsAreEnded(t *testing.T) {
	f := open(t, func(g *egress.Proxy) { g.Limits.Header = 100 * time.Millisecond })
	for name, text := range map[string]string{
		"slow":    "GET http://127.0.0.1/ HTTP/1.1\r\nHost: ",
		"garbage": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"huge":    "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n",
		"smuggle": "POST http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"no port": "GET http://127.0.0.1:99999/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	} {
		if got := f.say(t, text); strings.HasPrefix(got, "HTTP/1.1 2") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestConnectionsAreCappedAndThoseThatEndMakeRoom(t *testing.T) {
	f := open(t, func(g *egress.Proxy) { g.Limits.PerProfile = 1 })
	s := site(t, nil)
	for range 3 {
		var conn net.Conn
		until(t, "a tunnel", func() bool {
			conn = f.dial(t)
			fmt.Fprintf(conn, "CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: x\r\n\r\n", port(t, s))
			resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
			if err != nil {
				return false
			}
			resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
		second := f.dial(t)
		fmt.Fprint(second, "GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if got, _ := io.ReadAll(second); len(got) > 0 {
			t.Errorf("a second connection got %q", got)
		}
		conn.Close()
	}
}

func TestSilentTunnelsAndLargeBodiesAreEnded(t *testing.T) {
	f := open(t, func(g *egress.Proxy) { g.Limits.Idle = 200 * time.Millisecond })
	small := open(t, func(g *egress.Proxy) { g.Limits.Body = 1 << 20 })
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/chunked":
			for range 64 {
				w.Write(make([]byte, 64<<10))
			}
		default:
			w.Header().Set("Content-Length", strconv.Itoa(2<<20))
			w.Write(make([]byte, 2<<20))
		}
	})
	_, in, _, _ := f.tunnel(t, "127.0.0.1:"+port(t, s))
	mustEnd(t, in)
	if status, _, _ := f.get(t, s.URL+"/hang"); status != http.StatusGatewayTimeout {
		t.Errorf("a silent server: got %d", status)
	}
	if status, _, _ := small.get(t, s.URL+"/measured"); status != http.StatusBadGateway {
		t.Errorf("a large body: got %d", status)
	}
	if resp, err := small.client.Get(s.URL + "/chunked"); err == nil {
		check.Fails(t, check.Err(io.Copy(io.Discard, resp.Body)), io.ErrUnexpectedEOF)
		resp.Body.Close()
	}
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	began := make(chan bool, 1)
	s := site(t, func(_ http.ResponseWriter, r *http.Request) {
		began <- true
		<-r.Context().Done()
	})
	f := open(t, nil)
	_, in, _, _ := f.tunnel(t, "127.0.0.1:"+port(t, s))
	failed := make(chan error, 1)
	go func() {
		resp, err := f.client.Get(s.URL)
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	check.Must(t, f.Close(ctx))
	mustEnd(t, in)
	<-failed
	s.CloseClientConnections()
	f.client.CloseIdleConnections()
	until(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
}
