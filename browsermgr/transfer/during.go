package transfer

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// beginLimit is how long after an action its download may begin, if something says that there will be one; calm is how
	// long none may follow the last, and longestWindow the end of both.
	beginLimit    = 250 * time.Millisecond
	calm          = 250 * time.Millisecond
	longestWindow = time.Second
	// likely is how long a script's own file may take to be there, and surely how long the download may take to begin that
	// Chromium said an address leads to.
	likely = 2 * time.Second
	surely = 10 * time.Second
	// finishLimit is how long an action waits until its downloads are complete. They go on after that.
	finishLimit = 30 * time.Second
)

// During runs something in a tab and returns the downloads that it started, complete or failed, and those still unreported
// that began between actions. An action that starts none costs no time. When ctx ends they are cancelled; downloads that
// take longer than 30 s are reported as InProgress, and again with a later action when they are done. The error is that of
// do. In a browser that is not ours there are never any.
func (d *Desk) During(ctx context.Context, tab *page.Tab, do func(context.Context) error) ([]Download, error) {
	if d.opts.External {
		return nil, do(ctx)
	}
	c, leave, err := d.enter(tab)
	if err != nil {
		return nil, do(ctx) // which knows better why the tab cannot be used
	}
	defer leave()
	start := time.Now()
	err = do(ctx)
	d.gather(ctx, c, start)
	d.complete(ctx, c, start)
	if ctx.Err() != nil {
		d.abandon(c)
	}
	return d.tell(c), err
}

// late is how long after an action was abandoned its download may still begin.
const late = 2 * time.Second

var errAbandoned = errors.New("nobody waits for the download any more")

// abandon notes that nobody waits for what the action has set off: a download of it that begins late is cancelled.
func (d *Desk) abandon(c *counter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.left = time.Now()
}

// saves reports whether an action is a script that has a file of its own downloaded. Until that is there nothing else tells of it.
func saves(a page.Action) bool {
	return a.Kind == page.KindEvaluate && strings.Contains(a.Fn, ".click(") &&
		(strings.Contains(a.Fn, "download") || strings.Contains(a.Fn, "createObjectURL"))
}

// Act does an action as page.Tab.Act does, and returns the downloads that it started: see [Desk.During].
func (d *Desk) Act(ctx context.Context, tab *page.Tab, a page.Action) (page.Result, []Download, error) {
	var res page.Result
	got, err := d.During(ctx, tab, func(ctx context.Context) error {
		var err error
		switch res, err = tab.Act(ctx, a); {
		case err == nil && saves(a):
			d.expect(tab, likely)
		case res.Downloading:
			d.Expect(tab)
		}
		return err
	})
	return res, got, err
}

// Navigate loads an address as page.Tab.NavigateWithin does. One that turns out to be a file is no error: it is downloaded.
func (d *Desk) Navigate(ctx context.Context, tab *page.Tab, url string, limit time.Duration) (page.Result, []Download, error) {
	var res page.Result
	got, err := d.During(ctx, tab, func(ctx context.Context) error {
		var err error
		res, err = tab.NavigateWithin(ctx, url, limit)
		if errors.Is(err, page.ErrDownload) {
			d.expect(tab, surely)
		}
		return err
	})
	if errors.Is(err, page.ErrDownload) && len(got) > 0 {
		err = nil
	}
	return res, got, err
}

// fresh are the downloads since start that no waiter has. The caller holds d.mu.
func (c *counter) fresh(start time.Time) []*item {
	var list []*item
	for _, it := range c.began {
		if !it.claimed && !it.began.Before(start) {
			list = append(list, it)
		}
	}
	return list
}

// expecting says whether a download that something announced since start has not begun. The caller holds d.mu.
func (c *counter) expecting(start time.Time) bool {
	for t, since := range c.popups {
		if unused(t) && t.Err() == nil && !since.Before(start) {
			return true
		}
	}
	if c.hint.Before(start) {
		return false
	}
	for _, it := range c.began {
		if !it.began.Before(c.hint) {
			return false
		}
	}
	return true
}

