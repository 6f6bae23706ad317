package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"clank/browsermgr/address"
)

// connectFailures are the last reasons why places were not reached, and the last documents that tabs did not get for such a
// reason. The zero value is ready.
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

// record remembers why host:port place was not reached.
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

// attribute remembers that the tab did not get a document, if its place was not reached.
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

// forDocument returns why the document at the address did not load or, if that is not known, why the last
// document that the tab did not get failed. Failures before since do not count.
func (f *connectFailures) forDocument(target, address string, since time.Time) (connectFailure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.places[urlHostPort(address)]
	if one.url = address; !ok || one.at.Before(since) {
		one, ok = f.documents[target]
	}
	return one, ok && !one.at.Before(since)
}

// ExplainDocument says in words why a document did not load in the tab with that CDP target id, nil if that is not known. address is
// what was asked for, which may have redirected to where the failure was; since is when. Of a tunnel that did not come
// about browsers say no more than that, and of what is not encrypted they show the answer of the proxy.
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

// upstreamError is a failure on the way to a place, not of the place.
type upstreamError struct{ error }

func (u upstreamError) Unwrap() error { return u.error }

// unreachedError says why a place was not reached, in the words for when a browser finds out by itself.
func unreachedError(url string, err error) error {
	code := netErrorCode(err)
	if code == "" {
		return fmt.Errorf("%s cannot be reached: %w", urlHostPort(url), err)
	}
	return address.NewNetError(url, code)
}

// netErrorCode returns Chromium's name for a failure, or "" if it has none.
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
	case errors.Is(err, syscall.ECONNREFUSED):
		return "ERR_CONNECTION_REFUSED"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "ERR_CONNECTION_RESET"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "ERR_ADDRESS_UNREACHABLE"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return "ERR_TIMED_OUT"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "ERR_EMPTY_RESPONSE"
	}
	return ""
}
