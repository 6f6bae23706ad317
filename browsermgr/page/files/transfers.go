package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Time limits, as in the control API: callers' limits are clamped to them, and 0 means MaxTimeout.
const (
	MinTimeout = 500 * time.Millisecond
	MaxTimeout = 120 * time.Second
)

// Default size limits in bytes; see [Options].
const (
	DefaultMaxBytes  = 2 << 30
	DefaultMaxUpload = 1 << 30
)

// Errors for use with [errors.Is].
var (
	// ErrNotCaptured is returned for a browser that we did not launch, whose downloads go to its own folder. The
	// control API answers 501.
	ErrNotCaptured = errors.New("downloads are not captured in this browser: it was not launched here, and keeps its " +
		"own downloads folder")
	// ErrSuperseded is returned if a newer wait replaced this one.
	ErrSuperseded = errors.New("superseded by a newer one")
	// ErrNoDownload is returned if a click started no download.
	ErrNoDownload = errors.New("no download began")
	// ErrOpenedInline is returned if a link to be downloaded was shown in a tab instead.
	ErrOpenedInline = errors.New("no download began: what was clicked opened")
	// ErrOtherDocument is returned if a tab does not show the expected document.
	ErrOtherDocument = errors.New("the tab shows another document than the one expected")
	// errTooLarge is returned if a download was cancelled because it is too large.
	errTooLarge = errors.New("the download is larger than allowed")
	// errClosed is returned after Close.
	errClosed = errors.New("downloads and uploads of this browser have ended")
)

// Host decides about downloads and is notified of them. It must be safe for concurrent use.
type Host interface {
	// Approve is called before a complete download is moved to its target; if it returns an error, the file is removed.
	// The download has no Path yet. ctx ends when nobody waits for the file any more.
	Approve(ctx context.Context, d Download) error
	// Saved is called for each saved download, before its waiters continue. It must not block.
	Saved(d Download)
	// Room returns an error if downloads must not continue, given the bytes in progress. It is called often.
	Room(bytes int64) error
	// CheckURL returns an error if downloading from a URL is forbidden. It is called on the connection's reading
	// goroutine and must not block.
	CheckURL(url string) error
}

// AllowAll is a [Host] that allows every download.
type AllowAll struct{}

// Approve implements [Host].
func (AllowAll) Approve(context.Context, Download) error { return nil }

// Saved implements [Host].
func (AllowAll) Saved(Download) {}

// Room implements [Host].
func (AllowAll) Room(int64) error { return nil }

// CheckURL implements [Host].
func (AllowAll) CheckURL(string) error { return nil }

// Options configures [Transfers]. Downloads is required unless ForeignBrowser is set.
type Options struct {
	// Downloads is the folder for downloads; it is created if missing.
	Downloads string
	// Uploads decides which files may be uploaded.
	Uploads UploadPolicy
	// MaxBytes bounds a download. A larger one is cancelled; if several together exceed it before they are saved, the
	// newest is. 0 means [DefaultMaxBytes].
	MaxBytes int64
	// MaxUpload bounds the total size of one upload; 0 means [DefaultMaxUpload].
	MaxUpload int64
	// Host decides about downloads; nil means [AllowAll].
	Host Host
	// ForeignBrowser reports that we did not start the browser; its downloads are not captured.
	ForeignBrowser bool
	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger
}

// Transfers handles the downloads and uploads of one connection to a browser. It is a [page.Observer]: pass it to
// page.Connect, and close it after the connection. It is safe for concurrent use.
type Transfers struct {
	opts       Options
	log        *slog.Logger
	folder     *Folder // nil if ForeignBrowser
	staging    string  // directory for downloads in progress; "" if ForeignBrowser
	copiesPath string  // directory for copies of uploads; "" until needed

	mu        sync.Mutex
	closed    bool
	root      *cdp.Session             // of the browser; nil before its first tab
	contexts  map[string]struct{}      // browser contexts whose downloads are captured
	downloads map[string]*downloadItem // in progress, by Chromium's id
	tabs      map[*page.Tab]*tabTransfers
	wg        sync.WaitGroup
}

// NewTransfers returns Transfers with a private staging directory in the downloads folder.
func NewTransfers(opts Options) (*Transfers, error) {
	d := &Transfers{
		opts: opts, log: opts.Logger, contexts: map[string]struct{}{}, downloads: map[string]*downloadItem{},
		tabs: map[*page.Tab]*tabTransfers{},
	}
	if opts.Host == nil {
		d.opts.Host = AllowAll{}
	}
	if opts.MaxBytes <= 0 {
		d.opts.MaxBytes = DefaultMaxBytes
	}
	if opts.MaxUpload <= 0 {
		d.opts.MaxUpload = DefaultMaxUpload
	}
	d.log = cmp.Or(d.log, slog.New(slog.DiscardHandler))
	if opts.ForeignBrowser {
		return d, nil
	}
	var err error
	if d.folder, err = OpenFolder(opts.Downloads); err != nil {
		return nil, err
	}
	if d.staging, err = d.folder.MakeStaging(); err != nil {
		return nil, errors.Join(err, d.folder.Close())
	}
	return d, nil
}

