package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/sessions"

	"github.com/go-rod/rod/lib/proto"
)

// Download describes a downloaded file.
type Download struct {
	URL               string `json:"url"`
	SuggestedFilename string `json:"suggestedFilename"`
	// Path is the absolute path of the file; "" until it is complete.
	Path string `json:"path,omitempty"`
	// Size is the size in bytes once it is complete.
	Size int64 `json:"size,omitempty"`
	// InProgress reports that the download had not ended yet.
	InProgress bool `json:"inProgress,omitempty"`
	// Type is the media type of the content once it is complete.
	Type string `json:"type,omitempty"`
	// Executable reports that opening the file may run it.
	Executable bool `json:"executable,omitempty"`
	// Warning says that the file's name and content do not match.
	Warning string `json:"warning,omitempty"`
	// Error says why the download failed.
	Error string `json:"error,omitempty"`
	// Target is the CDP target id of the tab that started it; "" if unknown.
	Target string `json:"-"`
}

// downloadItem is a download in progress or ended. Transfers.mu guards its fields.
type downloadItem struct {
	Download

	browserID      string
	contextID      string        // browser context
	owner          *tabTransfers // nil if the tab is unknown
	began          time.Time
	target         string // target relative to the folder; "" for its own name
	claimed        bool   // it has a waiter
	reported       bool   // it was reported by an action
	pageURL        string // address of the page that started it; "" if unknown
	saving         bool
	cancelApproval context.CancelCauseFunc // cancels the approval request; nil if none is open
	ended          bool
	err            error
	done           chan struct{} // closed when it has ended
}

// errInterrupted is the error of a download that Chromium gave up.
var errInterrupted = errors.New("the download broke off: the server did not send all of it, or it was cancelled in " +
	"the browser")

// maxKeptDownloads bounds the remembered downloads of a tab.
const maxKeptDownloads = 50

