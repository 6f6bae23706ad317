package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/internal/untrusted"
)

// downloadWaiter takes the next download of a tab. Its fields belong to the desk's lock.
type downloadWaiter struct {
	target string
	it     *downloadItem
	err    error
}

// WaitDownload waits for the next download that begins in the tab and saves it. path is where to, within the downloads folder
// (absolute or relative to it); "" saves it under its own name, which no other download has. limit bounds the whole, see
// [MaxTimeout]. A newer wait in the same tab takes the place of this one, whose error then wraps [ErrSuperseded]. When ctx ends
// the download is cancelled. A path that is refused wraps page.ErrInvalid.
func (d *Transfers) WaitDownload(ctx context.Context, tab *page.Tab, path string, limit time.Duration) (Download, error) {
	return d.awaitDownload(ctx, tab, path, limit, func(context.Context) error { return nil })
}

// Download clicks an element that downloads something and saves it as path, which is required. It is otherwise as
// [Transfers.WaitDownload].
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

// saveDocumentScript clicks a link to the document that is shown, if that is the one expected, and returns the address of another.
// The link is nowhere in the page, which does not notice.
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

// awaitDownload waits for the next download, which begin is to bring about.
func (d *Transfers) awaitDownload(ctx context.Context, tab *page.Tab, path string, limit time.Duration, begin func(context.Context) error) (Download, error) {
	if d.opts.ForeignBrowser {
		return Download{}, ErrNotCaptured
	}
	w := &downloadWaiter{}
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
	err = begin(ctx)
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

// clearWaiter ends a claim: no later download goes to it. It returns what the waiter took, which is given up if the wait failed.
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
