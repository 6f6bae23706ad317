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
	"clank/browsermgr/egress/dial"
	"clank/browsermgr/egress/ledger"
)

// failures are the last reasons why places were not reached, and the last documents that tabs did not get for such a
// reason. The zero value is ready.
type failures struct {
	mu        sync.Mutex
	places    map[string]failure
	documents map[string]failure // by CDP target id
}

type failure struct {
	err   error
	at    time.Time
	place string
	url   string // of a document
}

const (
	failureHolds = time.Minute
	mostFailures = 128
)

// note remembers why host:port place was not reached.
func (f *failures) note(place string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.places == nil || len(f.places) >= mostFailures {
		f.places = map[string]failure{}
	}
	f.places[place] = failure{err: err, at: time.Now(), place: place}
}

func (f *failures) last(place string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.places[place]; ok && time.Since(one.at) < failureHolds {
		return one.err
	}
	return nil
}

// credit remembers that the tab did not get a document, if its place was not reached.
func (f *failures) credit(target, url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.places[ledger.Place(url)]
	if !ok {
		return
	}
	if f.documents == nil || len(f.documents) >= mostFailures {
		f.documents = map[string]failure{}
	}
	one.url = url
	f.documents[target] = one
}

// of is why the document at the address did not load, or if that is not known the last one that the tab did not get. The
// reason is of the time since then.
func (f *failures) of(target, address string, since time.Time) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.places[ledger.Place(address)]
	if one.url = address; !ok || one.at.Before(since) {
		one, ok = f.documents[target]
	}
	return one, ok && !one.at.Before(since)
}

// Explain says in words why a document did not load in the tab with that CDP target id, nil if that is not known. address is
// what was asked for, which may have redirected to where the failure was; since is when. Of a tunnel that did not come
// about browsers say no more than that, and of what is not encrypted they show the answer of the proxy.
func (g *Gate) Explain(profile, target, address string, since time.Time) error {
	d, err := g.guard(profile)
	if err != nil {
		return nil //nolint:nilerr // a closed Gate knows no reasons
	}
	one, ok := d.failed.of(target, address, since)
	if !ok {
		return nil
	}
	return g.cleaned(unreached(one.url, one.err))
}

// upstreamError is a failure on the way to a place, not of the place.
type upstreamError struct{ error }

func (u upstreamError) Unwrap() error { return u.error }

// unreached says why a place was not reached, in the words for when a browser finds out by itself.
func unreached(url string, err error) error {
	code := codeOf(err)
	if code == "" {
		return fmt.Errorf("%s cannot be reached: %w", ledger.Place(url), err)
	}
	return address.LoadError(url, code)
}

// codeOf is Chromium's name for a failure; "" if it has none.
func codeOf(err error) string {
	var dns *net.DNSError
	var onTheWay upstreamError
	switch {
	case errors.As(err, &onTheWay):
		return ""
	case errors.As(err, &dns) && dns.IsNotFound, errors.Is(err, dial.ErrNoAddress):
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
