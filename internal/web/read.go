package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/browsermgr/egress"
)

// Limits of a reading.
const (
	DefaultPageChars = 8000  // of the text, where none are asked for
	minPageChars     = 350   // fewer asked for means these
	MaxPageChars     = 24000 // more asked for means these

	maxAddressChars  = 2000
	maxRedirectChars = 8000     // characters of where a redirect leads
	maxPageBytes     = 16 << 20 // bytes on the wire
	maxUnpackedBytes = 16 << 20 // bytes after decompression
	maxRedirects     = 10
	readTime         = 20 * time.Second
)

var (
	// ErrInvalidAddress says that the request itself is wrong.
	ErrInvalidAddress = errors.New("it cannot be read")
	// ErrNeedsBrowser says that a browser may show what reading cannot.
	ErrNeedsBrowser = errors.New("it needs a browser")
)

// Reader reads pages. Set its fields before the first Read; it is then safe for
// concurrent use. Close it when nobody reads any more.
type Reader struct {
	// Proxy returns the address of the checking proxy, such as http://127.0.0.1:40001. It is asked until it has
	// answered once. Nothing is read without one: there is no other way out.
	Proxy func(ctx context.Context) (string, error)

	// Failure says why the proxy did not reach an address since then, nil if that is not known. It may be nil.
	Failure func(address string, since time.Time) error

	// Timeout bounds one reading with its redirects; zero means 20 seconds.
	Timeout time.Duration

	mu     sync.Mutex
	client *http.Client
}

// ReadRequest names a page to read.
type ReadRequest struct {
	URL       string // http or https; a name without a scheme is read over https
	MaxChars  int    // of the text; zero means [DefaultPageChars]
	WholePage bool   // all that the page shows, rather than its main part: for comparing, and for prices
}

// Page holds a page that was read.
type Page struct {
	URL       string // where the redirects led
	Title     string // may be empty
	Byline    string // who wrote it; may be empty
	Type      string // media type, "text/html"
	Text      string // Markdown, or the text as it is where it is no HTML
	Chars     int    // of the whole text, also where it was cut
	Truncated bool   // Text is only the beginning
}

// Read reads one address. Errors are sentences for a person or a model; those that a browser may mend are
// [ErrNeedsBrowser], and those of the request are [ErrInvalidAddress]. When ctx ends its cause is returned.
func (r *Reader) Read(ctx context.Context, q ReadRequest) (Page, error) {
	u, err := parseAddress(q.URL)
	if err != nil {
		return Page{}, err
	}
	limit := cmp.Or(r.Timeout, readTime)
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s did not answer in full within %s: %w", u.Host, limit, ErrNeedsBrowser))
	defer cancel()
	var p Page
	got, err := r.fetch(limited, u)
	if err == nil {
		p, err = got.toPage(limited, q.WholePage)
	}
	if err != nil && limited.Err() != nil {
		err = context.Cause(limited)
	}
	if err != nil {
		return Page{}, err
	}
	p.truncate(clampChars(q.MaxChars))
	return p, nil
}

// Close lets go of kept connections.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		r.client.CloseIdleConnections()
	}
}

func clampChars(n int) int {
	if n == 0 {
		return DefaultPageChars
	}
	return min(max(n, minPageChars), MaxPageChars)
}

// truncate keeps at most n characters of the text, up to the end of a line if one is near.
func (p *Page) truncate(n int) {
	p.Chars = utf8.RuneCountInString(p.Text)
	if p.Chars <= n {
		return
	}
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(p.Text[end:])
		end += size
	}
	head := p.Text[:end]
	if line := strings.LastIndexByte(head, '\n'); line > len(head)*3/4 {
		head = head[:line]
	}
	p.Text, p.Truncated = strings.TrimRight(head, " \n"), true
}

// NewReader returns a Reader whose way out is the listener that the gate has for the profile. The profile should be
// no browser's, so that what is refused to the reader is not told of that browser.
func NewReader(gate *egress.Proxy, profile string) *Reader {
	return &Reader{
		Proxy: func(ctx context.Context) (string, error) { return gate.Listen(ctx, profile) },
		Failure: func(address string, since time.Time) error {
			u, err := url.Parse(address)
			if err != nil {
				u = &url.URL{} // of no address nothing is known
			}
			for _, r := range slices.Backward(gate.Refusals(profile)) {
				if r.At.Before(since) {
					break
				}
				if r.Host == u.Hostname() || r.Address == u.Hostname() {
					return errors.New(r.Text)
				}
			}
			return gate.LastFailure(profile, address)
		},
	}
}
