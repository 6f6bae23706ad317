package browsertool

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"clank/internal/test/check"
)

// cableListener accepts connections on which nothing arrives at the client any more once cut is set.
type cableListener struct {
	net.Listener
	cut *atomic.Bool
}

func (l cableListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return cableConn{c, l.cut}, err
}

type cableConn struct {
	net.Conn
	cut *atomic.Bool
}

func (c cableConn) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func TestACallEndsSoonAfterTheWayToTheNodeIsGone(t *testing.T) {
	var cut atomic.Bool
	node := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client has left
		cut.Store(true)
		<-r.Context().Done()
	}))
	node.Listener = cableListener{node.Listener, &cut}
	node.EnableHTTP2 = true
	node.StartTLS()
	defer node.Close()
	transport := directHTTP.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig = node.Client().Transport.(*http.Transport).TLSClientConfig
	transport.HTTP2.SendPingTimeout /= 50
	transport.HTTP2.PingTimeout /= 50
	c := NodeClient{Proxy: &APIClient{URL: node.URL, HTTP: &http.Client{Transport: transport}}}
	_, _, err := c.Call(t.Context(), http.MethodGet, "/tabs", nil, nil)
	check.Fails(t, err, ErrAPIUnreachable, node.Listener.Addr().String())
}
