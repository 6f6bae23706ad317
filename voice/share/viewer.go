package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/cancel"
	"clank/internal/liveview/assets"
	"clank/videosource"
	"clank/voice/webrtc"
)

// Default limits of concurrent views: of all shares together, and of one, so that one widely known link does not block
// other shares.
const (
	DefaultMaxViews  = 60
	maxViewsPerShare = 20
)

// maxPendingRequests limits the requests that have not yet shown the secret of a link. They do not count as views.
// Beyond the limit, the longest pending one is dropped.
const maxPendingRequests = 64

// ViewerShare holds what a link is good for.
type ViewerShare struct {
	ID   string // no secret: for logs
	Link string // the id of the link; no secret either

	// Session is the session that a link without a call shows. Control lets the holder of the link control its page.
	Session string
	Control bool

	Name  string // of the person that it is for; may be empty
	Title string // for people; may be empty
	Watch func(videosource.Format) webrtc.FrameSource
	Until time.Time       // when the link expires; zero: with the share
	Done  <-chan struct{} // closed when the share has ended or the link was revoked; nil: never
}

// LinkChecker knows the links that are good now; browser is a secret of the browser that has one. An error is why one
// is not, as a sentence for people without a full stop.
type LinkChecker interface {
	CheckLink(token, browser string) (ViewerShare, error)
}

// SignIn lets people prove which Discord account is theirs. Its errors are sentences, like those of [LinkChecker].
type SignIn interface {
	// SignInURL returns the URL where a person signs in, from which they return to "signed-in" below the page.
	SignInURL() string

	// SignIn grants a link to the browser of the person who signed in.
	SignIn(ctx context.Context, token, browser, state, code string) error
}

// ViewerPage serves the page. Set the fields, then Open; Close ends all views.
type ViewerPage struct {
	Links  LinkChecker
	SignIn SignIn         // nil: no link is for an account
	Engine *webrtc.Engine // nil: no WebRTC

	// Work serves the WebSocket of the live pane for people whose link lets them control a page; nil: links are only for
	// watching.
	Work func(w http.ResponseWriter, r *http.Request, s ViewerShare)

	MaxViews         int // concurrent views; 0: [DefaultMaxViews]
	MaxViewsPerShare int // of these, of one share; 0: 20
	Logger           *slog.Logger

	site    *assets.Site
	closing func() <-chan struct{}
	end     context.CancelFunc

	mu          sync.Mutex
	closed      bool
	views       []*place              // the one that came first is first
	offers      int                   // connections that are about to come about
	offerLimits map[string]*rateLimit // of shares for which offers were made lately
	tries       map[string]*rateLimit // of people who recently presented invalid links
	pending     []*place              // requests that have not shown the secret of a link yet, in the same order
	work        sync.WaitGroup
}

// IncompleteLink is what the page answers to a link without a secret.
const IncompleteLink = "a part of it is missing: use the whole link, with everything after the #"

// Reasons why a person cannot, or can no longer, watch.
var (
	errLinkIncomplete = errors.New(IncompleteLink)
	errLinkExpired    = errors.New("the link has expired: ask for a new one")
	errTooManyViewers = errors.New("too many people are watching shared pages already; try again later")
	errShareIsFull    = errors.New("too many people are watching this page already; try again later")
	errPageClosing    = errors.New("clank is ending")
	errShareEnded     = errors.New("the share has ended")
	errViewReplaced   = errors.New("others want to watch, and this page is open here more often than elsewhere")
)

// ViewerLink returns the address of a share. base is where the page is reached from outside, with its path:
// "https://example.org/watch".
func ViewerLink(base, token string) string { return strings.TrimSuffix(base, "/") + "/#" + token }

// Open prepares the page.
func (v *ViewerPage) Open() error {
	v.Logger = cmp.Or(v.Logger, slog.New(slog.DiscardHandler))
	own, err := fs.Sub(files, "assets")
	if err != nil {
		return fmt.Errorf("read the viewer's page: %w", err)
	}
	if v.site, err = assets.Load(own); err != nil {
		return err
	}
	v.offerLimits, v.tries = map[string]*rateLimit{}, map[string]*rateLimit{}
	ctx, end := context.WithCancel(context.Background())
	v.closing, v.end = ctx.Done, end
	return nil
}

