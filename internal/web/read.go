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

// Limits of reading a page.
const (
	DefaultPageChars = 8000  // characters of text if the request sets none
	minPageChars     = 350   // minimum; lower values are raised
	MaxPageChars     = 24000 // maximum; higher values are reduced

	maxAddressChars  = 2000
	maxRedirectChars = 8000     // characters of a redirect's address
	maxPageBytes     = 16 << 20 // bytes received
	maxUnpackedBytes = 16 << 20 // bytes after decompression
	maxRedirects     = 10
	readTime         = 20 * time.Second
)

var (
	// ErrInvalidAddress means that the address itself is invalid.
	ErrInvalidAddress = errors.New("it cannot be read")
	// ErrNeedsBrowser means that a browser may show what reading cannot.
	ErrNeedsBrowser = errors.New("it needs a browser")
)

// Reader reads pages. Set its fields before the first Read; it is then safe for concurrent use. Close it after the
// last Read.
type Reader struct {
	// Proxy returns the address of the egress proxy, such as http://127.0.0.1:40001. It is called until it succeeds
	// once. Without a proxy nothing is read, because all requests must go through it.
	Proxy func(ctx context.Context) (string, error)

	// Failure returns why the proxy has not reached an address since a time, nil if that is unknown. It may be nil.
	Failure func(address string, since time.Time) error

	// Timeout bounds one Read including redirects; zero means 20 seconds.
	Timeout time.Duration

	mu     sync.Mutex
	client *http.Client
}

// ReadRequest is the page to read.
type ReadRequest struct {
	URL       string // http or https; without a scheme, https
	MaxChars  int    // of text; zero means [DefaultPageChars]
	WholePage bool   // the whole text rather than the main part: for comparisons and prices
}

// Page holds a page that was read.
type Page struct {
	URL       string // after redirects
	Title     string // may be empty
	Byline    string // the author; may be empty
	Type      string // media type, "text/html"
	Text      string // Markdown, or the unchanged text if it is not HTML
	Chars     int    // length of the whole text, even if truncated
	Truncated bool   // Text is only the beginning
}

// Read reads one address. Errors are sentences for a person or a model; they wrap [ErrNeedsBrowser] if a browser may
// help, and [ErrInvalidAddress] if the request is invalid. When ctx ends it returns the cause.
func (r *Reader) Read(ctx context.Context, q ReadRequest) (Page, error) {
	u, err := parseAddress(q.URL)
	if err != nil {
		return Page{}, err
	}
	limit := cmp.Or(r.Timeout, readTime)
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s did not answer in full within %s: %w", u.Host,
		limit, ErrNeedsBrowser))
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

// Close closes idle connections.
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

// truncate keeps at most n characters of the text, cutting at the end of a line if one is near.
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

// NewReader returns a Reader that uses the gate's listener for the profile. The profile should not be that of a
// browser, so that refusals are not attributed to that browser.
func NewReader(gate *egress.Proxy, profile string) *Reader {
	return &Reader{
		Proxy: func(ctx context.Context) (string, error) { return gate.Listen(ctx, profile) },
		Failure: func(address string, since time.Time) error {
			u, err := url.Parse(address)
			if err != nil {
				u = &url.URL{} // nothing is known about an invalid address
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
