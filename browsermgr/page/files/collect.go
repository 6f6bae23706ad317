package files

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// beginLimit is how long after an action its download may begin, if something says that there will be one; calm is how
	// long none may follow the last, and maxBeginWait the end of both.
	beginLimit   = 250 * time.Millisecond
	quietPeriod  = 250 * time.Millisecond
	maxBeginWait = time.Second
	// scriptFileWait is how long a script's own file may take to be there, and surely how long the download may take to begin that
	// Chromium said an address leads to.
	scriptFileWait = 2 * time.Second
	announcedWait  = 10 * time.Second
	// finishLimit is how long an action waits until its downloads are complete. They go on after that.
	finishLimit = 30 * time.Second
)

// CollectDownloads runs something in a tab and returns the downloads that it started, complete or failed, and those still unreported
// that began between actions. An action that starts none costs no time. When ctx ends they are cancelled; downloads that
// take longer than 30 s are reported as InProgress, and again with a later action when they are done. The error is that of
// do. In a browser that is not ours there are never any.
func (d *Transfers) CollectDownloads(ctx context.Context, tab *page.Tab, do func(context.Context) error) ([]Download, error) {
	if d.opts.ForeignBrowser {
		return nil, do(ctx)
	}
	c, leave, err := d.acquireTab(tab)
	if err != nil {
		return nil, do(ctx) // which knows better why the tab cannot be used
	}
	defer leave()
	start := time.Now()
	err = do(ctx)
	d.awaitBegun(ctx, c, start)
	d.awaitEnded(ctx, c, start)
	if ctx.Err() != nil {
		d.abandonAction(c)
	}
	return d.takeReports(c), err
}

// abandonedWindow is how long after an action was abandoned its download may still begin.
const abandonedWindow = 2 * time.Second

var errAbandoned = errors.New("nobody waits for the download any more")

// abandonAction notes that nobody waits for what the action has set off: a download of it that begins late is cancelled.
func (d *Transfers) abandonAction(c *tabTransfers) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.abandonedAt = time.Now()
}

// downloadsOwnFile reports whether an action is a script that has a file of its own downloaded. Until that is there nothing else tells of it.
func downloadsOwnFile(a page.Action) bool {
	return a.Kind == actiontable.KindEvaluate && strings.Contains(a.Fn, ".click(") &&
		(strings.Contains(a.Fn, "download") || strings.Contains(a.Fn, "createObjectURL"))
}

// PerformAction does an action as page.Tab.Act does, and returns the downloads that it started: see [Transfers.CollectDownloads].
func (d *Transfers) PerformAction(ctx context.Context, tab *page.Tab, a page.Action) (page.Result, []Download, error) {
	var res page.Result
	got, err := d.CollectDownloads(ctx, tab, func(ctx context.Context) error {
		var err error
		switch res, err = tab.Act(ctx, a); {
		case err == nil && downloadsOwnFile(a):
			d.expectWithin(tab, scriptFileWait)
		case res.Downloading:
			d.ExpectDownload(tab)
		}
		return err
	})
	return res, got, err
}

// Navigate loads an address as page.Tab.NavigateWithin does. One that turns out to be a file is no error: it is downloaded.
func (d *Transfers) Navigate(ctx context.Context, tab *page.Tab, url string, limit time.Duration) (page.Result, []Download, error) {
	var res page.Result
	got, err := d.CollectDownloads(ctx, tab, func(ctx context.Context) error {
		var err error
		res, err = tab.NavigateWithin(ctx, url, limit)
		if errors.Is(err, page.ErrDownload) {
			d.expectWithin(tab, announcedWait)
		}
		return err
	})
	if errors.Is(err, page.ErrDownload) && len(got) > 0 {
		err = nil
	}
	return res, got, err
}

