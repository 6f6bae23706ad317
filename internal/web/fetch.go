package web

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/browsermgr/address"
)

// fetchedPage is a server's response.
type fetchedPage struct {
	url       *url.URL
	mediaType string
	charset   string // from the header; may be empty
	body      []byte
}

// parseAddress parses an address entered by a person.
func parseAddress(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil, fmt.Errorf("the address is empty: %w", ErrInvalidAddress)
	case len(s) > maxAddressChars:
		return nil, fmt.Errorf("the address is longer than %d characters: %w", maxAddressChars, ErrInvalidAddress)
	}
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is no web address: %w", s, ErrInvalidAddress)
	}
	return u, checkReadable(u)
}

// checkReadable returns an error if u cannot be read.
func checkReadable(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("addresses with %s: are not read, only http: and https: %w", u.Scheme, ErrInvalidAddress)
	case u.User != nil:
		return fmt.Errorf("the address of %s carries a user name, which is not sent: %w", u.Host, ErrInvalidAddress)
	}
	return nil
}

// httpClient returns the client, which sends every request through the proxy.
func (r *Reader) httpClient(ctx context.Context) (*http.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		return r.client, nil
	}
	if r.Proxy == nil {
		return nil, errors.New("pages cannot be read: there is no egress proxy to read them through")
	}
	address, err := r.Proxy(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the egress proxy for reading: %w", err)
	}
	proxy, err := url.Parse(address)
	if err != nil || proxy.Host == "" {
		return nil, fmt.Errorf("find the egress proxy for reading: %q is no address of a proxy", address)
	}
	r.client = &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyURL(proxy),
			DisableCompression:     true, // decompressed here, with limits on both sizes
			MaxResponseHeaderBytes: 256 << 10,
			MaxIdleConns:           8,
			IdleConnTimeout:        30 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			next.Header.Del("Referer")
			if len(via) > maxRedirects {
				return fmt.Errorf("it redirects more than %d times", maxRedirects)
			}
			if len(next.URL.String()) > maxRedirectChars {
				return fmt.Errorf("it leads to an address of more than %d characters", maxRedirectChars)
			}
			return checkReadable(next.URL)
		},
	}
	return r.client, nil
}

