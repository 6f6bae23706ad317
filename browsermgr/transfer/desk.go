package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer/place"

	"github.com/go-rod/rod/lib/proto"
)

// Limits of the waits here, in the control API's terms: what a caller gives is held within them, 0 means Longest.
const (
	Shortest = 500 * time.Millisecond
	Longest  = 120 * time.Second
)

// Bounds of what files may hold, in bytes, where [Options] name none.
const (
	DefaultMaxBytes  = 2 << 30
	DefaultMaxUpload = 1 << 30
)

// Sentinels for the cases where a caller has to choose what to do next.
var (
	// ErrNoCapture says that the browser was not launched by us, so that its downloads go to a folder of its own. The
	// control API answers 501.
	ErrNoCapture = errors.New("downloads are not captured in this browser: it was not launched here, and keeps its own downloads folder")
	// ErrSuperseded says that a newer wait took the place of this one.
	ErrSuperseded = errors.New("superseded by a newer one")
	// ErrElsewhere says that a tab does not show the document that was expected.
	ErrElsewhere = errors.New("the tab shows another document than the one expected")
	// ErrTooLarge says that a download was cancelled because it is larger than allowed.
	ErrTooLarge = errors.New("the download is larger than allowed")
	// ErrClosed says that the desk was closed.
	ErrClosed = errors.New("the browser is no longer served")
)

// Uploads says which files may be put into pages.
type Uploads = place.Uploads

// Options say how a [Desk] works. Downloads is required unless External.
type Options struct {
	// Downloads is the folder that downloads are saved in; it is made if it is missing.
	Downloads string
	// Uploads says which files may be put into pages.
	Uploads Uploads
	// MaxBytes cancels downloads that are larger, and the newest of several that are larger together before they are saved;
	// 0 means [DefaultMaxBytes].
	MaxBytes int64
	// MaxUpload bounds the files of one upload together; 0 means [DefaultMaxUpload].
	MaxUpload int64
	// Approve, if set, is asked before a complete download is put into its place; its error is why it is not, and the file
	// is removed. The download has no Path yet. ctx ends when nobody waits for the file any more.
	Approve func(ctx context.Context, d Download) error
	// Allowed, if set, says whether an address may be downloaded from. It is called on the goroutine that reads the
	// connection, so it must not block.
	Allowed func(url string) error
	// External says that the browser is not ours: its downloads are left alone.
	External bool
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
}

// Desk handles the files of one connection to a browser. It is a [page.Observer]: give it to page.Connect, and close it after
// the connection. It is safe for concurrent use.
type Desk struct {
	opts    Options
	log     *slog.Logger
	folder  *place.Folder // nil if External
	staging string        // for downloads under way; "" if External
	held    string        // for copies of uploads; "" until there are some

	mu       sync.Mutex
	closed   bool
	root     *cdp.Session        // of the browser; nil before its first tab
	contexts map[string]struct{} // browser contexts whose downloads are captured
	items    map[string]*item    // under way, by the browser's id
	tabs     map[*page.Tab]*counter
	wg       sync.WaitGroup
}

