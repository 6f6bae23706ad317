package client

import (
	"bufio"
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
)

const maxResponseHeader = 1 << 20

// exchange is a transport for requests to this machine without TLS or a proxy: a connection for each, which ends with
// its answer. A command makes one request, and what [http.Transport] starts to keep connections costs it 0.1 ms. It may
// be used from several goroutines at once.
type exchange struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// RoundTrip implements [http.RoundTripper]. When the request's context ends, so does the connection, which tells the
// server to stop.
func (e *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	port := req.URL.Port()
	if port == "" {
		port = "80"
	}
	conn, err := e.dial(req.Context(), "tcp", net.JoinHostPort(req.URL.Hostname(), port))
	if err != nil {
		return nil, err
	}
	closeConn := sync.OnceValue(conn.Close)
	stop := context.AfterFunc(req.Context(), func() { _ = closeConn() })
	resp, limit, err := send(conn, req)
	if err != nil {
		stop()
		_ = closeConn()
		return nil, err
	}
	limit.N = math.MaxInt64
	resp.Body = &answerBody{resp.Body, func() error { stop(); return closeConn() }}
	return resp, nil
}

// send writes a request and reads the head of its answer. The limit is that of what is read.
func send(conn net.Conn, req *http.Request) (*http.Response, *io.LimitedReader, error) {
	own := *req
	own.Close = true
	unsent := own.Write(conn) // a server may answer what it does not want to read
	limit := &io.LimitedReader{R: conn, N: maxResponseHeader}
	reader := bufio.NewReader(limit)
	for {
		resp, err := http.ReadResponse(reader, req)
		switch {
		case err != nil && unsent != nil:
			return nil, nil, unsent
		case err != nil:
			return nil, nil, err
		case resp.StatusCode > 199: // others only announce an answer
			return resp, limit, nil
		}
	}
}

// answerBody is the body of an answer, with what ends its connection.
type answerBody struct {
	io.ReadCloser

	end func() error
}

// Close ends the connection.
func (b *answerBody) Close() error { return b.end() }
