package websearch

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
)

const maxBody = 4 << 20

// request is one call of an engine's API.
type request struct {
	engine  string
	address string
	query   url.Values
	header  map[string]string
	client  *http.Client                         // nil is one of our own
	explain func(status int, body []byte) string // what the engine says of an error; "" for nothing
}

// get makes the call and decodes the JSON answer into out. Errors name neither
// the address nor the parameters: there may be a key in them.
func (r request) get(ctx context.Context, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+"?"+r.query.Encode(), http.NoBody)
	if err != nil {
		return &Error{Engine: r.engine, Message: "its address is no web address"}
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
		return &Error{Engine: r.engine, Message: "it cannot be reached: " + reason(err), Again: true}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &Error{Engine: r.engine, Message: "its answer broke off", Again: true}
	case len(body) > maxBody:
		return &Error{Engine: r.engine, Message: fmt.Sprintf("its answer is larger than %d MiB", maxBody>>20)}
	case res.StatusCode != http.StatusOK:
		return r.failed(res, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &Error{Engine: r.engine, Message: "its answer is not the JSON that was expected"}
	}
	return nil
}

// httpClient follows no redirects: they would carry the key elsewhere.
func (r request) httpClient() *http.Client {
	c := http.Client{}
	if r.client != nil {
		c = *r.client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// failed says what an answer means that has no results.
func (r request) failed(res *http.Response, body []byte) error {
	e := &Error{Engine: r.engine, Again: res.StatusCode >= http.StatusInternalServerError}
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		e.Message, e.Wait = "too many searches for its limits (429)", retryAfter(res.Header.Get("Retry-After"))
	case http.StatusUnauthorized:
		e.Message = "it does not take the key (401)"
	default:
		e.Message = fmt.Sprintf("it answered %d (%s)", res.StatusCode, http.StatusText(res.StatusCode))
	}
	if said := words(r.explain(res.StatusCode, body), 300); said != "" {
		e.Message += ": " + said
	}
	return e
}

// retryAfter reads the header of that name (RFC 9110 section 10.2.3), as far as
// it is in seconds.
func retryAfter(s string) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 86400)) * time.Second
}

// reason is an error of the transport without the address.
func reason(err error) string {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // what http.Client returns is one
		err = u.Err
	}
	return err.Error()
}

var tags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[A-Za-z][^<>]*>`) })

// words is text with its markup taken out, on one line of at most n characters.
func words(s string, n int) string {
	s = html.UnescapeString(tags().ReplaceAllString(s, ""))
	r := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
