package client

import (
	"context"
	"net"
	"net/http"
)

// DialTo lets every connection end at addr, whatever the client's URL names.
func (c *Client) DialTo(addr string) {
	transport := c.http.Transport.(*http.Transport) //nolint:forcetypeassert // New made it
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
}