// fetch requests the address and follows redirects, each of which the proxy checks.
func (r *Reader) fetch(ctx context.Context, u *url.URL) (fetchedPage, error) {
	client, err := r.httpClient(ctx)
	if err != nil {
		return fetchedPage{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return fetchedPage{}, fmt.Errorf("%q is no web address: %w", u.Redacted(), ErrInvalidAddress)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; clank; reader)")
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,application/xml;q=0.8,*/*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip")
	begun := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return fetchedPage{}, r.unreachableError(u, begun, err)
	}
	defer res.Body.Close()
	at := res.Request.URL
	if res.StatusCode != http.StatusOK {
		return fetchedPage{}, r.refusedError(at, begun, res)
	}
	return receiveBody(res)
}

// unreachableError explains why there was no response.
func (r *Reader) unreachableError(asked *url.URL, begun time.Time, err error) error {
	at := asked.String()
	if failed, ok := errors.AsType[*url.Error](err); ok {
		at, err = failed.URL, failed.Err // the target of a redirect
	}
	if errors.Is(err, ErrInvalidAddress) {
		return err
	}
	if why := r.failureReason(at, begun); why != nil {
		return proxyError(hostOf(at, asked), why)
	}
	return unreachedError(hostOf(at, asked), err)
}

// proxyError says why the proxy has not reached a host.
func proxyError(host string, why error) error {
	if e, ok := errors.AsType[*address.NetError](why); ok && e.Code == "ERR_NAME_NOT_RESOLVED" {
		return fmt.Errorf("there is no site called %s", host) // which is translated
	}
	return why
}

// unreachedError says why there was no answer of a host that the proxy has reached.
func unreachedError(host string, why error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var certificate x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var code string
	switch {
	case errors.As(why, &authority):
		code = "ERR_CERT_AUTHORITY_INVALID"
	case errors.As(why, &name):
		code = "ERR_CERT_COMMON_NAME_INVALID"
	case errors.As(why, &certificate) && certificate.Reason == x509.Expired:
		code = "ERR_CERT_DATE_INVALID"
	case errors.As(why, &certificate):
		code = "ERR_CERT_INVALID"
	case errors.As(why, &record):
		code = "ERR_SSL_PROTOCOL_ERROR"
	case errors.Is(why, io.EOF), errors.Is(why, io.ErrUnexpectedEOF):
		code = "ERR_EMPTY_RESPONSE"
	case address.Broken(why):
		code = "ERR_CONNECTION_RESET"
	default:
		return fmt.Errorf("%s cannot be read: %w", host, why)
	}
	return address.NewNetError("https://"+host, code)
}

func hostOf(address string, asked *url.URL) string {
	if u, err := asked.Parse(address); err == nil {
		return u.Host
	}
	return asked.Host
}

func (r *Reader) failureReason(address string, since time.Time) error {
	if r.Failure == nil {
		return nil
	}
	return r.Failure(address, since)
}

// refusedError explains a response that is not a page.
func (r *Reader) refusedError(at *url.URL, begun time.Time, res *http.Response) error {
	// The proxy has details only if it generated the response itself.
	if res.StatusCode == http.StatusForbidden || res.StatusCode >= http.StatusInternalServerError {
		if why := r.failureReason(at.String(), begun); why != nil {
			return proxyError(at.Host, why)
		}
	}
	said := fmt.Sprintf("%s answered %d (%s)", at.Host, res.StatusCode, http.StatusText(res.StatusCode))
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotAcceptable, http.StatusTooManyRequests,
		http.StatusServiceUnavailable:
		return fmt.Errorf("%s, as some sites do to all but browsers: %w", said, ErrNeedsBrowser)
	case http.StatusNoContent:
		return fmt.Errorf("%s: there is nothing to read", said)
	}
	return errors.New(said)
}

// receiveBody reads the body up to the limits.
func receiveBody(res *http.Response) (fetchedPage, error) {
	a := fetchedPage{url: res.Request.URL}
	mediaType, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil {
		a.mediaType, a.charset = mediaType, params["charset"]
		if !isTextType(a.mediaType) {
			return a, unreadableError(a)
		}
	}
	var body io.Reader = &limitedReader{r: res.Body, left: maxPageBytes}
	switch encoding := strings.ToLower(res.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return a, fmt.Errorf("%s sent a page that cannot be unpacked: %w", a.url.Host, ErrNeedsBrowser)
		}
		body = &limitedReader{r: unpacked, left: maxUnpackedBytes}
	default:
		return a, fmt.Errorf("%s packs its pages as %q though that was not asked for: %w", a.url.Host, encoding,
			ErrNeedsBrowser)
	}
	if a.body, err = io.ReadAll(body); err != nil {
		return a, bodyError(a.url.Host, err)
	}
	if a.mediaType == "" {
		a.mediaType, _, _ = mime.ParseMediaType(http.DetectContentType(a.body)) // always valid
		if !isTextType(a.mediaType) {
			return a, unreadableError(a)
		}
	}
	return a, nil
}

// bodyError says why a page did not come whole.
func bodyError(host string, why error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(why, errTooLarge):
		return fmt.Errorf("the page at %s is too large: %w", host, why)
	case errors.Is(why, gzip.ErrHeader), errors.Is(why, gzip.ErrChecksum), errors.As(why, &corrupt):
		return fmt.Errorf("%s sent a page that cannot be unpacked: %w", host, ErrNeedsBrowser)
	default: // an error of the connection names no cause that a person could act on
		return fmt.Errorf("%s broke off the connection before the page was complete: try again", host)
	}
}

var errTooLarge = fmt.Errorf("it has more than %d MiB", maxPageBytes>>20)

// limitedReader fails if there is more data than its limit.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (c *limitedReader) Read(p []byte) (int, error) {
	if c.left == 0 {
		var one [1]byte
		n, err := c.r.Read(one[:])
		if n > 0 {
			return 0, errTooLarge
		}
		return 0, err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
