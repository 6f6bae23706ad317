package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/internal/untrusted"

	"github.com/go-rod/rod/lib/proto"
)

// downloadWaiter takes the next download of a tab. Its fields belong to the desk's lock.
type downloadWaiter struct {
	target  string
	it      *downloadItem
	err     error
	clicked bool   // something is clicked for it
	led     string // the address of the document that the click has led to
}

// WaitDownload waits for the next download that begins in the tab and saves it. path is where to, within the downloads
// folder (absolute or relative to it); "" saves it under its own name, which no other download has. limit bounds the
// whole, see [MaxTimeout]. A newer wait in the same tab takes the place of this one, whose error then wraps
// [ErrSuperseded]. When ctx ends the download is cancelled. A path that is refused wraps page.ErrInvalid.
func (d *Transfers) WaitDownload(ctx context.Context, tab *page.Tab, path string, limit time.Duration) (Download, error) {
	return d.awaitDownload(ctx, tab, path, limit, nil)
}

// Download clicks an element that downloads something and saves it as path, which is required. If the click leads to a
// document instead, the error wraps [ErrOpenedInline] and comes at once; a page may begin the download itself a moment
// later. It is otherwise as [Transfers.WaitDownload].
func (d *Transfers) Download(ctx context.Context, tab *page.Tab, ref, path string, limit time.Duration) (Download, error) {
	switch {
	case ref == "":
		return Download{}, fault.Invalidf("ref is required")
	case path == "":
		return Download{}, fault.Invalidf("path is required")
	}
	return d.awaitDownload(ctx, tab, path, limit, func(ctx context.Context) error {
		res, err := tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref})
		if err == nil && res.BlockedByDialog {
			return &page.DialogError{Dialog: *res.Dialog}
		}
		return err
	})
}

// saveDocumentScript clicks a link to the document that is shown, if that is the one expected, and returns the address
// of another. The link is nowhere in the page, which does not notice.
const saveDocumentScript = `(elements, expected) => {
	const bare = (address) => address.split('#')[0]
	const want = URL.canParse(expected) ? new URL(expected).href : expected
	if (bare(location.href) !== bare(want)) return location.href
	const link = document.createElementNS('http://www.w3.org/1999/xhtml', 'a')
	link.href = bare(location.href)
	link.download = ''
	link.click()
	return ''
}`

// saveLimit bounds asking a page for its document.
const saveLimit = 10 * time.Second

// DownloadDocument saves the document that the tab shows, by asking its server again. If the tab shows another address
// than expected, fragments aside, the error wraps [ErrOtherDocument] and nothing is asked. It is otherwise as
// [Transfers.WaitDownload].
func (d *Transfers) DownloadDocument(ctx context.Context, tab *page.Tab, expected, path string, limit time.Duration) (Download, error) {
	return d.awaitDownload(ctx, tab, path, limit, func(ctx context.Context) error {
		return tab.RunExclusive(ctx, saveLimit, func(ctx context.Context) error {
			other, err := frame.CallFunction[string](ctx, tab.MainFrame(), saveDocumentScript, nil, expected)
			if err == nil && other != "" {
				err = fmt.Errorf("%w: it shows %s", ErrOtherDocument, untrusted.Shorten(other, maxToldURL))
			}
			return err
		})
	})
}

// CheckTarget says what is wrong with the path to save a download at, before anybody is asked about it.
func (d *Transfers) CheckTarget(path string) error {
	if d.opts.ForeignBrowser { // where nothing is saved
		return nil
	}
	_, err := d.folder.ResolveTarget(path)
	return err
}

// awaitDownload waits for the next download, which begin, if any, is to bring about.
func (d *Transfers) awaitDownload(ctx context.Context, tab *page.Tab, path string, limit time.Duration, begin func(context.Context) error) (Download, error) {
	if d.opts.ForeignBrowser {
		return Download{}, ErrNotCaptured
	}
	w := &downloadWaiter{clicked: begin != nil}
	if path != "" {
		var err error
		if w.target, err = d.folder.ResolveTarget(path); err != nil {
			return Download{}, err
		}
	}
	c, leave, err := d.acquireTab(tab)
	if err != nil {
		return Download{}, fmt.Errorf("wait for download: %w", err)
	}
	defer leave()
	ctx, cancel := withLimit(ctx, limit)
	defer cancel()
	d.setWaiter(c, w)
	if begin != nil {
		err = begin(ctx)
	}
	if err == nil || d.hasDownload(w) && ctx.Err() == nil {
		err = d.waitUntil(ctx, c, func() bool { return w.it != nil || w.err != nil })
	}
	it, err := d.clearWaiter(c, w, err)
	if err != nil {
		if over, ok := errors.AsType[*fault.TimeLimitError](err); ok && it == nil && errors.Is(context.Cause(ctx), over) {
			return Download{}, fmt.Errorf("no download began: %w", err)
		}
		return Download{}, fmt.Errorf("wait for download: %w", err)
	}
	got, err := d.awaitItem(ctx, it, tab.Browser().Done())
	if err != nil {
		return Download{}, fmt.Errorf("download %s: %w", untrusted.Shorten(got.URL, maxToldURL), err)
	}
	return got, nil
}

