package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// downloadWaiter waits for the next download of a tab. Transfers.mu guards its fields.
type downloadWaiter struct {
	target    string
	it        *downloadItem
	err       error
	clicked   bool   // a click is to start the download
	landedURL string // address of the document that the click led to
}

// WaitDownload waits for the next download that begins in the tab and saves it. path is the target in the downloads
// folder (absolute or relative to it); "" saves it under its own name, made unique. limit bounds the whole operation;
// see [MaxTimeout]. A newer wait in the same tab replaces this one, whose error then wraps [ErrSuperseded]. When ctx
// ends the download is cancelled. The error for an invalid path wraps page.ErrInvalid.
func (d *Transfers) WaitDownload(ctx context.Context, tab *page.Tab, path string,
	limit time.Duration,
) (Download, error) {
	return d.awaitDownload(ctx, tab, path, limit, nil)
}

// Download clicks an element that starts a download and saves it as path, which is required. If the click leads to a
// document instead, the error wraps [ErrOpenedInline] and is returned at once, unless the page starts a download
// shortly afterwards. If nothing begins, and the page requests nothing, it wraps [ErrNoDownload] and is returned after
// 6 s. Otherwise it is like [Transfers.WaitDownload].
func (d *Transfers) Download(ctx context.Context, tab *page.Tab, ref, path string,
	limit time.Duration,
) (Download, error) {
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

// saveDocumentScript clicks a link to the present document if its address is the expected one, and otherwise returns
// its address. The link is not inserted in the page, which therefore cannot notice.
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

// saveLimit bounds starting the download of a page's document.
const saveLimit = 10 * time.Second

// DownloadDocument saves the tab's document by requesting it again from its server. If the tab's address is not the
// expected one, ignoring fragments, the error wraps [ErrOtherDocument] and nothing is requested. Otherwise it is like
// [Transfers.WaitDownload].
func (d *Transfers) DownloadDocument(ctx context.Context, tab *page.Tab, expected, path string,
	limit time.Duration,
) (Download, error) {
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

// CheckTarget returns what is wrong with a path for a download, before approval is requested.
func (d *Transfers) CheckTarget(path string) error {
	if d.opts.ForeignBrowser { // nothing is saved there
		return nil
	}
	_, err := d.folder.ResolveTarget(path)
	return err
}

// awaitDownload waits for the next download, which begin, if not nil, starts.
func (d *Transfers) awaitDownload(ctx context.Context, tab *page.Tab, path string, limit time.Duration,
	begin func(context.Context) error,
) (Download, error) {
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
	start := time.Now()
	if begin != nil {
		err = begin(ctx)
	}
	if err == nil || d.hasDownload(w) && ctx.Err() == nil {
		err = d.awaitStart(ctx, c, w, start)
	}
	it, err := d.clearWaiter(c, w, err)
	if err != nil {
		if over, ok := errors.AsType[*fault.TimeLimitError](err); ok && it == nil && errors.Is(context.Cause(ctx), over) {
			return Download{}, &fault.TimeLimitError{Limit: over.Limit, Unmet: ErrNoDownload.Error()}
		}
		if errors.Is(err, ErrNoDownload) {
			return Download{}, err
		}
		return Download{}, fmt.Errorf("wait for download: %w", err)
	}
	got, err := d.awaitItem(ctx, it, tab.Browser().Done())
	if err != nil {
		return Download{}, fmt.Errorf("download %s: %w", untrusted.Shorten(got.URL, maxToldURL), err)
	}
	return got, nil
}

// quietWait is how long a page may request nothing after a click until it counts as one that starts no download: twice
// this after the click, or after its last request has ended.
const quietWait = 3 * time.Second

// awaitStart waits until the waiter's download has begun. After a click it gives up when the page is quiet.
func (d *Transfers) awaitStart(ctx context.Context, c *tabTransfers, w *downloadWaiter, start time.Time) error {
	begun := func() bool { return w.it != nil || w.err != nil }
	if !w.clicked {
		return d.waitUntil(ctx, c, begun)
	}
	for quiet := false; ; {
		part, cancel := context.WithTimeoutCause(ctx, quietWait, ErrNoDownload)
		err := d.waitUntil(part, c, begun)
		cancel()
		if !errors.Is(err, ErrNoDownload) {
			return err
		}
		d.mu.Lock()
		loading := c.opensSince(start)
		d.mu.Unlock()
		loading = loading || c.tab.IsLoading()
		if !loading && quiet {
			return fmt.Errorf("%w within %s of the click: take a new snapshot to see what the click did", err,
				time.Since(start).Round(time.Second))
		}
		quiet = !loading
	}
}

// handleNavigated ends the wait of a click's download when the click has led to a document. An HTML page gets some time
// to start the download itself.
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
	w.landedURL = cmp.Or(p.Frame.UnreachableURL, p.Frame.URL)
	landed := w.landedURL
	giveUp := func() {
		if c.waiter == w && w.landedURL == landed {
			url := untrusted.Shorten(landed, maxToldURL)
			c.waiter, w.err = nil, fmt.Errorf("%w %s (%s) in %s", ErrOpenedInline, url, p.Frame.MIMEType, where)
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

// setWaiter makes w wait for the tab's next download, replacing an older waiter.
func (d *Transfers) setWaiter(c *tabTransfers, w *downloadWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.waiter != nil {
		c.waiter.err = ErrSuperseded
	}
	c.waiter = w
	c.signalChange()
}

// hasDownload reports whether a waiter has its download, so that the page no longer matters.
func (d *Transfers) hasDownload(w *downloadWaiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return w.it != nil
}

// clearWaiter ends a wait: it gets no later download. It returns the download that the waiter got, which is cancelled
// if the wait failed.
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

// maxToldURL bounds a URL in an error, in characters: a data URL may contain a whole file.
const maxToldURL = 200

// Downloads lists the tab's downloads, finished and in progress, oldest first, at most 50.
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
	// beginLimit is how long after an action its download may begin, if one was announced; quietPeriod is how long no
	// other must follow the last one; maxBeginWait bounds both.
	beginLimit   = 250 * time.Millisecond
	quietPeriod  = 250 * time.Millisecond
	maxBeginWait = time.Second
	// scriptFileWait is how long to wait for a file that a script generates; announcedWait, for a download after
	// Chromium has announced that a URL leads to one.
	scriptFileWait = 2 * time.Second
	announcedWait  = 10 * time.Second
	// finishLimit is how long an action waits until its downloads are complete. They continue after that.
	finishLimit = 30 * time.Second
)

// CollectDownloads runs do in a tab and returns the downloads that it started, complete or failed, and unreported ones
// that began between actions. An action that starts none is not delayed. When ctx ends they are cancelled; downloads
// that take longer than 30 s are reported as InProgress, and again by a later action when they have ended. The error is
// that of do. In a browser that we did not start there are never any.
func (d *Transfers) CollectDownloads(ctx context.Context, tab *page.Tab,
	do func(context.Context) error,
) ([]Download, error) {
	if d.opts.ForeignBrowser {
		return nil, do(ctx)
	}
	c, leave, err := d.acquireTab(tab)
	if err != nil {
		return nil, do(ctx) // its error says why the tab cannot be used
	}
	defer leave()
	start := time.Now()
	err = do(ctx)
	d.awaitBegun(ctx, c, start)
	awaited := d.awaitEnded(ctx, c, start)
	if ctx.Err() != nil {
		d.abandonAction(c)
	}
	return d.takeReports(c, start, awaited), err
}

// abandonedWindow is how long after an action was abandoned its download may still begin.
const abandonedWindow = 2 * time.Second

var errAbandoned = errors.New("the download was abandoned")

// abandonAction records that an action was abandoned: if it starts a download late, that is cancelled.
func (d *Transfers) abandonAction(c *tabTransfers) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.abandonedAt = time.Now()
}

// downloadsOwnFile reports whether an action runs a script that downloads a file it generates, which nothing announces.
func downloadsOwnFile(a page.Action) bool {
	return a.Kind == actiontable.KindEvaluate && strings.Contains(a.Fn, ".click(") &&
		(strings.Contains(a.Fn, "download") || strings.Contains(a.Fn, "createObjectURL"))
}

// PerformAction is page.Tab.Act within [Transfers.CollectDownloads].
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

// Navigate loads an address like page.Tab.NavigateWithin, except that an address of a file is not an error: the file is
// downloaded.
func (d *Transfers) Navigate(ctx context.Context, tab *page.Tab, url string,
	limit time.Duration,
) (page.Result, []Download, error) {
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

// downloadsSince returns the downloads since start that have no waiter. The caller holds d.mu.
func (c *tabTransfers) downloadsSince(start time.Time) []*downloadItem {
	var list []*downloadItem
	for _, it := range c.downloads {
		if !it.claimed && !it.began.Before(start) {
			list = append(list, it)
		}
	}
	return list
}

// opensSince reports whether a tab that was opened since start still loads its first page. The caller holds d.mu.
func (c *tabTransfers) opensSince(start time.Time) bool {
	for t, since := range c.popups {
		if isUnused(t) && t.Err() == nil && !since.Before(start) {
			return true
		}
	}
	return false
}

// expectsSince reports whether a download announced since start has not begun yet. The caller holds d.mu.
func (c *tabTransfers) expectsSince(start time.Time) bool {
	if c.opensSince(start) {
		return true
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

// awaitBegun waits until all downloads that a finished action may have started have begun.
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

// awaitEnded waits until an action's downloads have ended, and cancels them when ctx ends. It returns those that it
// waited for.
func (d *Transfers) awaitEnded(ctx context.Context, c *tabTransfers, start time.Time) []*downloadItem {
	d.mu.Lock()
	fresh := c.downloadsSince(start)
	d.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	limit := finishLimit
	if end, ok := ctx.Deadline(); ok { // leave time to report them as in progress
		limit = min(limit, time.Until(end)/2)
	}
	late := time.After(limit)
	for _, it := range fresh {
		select {
		case <-it.done:
			continue
		case <-late:
			return fresh
		case <-ctx.Done():
			d.cancelItem(it, context.Cause(ctx))
		case <-c.tab.Browser().Done():
			d.cancelItem(it, page.ErrBrowserGone)
		}
		<-it.done
	}
	return fresh
}

// takeReports returns the downloads not reported yet, except unfinished ones that began after start and were not
// awaited: the next action reports them.
func (d *Transfers) takeReports(c *tabTransfers, start time.Time, awaited []*downloadItem) []Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Download
	for _, it := range c.downloads {
		tooLate := !it.ended && !it.began.Before(start) && !slices.Contains(awaited, it)
		if it.claimed || it.reported || tooLate {
			continue
		}
		r := it.toDownload()
		it.reported = !r.InProgress
		list = append(list, r)
	}
	return list
}