// downloadsSince returns the downloads since start that no waiter has. The caller holds d.mu.
func (c *tabTransfers) downloadsSince(start time.Time) []*downloadItem {
	var list []*downloadItem
	for _, it := range c.downloads {
		if !it.claimed && !it.began.Before(start) {
			list = append(list, it)
		}
	}
	return list
}

// expectsSince says whether a download that something announced since start has not begun. The caller holds d.mu.
func (c *tabTransfers) expectsSince(start time.Time) bool {
	for t, since := range c.popups {
		if isUnused(t) && t.Err() == nil && !since.Before(start) {
			return true
		}
	}
	if c.announcedAt.Before(start) {
		return false
	}
	for _, it := range c.downloads {
		if !it.began.Before(c.announcedAt) {
			return false
		}
	}
	return true
}

// awaitBegun waits until all downloads have begun that an action which is over may have started.
func (d *Transfers) awaitBegun(ctx context.Context, c *tabTransfers, start time.Time) {
	over := time.Now()
	for {
		d.mu.Lock()
		fresh, expecting, changed := c.downloadsSince(start), c.expectsSince(start), c.changed
		end := over.Add(beginLimit)
		if !c.announcedAt.Before(start) && c.expectedUntil.After(end) {
			end = c.expectedUntil
		}
		d.mu.Unlock()
		switch {
		case len(fresh) > 0:
			end = fresh[len(fresh)-1].began.Add(quietPeriod)
			if last := over.Add(maxBeginWait); end.After(last) {
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

// awaitEnded waits until an action's downloads have ended, and cancels them when ctx ends.
func (d *Transfers) awaitEnded(ctx context.Context, c *tabTransfers, start time.Time) {
	d.mu.Lock()
	fresh := c.downloadsSince(start)
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
			d.cancelItem(it, context.Cause(ctx))
		case <-c.tab.Browser().Done():
			d.cancelItem(it, page.ErrBrowserGone)
		}
		<-it.done
	}
}

// takeReports returns what has not been reported yet.
func (d *Transfers) takeReports(c *tabTransfers) []Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Download
	for _, it := range c.downloads {
		if it.claimed || it.reported {
			continue
		}
		r := it.toDownload()
		it.reported = !r.InProgress
		list = append(list, r)
	}
	return list
}

// ExpectDownload notes that a download is about to begin in the tab, for a running [Transfers.CollectDownloads]: see page.Result.Downloading.
func (d *Transfers) ExpectDownload(t *page.Tab) { d.expectWithin(t, 0) }

// expectWithin waits for it no shorter than within.
func (d *Transfers) expectWithin(t *page.Tab, within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		c := d.tabTransfersOf(t)
		c.announcedAt = time.Now()
		c.expectedUntil = c.announcedAt.Add(within)
		c.signalChange()
	}
}

// handleAnnouncement takes events that announce a download, or say that there will be none.
func (d *Transfers) handleAnnouncement(t *page.Tab, ev cdp.Event) {
	if t == nil || d.opts.ForeignBrowser {
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
	c := d.creditedTab(t)
	defer c.signalChange()
	switch ev.Method {
	case "Network.requestWillBeSent":
		if c.tab != t {
			c.recordPopup(t)
		}
	case "Network.responseReceived":
		c.lastDocumentRequest = p.RequestID
	case "Network.loadingFailed":
		delete(c.popups, t)
		if p.RequestID == c.lastDocumentRequest && p.ErrorText == "net::ERR_ABORTED" {
			c.announcedAt = time.Now() // answered, and not shown: it is a file
		}
	}
}

// recordPopup notes that a tab which this one opened asks for its first page. The caller holds the desk's lock.
func (c *tabTransfers) recordPopup(t *page.Tab) {
	for other := range c.popups {
		if !isUnused(other) || other.Err() != nil {
			delete(c.popups, other)
		}
	}
	if c.popups == nil {
		c.popups = map[*page.Tab]time.Time{}
	}
	c.popups[t] = time.Now()
}
