package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/voice/webrtc"
)

// DefaultMaxViews is how many may watch at once unless told otherwise.
const DefaultMaxViews = 20

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

	MaxViews int // views at once; 0: [DefaultMaxViews]
	Logger   *slog.Logger

	site    *viewerAssets
	closing func() <-chan struct{}
	end     context.CancelFunc

	mu          sync.Mutex
	closed      bool
	views       int
	offers      int                    // connections that are about to come about
	offerLimits map[string]*offerLimit // of shares for which offers were made lately
	pending     []*pendingRequest      // the one that came first is first
	work        sync.WaitGroup
}

// Why somebody cannot watch, or does no longer.
var (
	errLinkIncomplete = errors.New("a part of it is missing: use the whole link, with everything after the #")
	errLinkExpired    = errors.New("the link has expired: ask for a new one")
	errTooManyViewers = errors.New("too many people are watching already; try again later")
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
	v.offerLimits = map[string]*offerLimit{}
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
	ended := make(chan struct{})
	go func() { v.work.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the viewer's page: views have not ended: %w", context.Cause(ctx))
	}
}

// Count returns how many watch.
func (v *ViewerPage) Count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.views
}

// reserveView takes a place among those who watch; left gives it back.
func (v *ViewerPage) reserveView() (left func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return nil, errPageClosing
	case v.views >= cmp.Or(v.MaxViews, DefaultMaxViews):
		return nil, errTooManyViewers
	}
	v.views++
	v.work.Add(1)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.views--
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
