package share

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

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
	switch {
	case v.closed:
		return nil, errPageClosing
	case v.views >= cmp.Or(v.MaxViews, DefaultMaxViews):
		return nil, errTooManyViewers
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
