package viewer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/voice/rtc"
)

// DefaultMost is how many may watch at once unless told otherwise.
const DefaultMost = 20

// mostStrangers is how many may be about to show the secret of a link. They take no place from those who watch; where more come, those
// who have kept us waiting for longest must go.
const mostStrangers = 64

// Share is what a link is good for.
type Share struct {
	ID    string // no secret: for logs
	Title string // for people; may be empty
	Watch func() rtc.Frames
	Until time.Time       // when the link expires; zero: with the share
	Done  <-chan struct{} // closed when the share has ended or the link was revoked; nil: never
}

// Links knows the links that are good now. An error is why one is not, as a sentence for people without a full stop.
type Links interface {
	Check(token string) (Share, error)
}

// Viewer serves the page. Set the fields, then Open; Close ends all views.
type Viewer struct {
	Links  Links
	Engine *rtc.Engine // nil: no WebRTC

	// Base is the path under which the page is, such as "/watch"; empty: the root.
	Base string

	// Ancestors are the origins whose pages may show this one in a frame, as the CSP's frame-ancestors has them; empty: none.
	Ancestors []string

	Most   int // views at once; 0: [DefaultMost]
	Logger *slog.Logger

	site *site
	life func() <-chan struct{}
	end  context.CancelFunc

	mu        sync.Mutex
	closed    bool
	views     int
	offers    int              // connections that are about to come about
	paces     map[string]*pace // of shares for which offers were made lately
	strangers []*stranger      // the one that came first is first
	work      sync.WaitGroup
}

// Why somebody cannot watch, or does no longer.
var (
	errPart   = errors.New("a part of it is missing: use the whole link, with everything after the #")
	errLate   = errors.New("the link has expired: ask for a new one")
	errFull   = errors.New("too many people are watching already; try again later")
	errEnding = errors.New("clank is ending")
	errEnded  = errors.New("the share has ended")
)

// Link is the address of a share. base is where the page is reached from outside, with its path: "https://example.org/watch".
func Link(base, token string) string { return strings.TrimSuffix(base, "/") + "/#" + token }

// Open prepares the page.
func (v *Viewer) Open() error {
	if v.Logger == nil {
		v.Logger = slog.New(slog.DiscardHandler)
	}
	v.Base = strings.TrimSuffix(v.Base, "/")
	if v.Base != "" && !strings.HasPrefix(v.Base, "/") {
		return fmt.Errorf("path of the viewer's page %q: it must begin with /", v.Base)
	}
	for _, origin := range v.Ancestors {
		if origin == "" || strings.ContainsAny(origin, " ;,'\r\n") {
			return fmt.Errorf("origin %q that may show the viewer's page: it must be like https://example.org", origin)
		}
	}
	var err error
	if v.site, err = openSite(); err != nil {
		return err
	}
	v.paces = map[string]*pace{}
	ctx, end := context.WithCancel(context.Background())
	v.life, v.end = ctx.Done, end
	return nil
}

// Close ends all views, and waits until nothing of them is left, or ctx has ended.
func (v *Viewer) Close(ctx context.Context) error {
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

// Count is how many watch.
func (v *Viewer) Count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.views
}

// admit takes a place among those who watch; left gives it back.
func (v *Viewer) admit() (left func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return nil, errEnding
	case v.views >= v.most():
		return nil, errFull
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

func (v *Viewer) most() int {
	if v.Most == 0 {
		return DefaultMost
	}
	return v.Most
}

// stranger is somebody who has not shown the secret of a link yet.
type stranger struct{ leave context.CancelFunc }

// greet lets somebody show the secret of a link while the context lasts. known must be called when they have, or have not.
func (v *Viewer) greet(ctx context.Context) (waiting context.Context, known func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, nil, errEnding
	}
	if len(v.strangers) >= mostStrangers {
		v.strangers[0].leave()
		v.strangers = slices.Delete(v.strangers, 0, 1)
	}
	ctx, leave := context.WithCancel(ctx)
	s := &stranger{leave}
	v.strangers = append(v.strangers, s)
	v.work.Add(1)
	return ctx, sync.OnceFunc(func() {
		leave()
		v.mu.Lock()
		defer v.mu.Unlock()
		v.strangers = slices.DeleteFunc(v.strangers, func(other *stranger) bool { return other == s })
		v.work.Done()
	}), nil
}

// over waits until a view must end for a reason of ours, or gone is closed, and returns the reason, nil for gone.
func (v *Viewer) over(s Share, gone <-chan struct{}) error {
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
		return errEnded
	case <-expired:
		return errLate
	case <-v.life():
		return errEnding
	}
}
