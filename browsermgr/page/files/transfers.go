package files

import (
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

// Limits of the waits here, in the control API's terms: what a caller gives is held within them, 0 means Longest.
const (
	MinTimeout = 500 * time.Millisecond
	MaxTimeout = 120 * time.Second
)

// Bounds of what files may hold, in bytes, where [Options] name none.
const (
	DefaultMaxBytes  = 2 << 30
	DefaultMaxUpload = 1 << 30
)

// Sentinels for the cases where a caller has to choose what to do next.
var (
	// ErrNotCaptured says that the browser was not launched by us, so that its downloads go to a folder of its own. The
	// control API answers 501.
	ErrNotCaptured = errors.New("downloads are not captured in this browser: it was not launched here, and keeps its own downloads folder")
	// ErrSuperseded says that a newer wait took the place of this one.
	ErrSuperseded = errors.New("superseded by a newer one")
	// ErrOpenedInline says that what was to be downloaded is shown in a tab instead.
	ErrOpenedInline = errors.New("no download began: the link opened")
	// ErrOtherDocument says that a tab does not show the document that was expected.
	ErrOtherDocument = errors.New("the tab shows another document than the one expected")
	// ErrTooLarge says that a download was cancelled because it is larger than allowed.
	ErrTooLarge = errors.New("the download is larger than allowed")
	// ErrClosed says that the desk was closed.
	ErrClosed = errors.New("the browser is no longer served")
)

// Host decides about downloads, and is told of them. Its methods are safe for concurrent use.
type Host interface {
	// Approve is asked before a complete download is put into its place; its error is why it is not, and the file is
	// removed. The download has no Path yet. ctx ends when nobody waits for the file any more.
	Approve(ctx context.Context, d Download) error
	// Saved is told of each download that is in its place, before anybody who waits for it. It must not block.
	Saved(d Download)
	// Room says why a download may not go on, given how many bytes are under way. It is asked often.
	Room(bytes int64) error
	// CheckURL says why an address may not be downloaded from. It is called on the goroutine that reads the connection, so
	// it must not block.
	CheckURL(url string) error
}

// AllowAll is a [Host] that allows every download, and keeps no record.
type AllowAll struct{}

// Approve implements [Host].
func (AllowAll) Approve(context.Context, Download) error { return nil }

// Saved implements [Host].
func (AllowAll) Saved(Download) {}

// Room implements [Host].
func (AllowAll) Room(int64) error { return nil }

// CheckURL implements [Host].
func (AllowAll) CheckURL(string) error { return nil }

// Options say how a [Transfers] works. Downloads is required unless External.
type Options struct {
	// Downloads is the folder that downloads are saved in; it is made if it is missing.
	Downloads string
	// Uploads says which files may be put into pages.
	Uploads UploadPolicy
	// MaxBytes cancels downloads that are larger, and the newest of several that are larger together before they are
	// saved; 0 means [DefaultMaxBytes].
	MaxBytes int64
	// MaxUpload bounds the files of one upload together; 0 means [DefaultMaxUpload].
	MaxUpload int64
	// Host decides about downloads; nil is [AllowAll].
	Host Host
	// ForeignBrowser says that the browser is not ours: its downloads are left alone.
	ForeignBrowser bool
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
}

// Transfers handles the files of one connection to a browser. It is a [page.Observer]: give it to page.Connect, and
// close it after the connection. It is safe for concurrent use.
type Transfers struct {
	opts       Options
	log        *slog.Logger
	folder     *Folder // nil if External
	staging    string  // for downloads under way; "" if External
	copiesPath string  // for copies of uploads; "" until there are some

	mu        sync.Mutex
	closed    bool
	root      *cdp.Session             // of the browser; nil before its first tab
	contexts  map[string]struct{}      // browser contexts whose downloads are captured
	downloads map[string]*downloadItem // under way, by the browser's id
	tabs      map[*page.Tab]*tabTransfers
	wg        sync.WaitGroup
}

// NewTransfers makes a desk, with a private directory in the downloads folder for what is under way.
func NewTransfers(opts Options) (*Transfers, error) {
	d := &Transfers{
		opts: opts, log: opts.Logger, contexts: map[string]struct{}{}, downloads: map[string]*downloadItem{}, tabs: map[*page.Tab]*tabTransfers{},
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

// Close gives up what is under way, removes its files and returns when the desk's goroutines have ended.
func (d *Transfers) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	for _, it := range d.downloads {
		d.endDownload(it, ErrClosed)
	}
	for _, c := range d.tabs {
		c.disarmChooser(ErrClosed)
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

// Attach has the downloads of the tab's browser context go to us, and files that are armed for the tab stay so in new
// frames.
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

// Event takes what the browser tells of downloads and file choosers.
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

// tabTransfersOf returns where one tab is served. The caller holds d.mu.
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

// forgetTab drops a tab that is closed, unless somebody still waits there. The caller holds d.mu.
func (d *Transfers) forgetTab(t *page.Tab) {
	if c := d.tabs[t]; c.users == 0 {
		c.disarmChooser(page.ErrTabGone)
		c.dropCopies(0)
		delete(d.tabs, t)
	}
}

// acquireTab begins to use a tab's counter; leave ends it.
func (d *Transfers) acquireTab(t *page.Tab) (c *tabTransfers, leave func(), err error) {
	if err := t.Err(); err != nil && !errors.Is(err, page.ErrTabCrashed) {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, ErrClosed
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

// tabTransfers is what a desk knows of one tab. Its fields belong to the desk's lock.
type tabTransfers struct {
	tab     *page.Tab
	users   int           // calls that use it
	changed chan struct{} // closed and replaced whenever anything here changes

	downloads           []*downloadItem         // downloads that belong to the tab, oldest first
	waiter              *downloadWaiter         // takes the next download
	abandonedAt         time.Time               // when an action was abandoned; zero after the next has begun
	announcedAt         time.Time               // when something last announced a download
	expectedUntil       time.Time               // how long that one is waited for at least
	lastDocumentRequest string                  // the last request for a document that was answered
	popups              map[*page.Tab]time.Time // tabs it opened that have shown nothing yet, and since when they load
	armedChooser        *chooserFiles
	asksPerson          bool         // who holds the tab answers its choosers
	chooser             *openChooser // that waits for them
	copyDirs            []string     // directories with files that the page was given, oldest first
}

func (c *tabTransfers) signalChange() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// waitUntil waits for something that cond finds with the desk's lock held, or for the end of ctx, the tab or the
// connection.
func (d *Transfers) waitUntil(ctx context.Context, c *tabTransfers, cond func() bool) error {
	for {
		d.mu.Lock()
		ok, changed, closed := cond(), c.changed, d.closed
		d.mu.Unlock()
		switch {
		case ok:
			return nil
		case closed:
			return ErrClosed
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

// withLimit derives a context with a limit as the control API counts it.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		limit = MaxTimeout
	}
	limit = min(max(limit, MinTimeout), MaxTimeout)
	return context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
}
