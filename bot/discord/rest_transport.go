package discord

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// restTransport is what discordgo's client sends its requests through.
type restTransport struct {
	base string            // scheme and host in place of Discord's; empty = none
	next http.RoundTripper // nil = the default
}

// RoundTrip implements http.RoundTripper.
func (t restTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.base != "" {
		u, err := url.Parse(t.base)
		if err != nil {
			return nil, fmt.Errorf("parse the address of Discord: %w", err)
		}
		req = req.Clone(req.Context())
		req.URL.Scheme, req.URL.Host, req.Host = u.Scheme, u.Host, ""
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests {
		return resp, err
	}
	return rateLimitJSON(resp), nil
}

// rateLimitJSON gives a refusal for going too fast the body that the library reads the
// wait from. What stands in front of Discord answers in HTML, and says how long
// in the header alone.
func rateLimitJSON(resp *http.Response) *http.Response {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return resp
	}
	after, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
	if err != nil || after < 0 {
		return resp
	}
	_ = resp.Body.Close()
	body := fmt.Sprintf(`{"message":"rate limited","retry_after":%g}`, after)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return resp
}
