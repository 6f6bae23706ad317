package client

import (
	"context"
	"net"
	"net/http"
)

// DialTo makes every connection go to addr, whatever the client's URL.
func (c *Client) DialTo(addr string) {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	switch transport := c.http.Transport.(type) {
	case *http.Transport:
		transport.Proxy, transport.DialContext = nil, dial
	case *exchange:
		transport.dial = dial
	}
}