// Close cancels downloads in progress, removes their files and waits for its goroutines.
func (d *Transfers) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	for _, it := range d.downloads {
		d.endDownload(it, errClosed)
	}
	for _, c := range d.tabs {
		c.disarmChooser(errClosed)
		c.signalChange()
	}
	d.mu.Unlock()
	d.wg.Wait()
	var errs []error
	if d.copiesPath != "" {
		errs = append(errs, os.RemoveAll(d.copiesPath))
	}
	if d.folder != nil {
		errs = append(errs, os.RemoveAll(d.staging), d.folder.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("tidy up the files of a browser: %w", err)
	}
	return nil
}

// Attach captures the downloads of the tab's browser context, and keeps an armed file chooser armed in new frames.
func (d *Transfers) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if f.Parent() == nil {
		d.tabTransfersOf(t)
	}
	if _, known := d.contexts[t.ContextID()]; !known && !d.opts.ForeignBrowser {
		d.contexts[t.ContextID()] = struct{}{}
		d.root = t.Browser().RootSession()
		d.root.Post(proto.BrowserSetDownloadBehavior{
			Behavior:         proto.BrowserSetDownloadBehaviorBehaviorAllowAndName,
			BrowserContextID: proto.BrowserBrowserContextID(t.ContextID()),
			DownloadPath:     d.staging, EventsEnabled: true,
		})
	}
	if c := d.tabs[t]; c != nil && (c.armedChooser != nil || c.asksPerson) {
		return []proto.Request{proto.PageSetInterceptFileChooserDialog{Enabled: true}}
	}
	return nil
}

// Event handles events about downloads and file choosers.
func (d *Transfers) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Page.downloadWillBegin", "Browser.downloadWillBegin":
		d.handleBegin(t, ev)
	case "Browser.downloadProgress":
		d.handleProgress(ev)
	case "Page.fileChooserOpened":
		d.handleChooserOpened(t, f, ev)
	case "Page.frameNavigated":
		d.handleNavigated(t, ev)
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed":
		d.handleAnnouncement(t, ev)
	}
}

// tabTransfersOf returns the state of a tab, creating it if necessary. The caller holds d.mu.
func (d *Transfers) tabTransfersOf(t *page.Tab) *tabTransfers {
	if c := d.tabs[t]; c != nil {
		return c
	}
	for other := range d.tabs {
		select {
		case <-other.Done():
			d.forgetTab(other)
		default:
		}
	}
	c := &tabTransfers{tab: t, changed: make(chan struct{})}
	d.tabs[t] = c
	return c
}

// forgetTab drops the state of a closed tab, unless a call still uses it. The caller holds d.mu.
func (d *Transfers) forgetTab(t *page.Tab) {
	if c := d.tabs[t]; c.users == 0 {
		c.disarmChooser(page.ErrTabGone)
		c.dropCopies(0)
		delete(d.tabs, t)
	}
}

// acquireTab begins a use of a tab's state; leave ends it.
func (d *Transfers) acquireTab(t *page.Tab) (c *tabTransfers, leave func(), err error) {
	if err := t.Err(); err != nil && !errors.Is(err, page.ErrTabCrashed) {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, errClosed
	}
	c = d.tabTransfersOf(t)
	c.users++
	c.abandonedAt = time.Time{}
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		c.users--
	}, nil
}

// tabTransfers is the state of one tab. Transfers.mu guards its fields.
type tabTransfers struct {
	tab     *page.Tab
	users   int           // calls that use it
	changed chan struct{} // closed and replaced whenever a field changes

	downloads           []*downloadItem         // of the tab, oldest first
	waiter              *downloadWaiter         // waits for the next download
	abandonedAt         time.Time               // when an action was abandoned; zero once the next has begun
	announcedAt         time.Time               // when a download was last announced
	expectedUntil       time.Time               // until when to wait for it at least
	lastDocumentRequest string                  // last answered request for a document
	popups              map[*page.Tab]time.Time // tabs it opened that have shown nothing yet, and since when they load
	armedChooser        *chooserFiles
	asksPerson          bool         // the person in control of the tab answers its file choosers
	chooser             *openChooser // waits for that person
	copyDirs            []string     // directories with uploaded copies, oldest first
}

func (c *tabTransfers) signalChange() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// waitUntil waits until cond, called with d.mu held, is true, or for the end of ctx, the tab or the connection.
func (d *Transfers) waitUntil(ctx context.Context, c *tabTransfers, cond func() bool) error {
	for {
		d.mu.Lock()
		ok, changed, closed := cond(), c.changed, d.closed
		d.mu.Unlock()
		switch {
		case ok:
			return nil
		case closed:
			return errClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.tab.Done():
			return c.tab.Err()
		}
	}
}

// withLimit derives a context with a limit clamped as in the control API.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		limit = MaxTimeout
	}
	limit = min(max(limit, MinTimeout), MaxTimeout)
	return context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
}

// ExpectDownload announces that a download is about to begin in the tab, for a running [Transfers.CollectDownloads];
// see page.Result.Downloading.
func (d *Transfers) ExpectDownload(t *page.Tab) { d.expectWithin(t, 0) }

// expectWithin announces a download to wait for during at least within.
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

// handleAnnouncement handles events that announce a download, or that there will be none.
func (d *Transfers) handleAnnouncement(t *page.Tab, ev cdp.Event) {
	if t == nil || d.opts.ForeignBrowser {
		return
	}
	// Decode only events about documents.
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
			c.announcedAt = time.Now() // answered but not shown, so it is a file
		}
	}
}

// recordPopup records that a tab opened by this one requests its first page. The caller holds Transfers.mu.
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