// Close ends all views, and waits until nothing of them is left, or ctx has ended.
func (v *ViewerPage) Close(ctx context.Context) error {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.end()
	if err := cancel.WaitFor(ctx, &v.work); err != nil {
		return fmt.Errorf("close the viewer's page: views have not ended: %w", err)
	}
	return nil
}

// Count returns how many watch.
func (v *ViewerPage) Count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.views)
}

// Viewer is a person who watches.
type Viewer struct {
	From  string    `json:"from"` // their address, or the network it is in
	Since time.Time `json:"since"`
}

// Viewers returns the viewers with a link, in the order of their arrival.
func (v *ViewerPage) Viewers(link string) []Viewer {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := []Viewer{}
	for _, p := range v.views {
		if p.link == link {
			list = append(list, Viewer{p.person, p.since})
		}
	}
	return list
}

// place is a view or request that counts toward a limit.
type place struct {
	share  string // "" while that is not known
	link   string
	since  time.Time
	person string // see [personOf]
	leave  func(why error)
}

// without returns the places but one.
func without(places []*place, gone *place) []*place {
	return slices.DeleteFunc(places, func(p *place) bool { return p == gone })
}

// mostOf returns the oldest place of the person with the most places in a share ("" for all), if they have at least two
// more than person; else nil. It may be given to person, so that nobody locks others out with many views.
func mostOf(places []*place, share, person string) *place {
	count, first := map[string]int{}, map[string]*place{}
	for _, p := range places {
		if share != "" && p.share != share {
			continue
		}
		if count[p.person]++; first[p.person] == nil {
			first[p.person] = p
		}
	}
	var found *place
	for who, n := range count {
		if n > count[person]+1 && (found == nil || n > count[found.person]) {
			found = first[who]
		}
	}
	return found
}

// checkRoom returns an error if person may not watch a share now. Otherwise it returns the place that must end for
// that, if any. The caller holds the lock.
func (v *ViewerPage) checkRoom(share, person string) (instead *place, err error) {
	n := 0
	for _, p := range v.views {
		if p.share == share {
			n++
		}
	}
	switch {
	case v.closed:
		return nil, errPageClosing
	case n >= cmp.Or(v.MaxViewsPerShare, maxViewsPerShare):
		instead, err = mostOf(v.views, share, person), errShareIsFull
	case len(v.views) >= cmp.Or(v.MaxViews, DefaultMaxViews):
		instead, err = mostOf(v.views, "", person), errTooManyViewers
	}
	if instead != nil {
		err = nil
	}
	return instead, err
}

// reserveView reserves a place among the viewers of a share; left releases it. leave, which must not block, is called
// if the place is given to someone else.
func (v *ViewerPage) reserveView(s ViewerShare, person string, leave func(why error)) (left func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	instead, err := v.checkRoom(s.ID, person)
	if err != nil {
		return nil, err
	}
	if instead != nil {
		v.views = without(v.views, instead)
		instead.leave(errViewReplaced)
	}
	own := &place{s.ID, s.Link, time.Now(), person, leave}
	v.views = append(v.views, own)
	v.work.Add(1)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.views = without(v.views, own)
		v.work.Done()
	}, nil
}

// admitPending allows a person to show the secret of a link until the context ends. known must be called when they
// have, or have failed to.
func (v *ViewerPage) admitPending(
	ctx context.Context, person string,
) (waiting context.Context, known func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, nil, errPageClosing
	}
	if len(v.pending) >= maxPendingRequests {
		late := cmp.Or(mostOf(v.pending, "", person), v.pending[0])
		late.leave(errTooManyRequests)
		v.pending = without(v.pending, late)
	}
	ctx, leave := context.WithCancelCause(ctx)
	own := &place{person: person, leave: leave}
	v.pending = append(v.pending, own)
	v.work.Add(1)
	return ctx, sync.OnceFunc(func() {
		leave(context.Canceled)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.pending = without(v.pending, own)
		v.work.Done()
	}), nil
}

