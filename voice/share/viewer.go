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

// How many may watch at once unless told otherwise: all shares together, and one, so that a link that is passed on
// takes no place from other shares.
const (
	DefaultMaxViews  = 60
	maxViewsPerShare = 20
)

// maxPendingRequests is how many may be about to show the secret of a link. They take no place from those who watch;
// where more come, those who have kept us waiting for longest must go.
const maxPendingRequests = 64

// ViewerShare holds what a link is good for.
type ViewerShare struct {
	ID   string // no secret: for logs
	Link string // the id of the link; no secret either

	// Session is what a link without a call shows. Control says that whoever has the link may work its page.
	Session string
	Control bool

	Name  string // of the person it is for; may be empty
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

// SignIn has people show whose Discord account is theirs. Errors are sentences, as those of [LinkChecker].
type SignIn interface {
	// SignInURL returns where somebody signs in who is then sent back to "signed-in" below the page.
	SignInURL() string

	// SignIn lets the browser of whoever has signed in have a link.
	SignIn(ctx context.Context, token, browser, state, code string) error
}

// ViewerPage serves the page. Set the fields, then Open; Close ends all views.
type ViewerPage struct {
	Links  LinkChecker
	SignIn SignIn         // nil: no link is for an account
	Engine *webrtc.Engine // nil: no WebRTC

	// Work is the WebSocket of the live pane, for who has a link to work a page; nil: all links are to watch only.
	Work func(w http.ResponseWriter, r *http.Request, s ViewerShare)

	MaxViews         int // views at once; 0: [DefaultMaxViews]
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
	tries       map[string]*rateLimit // of persons who have shown links lately that nobody gave out
	pending     []*place              // who has not shown the secret of a link yet, in the same order
	work        sync.WaitGroup
}

// IncompleteLink is what the page answers to a link without a secret.
const IncompleteLink = "a part of it is missing: use the whole link, with everything after the #"

// Why somebody cannot watch, or does no longer.
var (
	errLinkIncomplete = errors.New(IncompleteLink)
	errLinkExpired    = errors.New("the link has expired: ask for a new one")
	errTooManyViewers = errors.New("too many people are watching shared pages already; try again later")
	errShareIsFull    = errors.New("too many people are watching this page already; try again later")
	errPageClosing    = errors.New("clank is ending")
	errShareEnded     = errors.New("the share has ended")
	errMadeRoom       = errors.New("others want to watch, and this page is open here more often than elsewhere")
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

// Viewer is somebody who watches.
type Viewer struct {
	From  string    `json:"from"` // their address, or the network it is in
	Since time.Time `json:"since"`
}

// Viewers returns who watches with a link, first come first.
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

// place is one of those that are limited, and has somebody.
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

// mostOf returns the oldest place of whoever has most of those of a share ("" for all), if that is at least two more
// than person has: who comes may have it, so that nobody keeps others out by being there many times.
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

// checkRoom returns why person may not watch a share now, or, if they may, who has to make room for them (nil: nobody).
// The lock is held.
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

// reserveView takes a place among those who watch a share; left gives it back. leave, which must not block, is called
// if somebody else is to have it.
func (v *ViewerPage) reserveView(s ViewerShare, person string, leave func(why error)) (left func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	instead, err := v.checkRoom(s.ID, person)
	if err != nil {
		return nil, err
	}
	if instead != nil {
		v.views = without(v.views, instead)
		instead.leave(errMadeRoom)
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

// admitPending lets somebody show the secret of a link while the context lasts. known must be called when they have, or
// have not.
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

// personOf tells the people apart who send requests, as far as that can be known: by their address, or by their network
// if it is one of IPv6. Behind a reverse proxy on this machine it is what the proxy says.
func personOf(r *http.Request) string {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr := from.Addr().Unmap()
	if said := r.Header.Values("X-Forwarded-For"); addr.IsLoopback() && len(said) > 0 {
		last := said[len(said)-1]
		last = last[strings.LastIndex(last, ",")+1:] // those before it are what the client has said
		if other, err := netip.ParseAddr(strings.TrimSpace(last)); err == nil {
			addr = other.Unmap()
		}
	}
	if addr.Is6() {
		return netip.PrefixFrom(addr.WithZone(""), 64).Masked().String()
	}
	return addr.String()
}

// waitForEnd waits until a view must end and returns the reason: one of ours, or one from lost, which may be nil. It
// returns nil when gone is closed.
func (v *ViewerPage) waitForEnd(s ViewerShare, lost <-chan error, gone <-chan struct{}) error {
	var expired <-chan time.Time
	if !s.Until.IsZero() {
		timer := time.NewTimer(time.Until(s.Until))
		defer timer.Stop()
		expired = timer.C
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

// Offers of WebRTC cost more than anything else that can be asked for with a link, and a link may be known to many.
const (
	// MaxOffers is how many connections may be about to come about. They take no place from those who watch.
	MaxOffers = 8

	maxOfferBurst = 20 // of one share
	offerEvery    = 500 * time.Millisecond
)

// Links cannot be guessed. Whoever tries all the same is not listened to for long.
const (
	maxWrongLinks  = 20 // from one address at once
	wrongLinkEvery = 10 * time.Second
)

// Why a request is refused that may be made again. The page takes the WebSocket instead of an offer that is refused so.
var (
	errTooManyOffers   = errors.New("too many people begin to watch at this moment; try again in a few seconds")
	errTooManyRequests = errors.New("too many ask at the same time; try again in a few seconds")
	errTooManyTries    = errors.New("too many links that do not work were tried from here; try again in a few minutes")
)

// rateLimit is how often something may be done now.
type rateLimit struct {
	left float64
	at   time.Time
}

// refill gives back what the time since has brought.
func refill(all map[string]*rateLimit, now time.Time, every time.Duration, most float64) {
	for id, p := range all {
		p.left = min(p.left+float64(now.Sub(p.at))/float64(every), most)
		p.at = now
		if p.left == most {
			delete(all, id)
		}
	}
}

// mayTry reports whether somebody may show a link. wrong counts one that nobody gave out.
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

// reserveOffer lets somebody begin to watch a share over WebRTC. over is called when they watch, or do not; it may be
// called again.
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

// admitRequest lets somebody take their time to send a request, until too many others want to. crowded reports whether
// that came; it must be called when the request was read.
func (v *ViewerPage) admitRequest(w http.ResponseWriter, r *http.Request) (crowded func() bool, err error) {
	waiting, known, err := v.admitPending(context.WithoutCancel(r.Context()), personOf(r))
	if err != nil {
		return nil, err
	}
	cut := context.AfterFunc(waiting, func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // where it cannot be set, the server's own bounds hold
	})
	return func() bool {
		defer known()
		return !cut()
	}, nil
}
