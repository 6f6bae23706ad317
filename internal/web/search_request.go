package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/internal/untrusted"
)

const maxSearchBytes = 4 << 20

// engineRequest is a call of a search engine's API.
type engineRequest struct {
	engine  string
	address string
	query   url.Values
	header  map[string]string
	client  *http.Client                         // nil uses the default client
	explain func(status int, body []byte) string // returns the engine's error message; "" if there is none
}

// get sends the request and decodes the JSON response into out. Errors contain neither address nor parameters, which
// may include a key.
func (r engineRequest) get(ctx context.Context, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+"?"+r.query.Encode(), http.NoBody)
	if err != nil {
		return &SearchError{Engine: r.engine, Message: "its address is no web address"}
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	res, err := r.httpClient().Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &SearchError{Engine: r.engine, Message: "it cannot be reached: " + transportReason(err), Retryable: true}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxSearchBytes+1))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &SearchError{Engine: r.engine, Message: "its answer broke off", Retryable: true}
	case len(body) > maxSearchBytes:
		return &SearchError{Engine: r.engine, Message: fmt.Sprintf("its answer is larger than %d MiB", maxSearchBytes>>20)}
	case res.StatusCode != http.StatusOK:
		return r.statusError(res, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &SearchError{Engine: r.engine, Message: "its answer is not the JSON that was expected"}
	}
	return nil
}

// httpClient returns a client that follows no redirects, which would send the key elsewhere.
func (r engineRequest) httpClient() *http.Client {
	c := http.Client{}
	if r.client != nil {
		c = *r.client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// statusError explains an error response.
func (r engineRequest) statusError(res *http.Response, body []byte) error {
	e := &SearchError{Engine: r.engine, Retryable: res.StatusCode >= http.StatusInternalServerError}
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		e.Message, e.RetryAfter = "too many searches for its limits (429)", parseRetryAfter(res.Header.Get("Retry-After"))
	case http.StatusUnauthorized:
		e.Message = "it does not take the key (401)"
	default:
		e.Message = fmt.Sprintf("it answered %d (%s)", res.StatusCode, http.StatusText(res.StatusCode))
	}
	if said := plainSnippet(r.explain(res.StatusCode, body), 300); said != "" {
		e.Message += ": " + said
	}
	return e
}

// parseRetryAfter parses a Retry-After header (RFC 9110, section 10.2.3) given in seconds.
func parseRetryAfter(s string) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 86400)) * time.Second
}

// transportReason returns a transport error without the address.
func transportReason(err error) string {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // http.Client always returns this type
		err = u.Err
	}
	return err.Error()
}

var tagPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[A-Za-z][^<>]*>`) })

// plainSnippet returns text without markup, on one line of at most n characters.
func plainSnippet(s string, n int) string {
	return untrusted.ShortenLine(html.UnescapeString(tagPattern().ReplaceAllString(s, "")), n)
}