// handleNavigated gives a click's download up when the click has led to a document. One that is a page has a moment to
// begin the download itself.
func (d *Transfers) handleNavigated(t *page.Tab, ev cdp.Event) {
	var p proto.PageFrameNavigated
	if t == nil || !ev.Decode(&p) || p.Frame.ParentID != "" || p.Frame.URL == "about:blank" {
		return
	}
	where := "the tab"
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	if opener := t.Opener(); opener != nil && (c == nil || c.waiter == nil) {
		c, where = d.tabs[opener], "the new tab "+t.ID()
	}
	if c == nil || c.waiter == nil || !c.waiter.clicked {
		return
	}
	w := c.waiter
	w.led = cmp.Or(p.Frame.UnreachableURL, p.Frame.URL)
	led := w.led
	giveUp := func() {
		if c.waiter == w && w.led == led {
			url := untrusted.Shorten(led, maxToldURL)
			c.waiter, w.err = nil, fmt.Errorf("%w: %s (%s) in %s", ErrOpenedInline, url, p.Frame.MIMEType, where)
			c.signalChange()
		}
	}
	if p.Frame.MIMEType != "text/html" {
		giveUp()
		return
	}
	time.AfterFunc(scriptFileWait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		giveUp()
	})
}

// setWaiter has a waiter take the tab's next download, in place of an older one.
func (d *Transfers) setWaiter(c *tabTransfers, w *downloadWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.waiter != nil {
		c.waiter.err = ErrSuperseded
	}
	c.waiter = w
	c.signalChange()
}

// hasDownload says whether a waiter has its download. Then it does not matter what else became of the page.
func (d *Transfers) hasDownload(w *downloadWaiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return w.it != nil
}

// clearWaiter ends a claim: no later download goes to it. It returns what the waiter took, which is given up if the
// wait failed.
func (d *Transfers) clearWaiter(c *tabTransfers, w *downloadWaiter, err error) (*downloadItem, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.waiter == w {
		c.waiter = nil
	}
	if err == nil {
		err = w.err
	}
	if w.it != nil && err != nil {
		d.endDownload(w.it, err)
	}
	return w.it, err
}

// maxToldURL is how many characters of an address an error tells: it may hold a whole file.
const maxToldURL = 200

// Downloads lists what a tab has downloaded or is downloading, oldest first, at most 50.
func (d *Transfers) Downloads(tab *page.Tab) []Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Download{}
	if c := d.tabs[tab]; c != nil {
		for _, it := range c.downloads {
			list = append(list, it.toDownload())
		}
	}
	return list
}

const (
	// beginLimit is how long after an action its download may begin, if something says that there will be one; calm is
	// how long none may follow the last, and maxBeginWait the end of both.
	beginLimit   = 250 * time.Millisecond
	quietPeriod  = 250 * time.Millisecond
	maxBeginWait = time.Second
	// scriptFileWait is how long a script's own file may take to be there, and surely how long the download may take to
	// begin that Chromium said an address leads to.
	scriptFileWait = 2 * time.Second
	announcedWait  = 10 * time.Second
	// finishLimit is how long an action waits until its downloads are complete. They go on after that.
	finishLimit = 30 * time.Second
)

// CollectDownloads runs something in a tab and returns the downloads that it started, complete or failed, and those
// still unreported that began between actions. An action that starts none costs no time. When ctx ends they are
// cancelled; downloads that take longer than 30 s are reported as InProgress, and again with a later action when they
// are done. The error is that of do. In a browser that is not ours there are never any.
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

// abandonAction notes that nobody waits for what the action has set off: a download of it that begins late is
// cancelled.
func (d *Transfers) abandonAction(c *tabTransfers) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.abandonedAt = time.Now()
}

// downloadsOwnFile reports whether an action is a script that has a file of its own downloaded. Until that is there
// nothing else tells of it.
func downloadsOwnFile(a page.Action) bool {
	return a.Kind == actiontable.KindEvaluate && strings.Contains(a.Fn, ".click(") &&
		(strings.Contains(a.Fn, "download") || strings.Contains(a.Fn, "createObjectURL"))
}

// PerformAction does an action as page.Tab.Act does, and returns the downloads that it started: see
// [Transfers.CollectDownloads].
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

// Navigate loads an address as page.Tab.NavigateWithin does. One that turns out to be a file is no error: it is
// downloaded.
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
		select {
		case <-changed:
		case <-time.After(left):
		case <-ctx.Done():
		case <-c.tab.Browser().Done():
		}
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
	limit := finishLimit
	if end, ok := ctx.Deadline(); ok { // who must answer earlier can report it as begun
		limit = min(limit, time.Until(end)/2)
	}
	timer := time.NewTimer(limit)
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

// ExpectDownload notes that a download is about to begin in the tab, for a running [Transfers.CollectDownloads]: see
// page.Result.Downloading.
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