// New makes a desk, with a private directory in the downloads folder for what is under way.
func New(opts Options) (*Desk, error) {
	d := &Desk{
		opts: opts, log: opts.Logger, contexts: map[string]struct{}{}, items: map[string]*item{}, tabs: map[*page.Tab]*counter{},
	}
	if opts.MaxBytes <= 0 {
		d.opts.MaxBytes = DefaultMaxBytes
	}
	if opts.MaxUpload <= 0 {
		d.opts.MaxUpload = DefaultMaxUpload
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if opts.External {
		return d, nil
	}
	var err error
	if d.folder, err = place.Open(opts.Downloads); err != nil {
		return nil, err
	}
	if d.staging, err = d.folder.MakeStaging(); err != nil {
		return nil, errors.Join(err, d.folder.Close())
	}
	return d, nil
}

// Close gives up what is under way, removes its files and returns when the desk's goroutines have ended.
func (d *Desk) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	for _, it := range d.items {
		d.finish(it, ErrClosed)
	}
	for _, c := range d.tabs {
		c.disarm(ErrClosed)
		c.signal()
	}
	d.mu.Unlock()
	d.wg.Wait()
	var errs []error
	if d.held != "" {
		errs = append(errs, os.RemoveAll(d.held))
	}
	if d.folder != nil {
		errs = append(errs, os.RemoveAll(d.staging), d.folder.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("tidy up the files of a browser: %w", err)
	}
	return nil
}

// Attach has the downloads of the tab's browser context go to us, and files that are armed for the tab stay so in new frames.
func (d *Desk) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if f.Parent() == nil {
		d.counter(t)
	}
	if _, known := d.contexts[t.ContextID()]; !known && !d.opts.External {
		d.contexts[t.ContextID()] = struct{}{}
		d.root = t.Browser().Root()
		d.root.Post(proto.BrowserSetDownloadBehavior{
			Behavior:         proto.BrowserSetDownloadBehaviorBehaviorAllowAndName,
			BrowserContextID: proto.BrowserBrowserContextID(t.ContextID()),
			DownloadPath:     d.staging, EventsEnabled: true,
		})
	}
	if c := d.tabs[t]; c != nil && c.arming != nil {
		return []proto.Request{proto.PageSetInterceptFileChooserDialog{Enabled: true}}
	}
	return nil
}

// Event takes what the browser tells of downloads and file choosers.
func (d *Desk) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Page.downloadWillBegin", "Browser.downloadWillBegin":
		d.begin(t, ev)
	case "Browser.downloadProgress":
		d.progress(ev)
	case "Page.fileChooserOpened":
		d.chooserOpened(t, f, ev)
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed":
		d.foresee(t, ev)
	}
}

// counter is where one tab is served. The caller holds d.mu.
func (d *Desk) counter(t *page.Tab) *counter {
	if c := d.tabs[t]; c != nil {
		return c
	}
	for other := range d.tabs {
		select {
		case <-other.Done():
			d.forget(other)
		default:
		}
	}
	c := &counter{tab: t, changed: make(chan struct{})}
	d.tabs[t] = c
	return c
}

// forget drops a tab that is closed, unless somebody still waits there. The caller holds d.mu.
func (d *Desk) forget(t *page.Tab) {
	if c := d.tabs[t]; c.users == 0 {
		c.disarm(page.ErrTabGone)
		c.drop(0)
		delete(d.tabs, t)
	}
}

// enter begins to use a tab's counter; leave ends it.
func (d *Desk) enter(t *page.Tab) (c *counter, leave func(), err error) {
	if err := t.Err(); err != nil && !errors.Is(err, page.ErrTabCrashed) {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, ErrClosed
	}
	c = d.counter(t)
	c.users++
	c.left = time.Time{}
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		c.users--
	}, nil
}

// counter is what a desk knows of one tab. Its fields belong to the desk's lock.
type counter struct {
	tab     *page.Tab
	users   int           // calls that use it
	changed chan struct{} // closed and replaced whenever anything here changes

	began    []*item                 // downloads that belong to the tab, oldest first
	waiter   *waiter                 // takes the next download
	left     time.Time               // when an action was abandoned; zero after the next has begun
	hint     time.Time               // when something last announced a download
	until    time.Time               // how long that one is waited for at least
	answered string                  // the last request for a document that was answered
	popups   map[*page.Tab]time.Time // tabs it opened that have shown nothing yet, and since when they load
	arming   *arming
	copies   []string // directories with files that the page was given, oldest first
}

func (c *counter) signal() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// until waits for something that cond finds with the desk's lock held, or for the end of ctx, the tab or the connection.
func (d *Desk) until(ctx context.Context, c *counter, cond func() bool) error {
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

// bounded derives a context with a limit as the control API counts it.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		limit = Longest
	}
	limit = min(max(limit, Shortest), Longest)
	return context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
}
