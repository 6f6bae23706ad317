package egress

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/address"
	"clank/internal/untrusted"
)

// connectFailures holds the last reasons why hosts could not be reached, and the last documents that tabs could not
// load because of that. The zero value is ready to use.
type connectFailures struct {
	mu        sync.Mutex
	places    map[string]connectFailure
	documents map[string]connectFailure // by CDP target id
}

type connectFailure struct {
	err   error
	at    time.Time
	place string
	url   string // of a document
}

const (
	failureTTL  = time.Minute
	maxFailures = 128
)

// record stores why place, a host:port, could not be reached.
func (f *connectFailures) record(place string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.places == nil || len(f.places) >= maxFailures {
		f.places = map[string]connectFailure{}
	}
	f.places[place] = connectFailure{err: err, at: time.Now(), place: place}
}

func (f *connectFailures) last(place string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.places[place]; ok && time.Since(one.at) < failureTTL {
		return one.err
	}
	return nil
}

// attribute records that the tab could not load a document, if its host could not be reached.
func (f *connectFailures) attribute(target, url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.places[urlHostPort(url)]
	if !ok {
		return
	}
	if f.documents == nil || len(f.documents) >= maxFailures {
		f.documents = map[string]connectFailure{}
	}
	one.url = url
	f.documents[target] = one
}

// forDocument returns why the document at the address did not load or, if that is unknown, why the tab's last failed
// document did not load. Failures before since are ignored.
func (f *connectFailures) forDocument(target, address string, since time.Time) (connectFailure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.places[urlHostPort(address)]
	if one.url = address; !ok || one.at.Before(since) {
		one, ok = f.documents[target]
	}
	return one, ok && !one.at.Before(since)
}

// ExplainDocument returns why a document did not load in the tab with that CDP target id; nil if unknown. address was
// requested at since and may have redirected to the host that failed. For tunnels, browsers only report a failure, and
// for plain HTTP they show the proxy's response.
func (g *Proxy) ExplainDocument(profile, target, address string, since time.Time) error {
	d, err := g.profileProxy(profile)
	if err != nil {
		return nil //nolint:nilerr // a closed Gate knows no reasons
	}
	one, ok := d.failures.forDocument(target, address, since)
	if !ok {
		return nil
	}
	return g.redactError(unreachedError(one.url, one.err))
}

// upstreamError is a failure of the upstream proxy, not of the server.
type upstreamError struct{ error }

func (u upstreamError) Unwrap() error { return u.error }

// unreachedError returns an error like the one for a failure that the browser itself reports.
func unreachedError(url string, err error) error {
	code := netErrorCode(err)
	if code == "" {
		return fmt.Errorf("%s cannot be reached: %w", urlHostPort(url), err)
	}
	return address.NewNetError(url, code)
}

// netErrorCode returns Chromium's name for a failure; "" if there is none.
func netErrorCode(err error) string {
	var dns *net.DNSError
	var onTheWay upstreamError
	switch {
	case errors.As(err, &onTheWay):
		return ""
	case errors.As(err, &dns) && dns.IsNotFound, errors.Is(err, ErrNoAddress):
		return "ERR_NAME_NOT_RESOLVED"
	case errors.As(err, &dns):
		return "ERR_NAME_RESOLUTION_FAILED"
	case address.Refused(err):
		return "ERR_CONNECTION_REFUSED"
	case address.Broken(err):
		return "ERR_CONNECTION_RESET"
	case address.Unreachable(err):
		return "ERR_ADDRESS_UNREACHABLE"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), address.TimedOut(err):
		return "ERR_TIMED_OUT"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "ERR_EMPTY_RESPONSE"
	}
	return ""
}

// writeErrorPage responds with a small page for a person. It contains no scripts, styles or links, and the texts, which
// a page may influence, are escaped.
func writeErrorPage(w http.ResponseWriter, status int, header, value, title, text string) {
	h := w.Header()
	clear(h)
	h.Set(header, value)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	page := "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + html.EscapeString(title) + "</title>\n<h1>" +
		html.EscapeString(title) +
		"</h1>\n<p>" + html.EscapeString(strings.ToValidUTF8(text, "\uFFFD")) + "</p>\n"
	io.WriteString(w, page) //nolint:errcheck // the client may have disconnected
}

// redactedError is an error with secrets removed from its text.
type redactedError struct {
	error

	text string
}

func (c redactedError) Error() string { return c.text }
func (c redactedError) Unwrap() error { return c.error }

// redactError removes secrets from the text of an error.
func (g *Proxy) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := g.Config.Redact(err.Error()); text != err.Error() {
		return redactedError{err, text}
	}
	return err
}

// hiddenValue replaces values of secret parameters.
const hiddenValue = "[hidden]"

const maxRecordedURL = 2048 // in characters

// A parameter is secret if its name contains one of the words or equals one of the names, ignoring case and separators.
var (
	secretNameParts = []string{
		"auth", "cookie", "apikey", "token", "secret", "passw", "passphrase", "passcode", "pwd", "credential", "privatekey",
		"accesskey",
		"session", "signature", "assertion", "onetime", "card", "jwt", "otp", "csrf", "xsrf", "saml",
	}
	secretNames = []string{"key", "pass", "pin", "sid", "sig", "code", "cvv", "cvc", "ssn", "state", "nonce"}
)

// RedactURL removes user info, the fragment and the values of secret parameters from a URL, and truncates it. Text that
// is not a URL is only truncated.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		if end := strings.IndexAny(address, "?#"); end >= 0 {
			address = address[:end]
		}
		if at := strings.LastIndexByte(address, '@'); at >= 0 {
			address = "…" + address[at+1:]
		}
		return untrusted.Shorten(strings.ToValidUTF8(address, "\uFFFD"), maxRecordedURL+1)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = redactQuery(u.RawQuery)
	}
	return untrusted.Shorten(strings.ToValidUTF8(u.String(), "\uFFFD"), maxRecordedURL+1)
}

func redactQuery(query string) string {
	var b strings.Builder
	for i, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			b.WriteByte('&')
		}
		name, value, ok := strings.Cut(pair, "=")
		b.WriteString(name)
		if ok {
			if isSecretName(name) {
				value = hiddenValue
			}
			b.WriteString("=" + value)
		}
	}
	return b.String()
}

func isSecretName(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return slices.Contains(secretNames, name) ||
		slices.ContainsFunc(secretNameParts, func(w string) bool { return strings.Contains(name, w) })
}
