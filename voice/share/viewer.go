package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/webrtc"
)

// How many may watch at once unless told otherwise: all shares together, and one, so that a link that is passed on takes
// no place from other shares.
const (
	DefaultMaxViews  = 60
	maxViewsPerShare = 20
)

// maxPendingRequests is how many may be about to show the secret of a link. They take no place from those who watch; where more come, those
// who have kept us waiting for longest must go.
const maxPendingRequests = 64

// ViewerShare is what a link is good for.
type ViewerShare struct {
	ID    string // no secret: for logs
	Title string // for people; may be empty
	Watch func() webrtc.FrameSource
	Until time.Time       // when the link expires; zero: with the share
	Done  <-chan struct{} // closed when the share has ended or the link was revoked; nil: never
}

// LinkChecker knows the links that are good now. An error is why one is not, as a sentence for people without a full stop.
type LinkChecker interface {
	CheckLink(token string) (ViewerShare, error)
}

// ViewerPage serves the page. Set the fields, then Open; Close ends all views.
type ViewerPage struct {
	Links  LinkChecker
	Engine *webrtc.Engine // nil: no WebRTC

	MaxViews         int // views at once; 0: [DefaultMaxViews]
	MaxViewsPerShare int // of these, of one share; 0: 20
	Logger           *slog.Logger

	site    *viewerAssets
	closing func() <-chan struct{}
	end     context.CancelFunc

	mu          sync.Mutex
	closed      bool
	views       int
	viewsOf     map[string]int         // by share
	offers      int                    // connections that are about to come about
	offerLimits map[string]*offerLimit // of shares for which offers were made lately
	pending     []*pendingRequest      // the one that came first is first
	work        sync.WaitGroup
}

// Why somebody cannot watch, or does no longer.
var (
	errLinkIncomplete = errors.New("a part of it is missing: use the whole link, with everything after the #")
	errLinkExpired    = errors.New("the link has expired: ask for a new one")
	errTooManyViewers = errors.New("too many people are watching shared pages already; try again later")
	errShareIsFull    = errors.New("too many people are watching this page already; try again later")
	errPageClosing    = errors.New("clank is ending")
	errShareEnded     = errors.New("the share has ended")
)

// ViewerLink returns the address of a share. base is where the page is reached from outside, with its path: "https://example.org/watch".
func ViewerLink(base, token string) string { return strings.TrimSuffix(base, "/") + "/#" + token }

// Open prepares the page.
func (v *ViewerPage) Open() error {
	v.Logger = cmp.Or(v.Logger, slog.New(slog.DiscardHandler))
	var err error
	if v.site, err = loadViewerAssets(); err != nil {
		return err
	}
	v.offerLimits, v.viewsOf = map[string]*offerLimit{}, map[string]int{}
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
	if err := voice.WaitGroupDone(ctx, &v.work); err != nil {
		return fmt.Errorf("close the viewer's page: views have not ended: %w", err)
	}
	return nil
}

// Count returns how many watch.
func (v *ViewerPage) Count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.views
}

// checkRoom returns why no more may watch a share now. The lock is held.
func (v *ViewerPage) checkRoom(share string) error {
	switch {
	case v.closed:
		return errPageClosing
	case v.viewsOf[share] >= cmp.Or(v.MaxViewsPerShare, maxViewsPerShare):
		return errShareIsFull
	case v.views >= cmp.Or(v.MaxViews, DefaultMaxViews):
		return errTooManyViewers
	}
	return nil
}

// reserveView takes a place among those who watch a share; left gives it back.
func (v *ViewerPage) reserveView(share string) (left func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.checkRoom(share); err != nil {
		return nil, err
	}
	v.views++
	v.viewsOf[share]++
	v.work.Add(1)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.views--
		if v.viewsOf[share]--; v.viewsOf[share] == 0 {
			delete(v.viewsOf, share)
		}
		v.work.Done()
	}, nil
}

// pendingRequest is somebody who has not shown the secret of a link yet.
type pendingRequest struct{ leave context.CancelFunc }

// admitPending lets somebody show the secret of a link while the context lasts. known must be called when they have, or have not.
func (v *ViewerPage) admitPending(ctx context.Context) (waiting context.Context, known func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, nil, errPageClosing
	}
	if len(v.pending) >= maxPendingRequests {
		v.pending[0].leave()
		v.pending = slices.Delete(v.pending, 0, 1)
	}
	ctx, leave := context.WithCancel(ctx)
	s := &pendingRequest{leave}
	v.pending = append(v.pending, s)
	v.work.Add(1)
	return ctx, sync.OnceFunc(func() {
		leave()
		v.mu.Lock()
		defer v.mu.Unlock()
		v.pending = slices.DeleteFunc(v.pending, func(other *pendingRequest) bool { return other == s })
		v.work.Done()
	}), nil
}

// waitForEnd waits until a view must end for a reason of ours, or gone is closed, and returns the reason, nil for gone.
func (v *ViewerPage) waitForEnd(s ViewerShare, gone <-chan struct{}) error {
	var expired <-chan time.Time
	if !s.Until.IsZero() {
		timer := time.NewTimer(time.Until(s.Until))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-gone:
		return nil
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

// Why a request is refused that may be made again. The page takes the WebSocket instead of an offer that is refused so.
var (
	errTooManyOffers   = errors.New("too many people begin to watch at this moment; try again in a few seconds")
	errTooManyRequests = errors.New("too many ask at the same time; try again in a few seconds")
)

// offerLimit is how many offers may be made of one share now.
type offerLimit struct {
	left float64
	at   time.Time
}

// full reports whether as many may be made as ever.
func (p *offerLimit) full(now time.Time) bool {
	p.left = min(p.left+float64(now.Sub(p.at))/float64(offerEvery), maxOfferBurst)
	p.at = now
	return p.left == maxOfferBurst
}

// reserveOffer lets somebody begin to watch a share over WebRTC. over is called when they watch, or do not; it may be called again.
func (v *ViewerPage) reserveOffer(share string, now time.Time) (over func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, p := range v.offerLimits {
		if p.full(now) {
			delete(v.offerLimits, id)
		}
	}
	p := v.offerLimits[share]
	if err := v.checkRoom(share); err != nil {
		return nil, err
	}
	switch {
	case v.offers >= MaxOffers, p != nil && p.left < 1:
		return nil, errTooManyOffers
	case p == nil:
		p = &offerLimit{left: maxOfferBurst, at: now}
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

// admitRequest lets somebody take their time to send a request, until too many others want to. crowded reports whether that came; it must be
// called when the request was read.
func (v *ViewerPage) admitRequest(w http.ResponseWriter, r *http.Request) (crowded func() bool, err error) {
	waiting, known, err := v.admitPending(context.WithoutCancel(r.Context()))
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