// personOf returns what identifies the sender of a request as well as possible: their address, or their network for
// IPv6. Behind a reverse proxy on this machine it is the address that the proxy reports.
func personOf(r *http.Request) string {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr := from.Addr().Unmap()
	if said := r.Header.Values("X-Forwarded-For"); addr.IsLoopback() && len(said) > 0 {
		last := said[len(said)-1]
		last = last[strings.LastIndex(last, ",")+1:] // those before it were sent by the client
		if other, err := netip.ParseAddr(strings.TrimSpace(last)); err == nil {
			addr = other.Unmap()
		}
	}
	if addr.Is6() {
		return netip.PrefixFrom(addr.WithZone(""), 64).Masked().String()
	}
	return addr.String()
}

// waitForEnd waits until a view must end and returns the reason, which may come from lost and be nil. It returns nil
// when gone is closed.
func (v *ViewerPage) waitForEnd(s ViewerShare, lost <-chan error, gone <-chan struct{}) error {
	var expired <-chan time.Time
	if !s.Until.IsZero() {
		expired = time.After(time.Until(s.Until))
	}
	select {
	case <-gone:
		return nil
	case why := <-lost:
		return why
	case <-s.Done:
		return errShareEnded
	case <-expired:
		return errLinkExpired
	case <-v.closing():
		return errPageClosing
	}
}

// WebRTC offers cost more than anything else that a link allows, and many people may know a link.
const (
	// MaxOffers limits the connections being established. They do not count as views.
	MaxOffers = 8

	maxOfferBurst = 20 // of one share
	offerEvery    = 500 * time.Millisecond
)

// Links cannot be guessed. Whoever tries all the same is not listened to for long.
const (
	maxWrongLinks  = 20 // from one address at once
	wrongLinkEvery = 10 * time.Second
)

// Reasons to refuse a request that may be repeated. After a refused offer the page uses the WebSocket.
var (
	errTooManyOffers   = errors.New("too many people begin to watch at this moment; try again in a few seconds")
	errTooManyRequests = errors.New("too many ask at the same time; try again in a few seconds")
	errTooManyTries    = errors.New("too many links that do not work were tried from here; try again in a few minutes")
)

// rateLimit is a token bucket.
type rateLimit struct {
	left float64
	at   time.Time
}

// refill adds the tokens for the time that has passed.
func refill(all map[string]*rateLimit, now time.Time, every time.Duration, most float64) {
	for id, p := range all {
		p.left = min(p.left+float64(now.Sub(p.at))/float64(every), most)
		p.at = now
		if p.left == most {
			delete(all, id)
		}
	}
}

// mayTry reports whether a person may present a link. wrong counts an invalid one.
func (v *ViewerPage) mayTry(person string, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	refill(v.tries, now, wrongLinkEvery, maxWrongLinks)
	p := v.tries[person]
	return p == nil || p.left >= 1
}

func (v *ViewerPage) wrong(person string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.tries[person]
	if p == nil {
		p = &rateLimit{left: maxWrongLinks, at: now}
		v.tries[person] = p
	}
	p.left--
}

// reserveOffer allows a person to begin to watch a share over WebRTC. over is called when that succeeded or failed; it
// may be called again.
func (v *ViewerPage) reserveOffer(share, person string, now time.Time) (over func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	refill(v.offerLimits, now, offerEvery, maxOfferBurst)
	p := v.offerLimits[share]
	if _, err := v.checkRoom(share, person); err != nil {
		return nil, err
	}
	switch {
	case v.offers >= MaxOffers, p != nil && p.left < 1:
		return nil, errTooManyOffers
	case p == nil:
		p = &rateLimit{left: maxOfferBurst, at: now}
		v.offerLimits[share] = p
	}
	p.left--
	v.offers++
	v.work.Add(1)
	return sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.offers--
		v.work.Done()
	}), nil
}

// admitRequest lets a client send a request slowly until too many others wait. crowded reports whether that happened;
// it must be called when the request was read.
func (v *ViewerPage) admitRequest(w http.ResponseWriter, r *http.Request) (crowded func() bool, err error) {
	waiting, known, err := v.admitPending(context.WithoutCancel(r.Context()), personOf(r))
	if err != nil {
		return nil, err
	}
	cut := context.AfterFunc(waiting, func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // if it cannot be set, the server's own limits apply
	})
	return func() bool {
		defer known()
		return !cut()
	}, nil
}