// gather waits until all downloads have begun that an action which is over may have started.
func (d *Desk) gather(ctx context.Context, c *counter, start time.Time) {
	over := time.Now()
	for {
		d.mu.Lock()
		fresh, expecting, changed := c.fresh(start), c.expecting(start), c.changed
		end := over.Add(beginLimit)
		if !c.hint.Before(start) && c.until.After(end) {
			end = c.until
		}
		d.mu.Unlock()
		switch {
		case len(fresh) > 0:
			end = fresh[len(fresh)-1].began.Add(calm)
			if last := over.Add(longestWindow); end.After(last) {
				end = last
			}
		case !expecting:
			return
		}
		left := time.Until(end)
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		case <-c.tab.Browser().Done():
		}
		timer.Stop()
		if ctx.Err() != nil || c.tab.Browser().Err() != nil {
			return
		}
	}
}

// complete waits until an action's downloads have ended, and cancels them when ctx ends.
func (d *Desk) complete(ctx context.Context, c *counter, start time.Time) {
	d.mu.Lock()
	fresh := c.fresh(start)
	d.mu.Unlock()
	if len(fresh) == 0 {
		return
	}
	timer := time.NewTimer(finishLimit)
	defer timer.Stop()
	for _, it := range fresh {
		select {
		case <-it.done:
			continue
		case <-timer.C:
			return
		case <-ctx.Done():
			d.giveUp(it, context.Cause(ctx))
		case <-c.tab.Browser().Done():
			d.giveUp(it, page.ErrBrowserGone)
		}
		<-it.done
	}
}

// tell returns what has not been reported yet.
func (d *Desk) tell(c *counter) []Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Download
	for _, it := range c.began {
		if it.claimed || it.told {
			continue
		}
		r := it.report()
		it.told = !r.InProgress
		list = append(list, r)
	}
	return list
}

// Expect notes that a download is about to begin in the tab, for a running [Desk.During]: see page.Result.Downloading.
func (d *Desk) Expect(t *page.Tab) { d.expect(t, 0) }

// expect waits for it no shorter than within.
func (d *Desk) expect(t *page.Tab, within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		c := d.counter(t)
		c.hint = time.Now()
		c.until = c.hint.Add(within)
		c.signal()
	}
}

// foresee takes events that announce a download, or say that there will be none.
func (d *Desk) foresee(t *page.Tab, ev cdp.Event) {
	if t == nil || d.opts.External {
		return
	}
	// Only documents matter: the rest is not worth decoding.
	if !bytes.Contains(ev.Params, []byte(`"type":"Document"`)) {
		return
	}
	var p struct {
		RequestID string `json:"requestId"`
		ErrorText string `json:"errorText"`
		Type      string `json:"type"`
	}
	if !ev.Decode(&p) || p.Type != string(proto.NetworkResourceTypeDocument) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	c := d.credit(t)
	defer c.signal()
	switch ev.Method {
	case "Network.requestWillBeSent":
		if c.tab != t {
			c.opening(t)
		}
	case "Network.responseReceived":
		c.answered = p.RequestID
	case "Network.loadingFailed":
		delete(c.popups, t)
		if p.RequestID == c.answered && p.ErrorText == "net::ERR_ABORTED" {
			c.hint = time.Now() // answered, and not shown: it is a file
		}
	}
}

// opening notes that a tab which this one opened asks for its first page. The caller holds the desk's lock.
func (c *counter) opening(t *page.Tab) {
	for other := range c.popups {
		if !unused(other) || other.Err() != nil {
			delete(c.popups, other)
		}
	}
	if c.popups == nil {
		c.popups = map[*page.Tab]time.Time{}
	}
	c.popups[t] = time.Now()
}