// handleBegin handles the beginning of a download, which is reported both in the tab's session and in the browser's.
func (d *Transfers) handleBegin(t *page.Tab, ev cdp.Event) {
	var p struct {
		FrameID           string `json:"frameId"`
		GUID              string `json:"guid"`
		URL               string `json:"url"`
		SuggestedFilename string `json:"suggestedFilename"`
	}
	if d.opts.ForeignBrowser || !ev.Decode(&p) || filepath.Base(p.GUID) != p.GUID {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.downloads[p.GUID]; known || d.closed {
		return
	}
	it := &downloadItem{
		Download:  Download{URL: p.URL, SuggestedFilename: CleanName(p.SuggestedFilename)},
		browserID: p.GUID, began: time.Now(), done: make(chan struct{}),
	}
	d.downloads[p.GUID] = it
	if t == nil {
		t = d.tabOfFrame(p.FrameID)
	}
	if t != nil {
		it.contextID, it.pageURL = t.ContextID(), t.URL()
		it.owner = d.creditedTab(t)
		it.Target = it.owner.tab.TargetID()
		d.assignToTab(it)
	}
	if err := d.opts.Host.CheckURL(p.URL); err != nil {
		d.endDownload(it, err)
	}
	if !it.ended {
		d.wg.Go(func() { d.watchSize(it) })
	}
}

// assignToTab adds a download to its tab and passes it to the tab's waiter. The caller holds d.mu.
func (d *Transfers) assignToTab(it *downloadItem) {
	c := it.owner
	c.downloads = append(c.downloads, it)
	if len(c.downloads) > maxKeptDownloads {
		c.downloads = slices.Delete(c.downloads, 0, 1)
	}
	switch w := c.waiter; {
	case w != nil:
		c.waiter = nil
		it.claimed, it.target, w.it = true, w.target, it
	case time.Since(c.abandonedAt) < abandonedWindow:
		it.reported = true
		d.endDownload(it, errAbandoned)
	}
	c.signalChange()
}

// tabOfFrame returns the tab that contains a frame. The caller holds d.mu.
func (d *Transfers) tabOfFrame(frameID string) *page.Tab {
	for t := range d.tabs {
		for _, f := range t.Frames() {
			if string(f.ID()) == frameID {
				return t
			}
		}
	}
	return nil
}

// creditedTab returns the transfers of the tab that a download belongs to; for a tab opened only for a download, that
// is its opener. The caller holds d.mu.
func (d *Transfers) creditedTab(t *page.Tab) *tabTransfers {
	for t.Opener() != nil && isUnused(t) {
		t = t.Opener()
	}
	return d.tabTransfersOf(t)
}

// isUnused reports that a tab has not shown a page yet.
func isUnused(t *page.Tab) bool {
	switch t.URL() {
	case "", ":", "about:blank":
		return true
	}
	return false
}

func (d *Transfers) handleProgress(ev cdp.Event) {
	var p struct {
		GUID          string  `json:"guid"`
		TotalBytes    float64 `json:"totalBytes"`
		ReceivedBytes float64 `json:"receivedBytes"`
		State         string  `json:"state"`
	}
	if d.opts.ForeignBrowser || !ev.Decode(&p) || filepath.Base(p.GUID) != p.GUID {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.downloads[p.GUID]
	over := p.State == "completed" || p.State == "canceled"
	switch limit := float64(d.opts.MaxBytes); {
	case over && (it == nil || it.ended): // cancelled earlier
		_ = os.Remove(filepath.Join(d.staging, p.GUID))
		delete(d.downloads, p.GUID)
	case it == nil || it.ended || it.saving:
	case max(p.TotalBytes, p.ReceivedBytes) > limit:
		d.endDownload(it, d.tooLargeError())
	case p.State == "completed":
		it.saving = true
		d.wg.Go(func() { d.saveDownload(it) })
	case p.State == "canceled":
		d.endDownload(it, errInterrupted)
		delete(d.downloads, p.GUID)
	}
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// endDownload ends a download; with an error it is cancelled and its file removed. If it is being saved, it ends
// afterwards. The caller holds d.mu.
func (d *Transfers) endDownload(it *downloadItem, err error) {
	if it.cancelApproval != nil {
		it.cancelApproval(err)
	}
	if it.ended || it.saving {
		return
	}
	it.ended = true
	if it.err = err; err == nil {
		delete(d.downloads, it.browserID)
	} else {
		// Keep it until the browser has released it.
		d.cancelDownload(it)
		_ = os.Remove(filepath.Join(d.staging, it.browserID))
		d.log.Info("download failed", "error", err)
	}
	close(it.done)
	if it.owner != nil {
		it.owner.signalChange()
	}
}

func (d *Transfers) cancelDownload(it *downloadItem) {
	if d.root != nil {
		d.root.Post(proto.BrowserCancelDownload{
			GUID:             it.browserID,
			BrowserContextID: proto.BrowserBrowserContextID(it.contextID),
		})
	}
}

// toDownload describes the present state of a download. The caller holds d.mu.
func (it *downloadItem) toDownload() Download {
	r := it.Download
	r.InProgress = !it.ended
	if it.err != nil {
		r.Error = it.err.Error()
	}
	return r
}

// awaitItem returns a download once it is complete. When ctx ends it is cancelled.
func (d *Transfers) awaitItem(ctx context.Context, it *downloadItem, gone <-chan struct{}) (Download, error) {
	select {
	case <-it.done:
	case <-ctx.Done():
		d.cancelItem(it, context.Cause(ctx))
	case <-gone:
		d.cancelItem(it, page.ErrBrowserGone)
	}
	<-it.done // at once, or when it is saved
	d.mu.Lock()
	defer d.mu.Unlock()
	return it.toDownload(), it.err
}

func (d *Transfers) cancelItem(it *downloadItem, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endDownload(it, cause)
}

// saveDownload moves a complete download to its target, or removes it.
func (d *Transfers) saveDownload(it *downloadItem) {
	d.mu.Lock()
	rel := it.target
	d.mu.Unlock()
	if rel == "" {
		rel = newUUID() + "-" + it.SuggestedFilename
	}
	err := d.inspectAndMove(it, rel)
	if err != nil {
		err = fmt.Errorf("save download: %w", err)
	}
	d.mu.Lock()
	if err == nil {
		it.Path = filepath.Join(d.folder.Dir(), rel)
	}
	saved := it.Download
	d.mu.Unlock()
	if err == nil {
		d.opts.Host.Saved(saved)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	it.saving = false
	d.endDownload(it, err)
	delete(d.downloads, it.browserID)
}

// inspectAndMove inspects a complete download, asks for approval, and moves it.
func (d *Transfers) inspectAndMove(it *downloadItem, rel string) (err error) {
	n, err := d.folder.OpenStaged(filepath.Join(d.staging, it.browserID))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if n.Size > d.opts.MaxBytes {
		return d.tooLargeError()
	}
	kind, named := IdentifyFile(it.SuggestedFilename, n.Head), IdentifyFile(rel, n.Head)
	d.mu.Lock()
	it.Size, it.Type, it.Executable, it.Warning = n.Size, kind.Type, kind.Executable || named.Executable, kind.Mismatch
	it.Warning = cmp.Or(it.Warning, named.Mismatch)
	d.mu.Unlock()
	if err := d.askApproval(it); err != nil {
		return err
	}
	if err := n.MarkOrigin(cleanSource(it.URL), cleanSource(it.pageURL)); err != nil {
		d.log.Info("download is not marked as one", "error", err)
	}
	return d.folder.MoveIn(n, rel)
}

// askApproval asks whether a complete download may be kept.
func (d *Transfers) askApproval(it *downloadItem) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return errClosed
	}
	it.cancelApproval = cancel
	asked := it.toDownload()
	d.mu.Unlock()
	err := d.opts.Host.Approve(ctx, asked)
	d.mu.Lock()
	it.cancelApproval = nil
	d.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// cleanSource returns the URL to record with a file: without user, password and fragment, and without the content of a
// data URL.
func cleanSource(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "data" || u.Opaque == "blank" {
		return ""
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String()
}

func (d *Transfers) tooLargeError() error {
	return fmt.Errorf("%w: at most %s", errTooLarge, sessions.SizeText(d.opts.MaxBytes))
}

// sizeCheckInterval is how often the size of the staging directory is checked, since the browser's progress events are
// too rare for fast downloads.
const sizeCheckInterval = 50 * time.Millisecond

// watchSize ends a download when the staging directory contains more bytes than a single download may have.
func (d *Transfers) watchSize(it *downloadItem) {
	tick := time.Tick(sizeCheckInterval)
	for {
		select {
		case <-it.done:
			return
		case <-tick:
		}
		var err error
		if staged := stagedBytes(d.staging); staged > d.opts.MaxBytes {
			err = d.tooLargeError()
		} else {
			err = d.opts.Host.Room(staged)
		}
		if err == nil {
			continue
		}
		d.mu.Lock()
		if d.isNewest(it) {
			d.endDownload(it, err)
		}
		d.mu.Unlock()
	}
}

// isNewest reports whether no download in progress began later. The caller holds d.mu.
func (d *Transfers) isNewest(it *downloadItem) bool {
	for _, other := range d.downloads {
		if !other.ended && !other.saving && other.began.After(it.began) {
			return false
		}
	}
	return true
}

// stagedBytes returns the size of the downloads in a staging directory.
func stagedBytes(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // the directory was removed by Close
	}
	var sum int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}
