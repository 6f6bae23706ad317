package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer/place"

	"github.com/go-rod/rod/lib/proto"
)

// Download is a file that a page offered.
type Download struct {
	URL               string `json:"url"`
	SuggestedFilename string `json:"suggestedFilename"`
	// Path is where the file is, absolute; "" until it is complete.
	Path string `json:"path,omitempty"`
	// InProgress says that it was not complete yet.
	InProgress bool `json:"inProgress,omitempty"`
	// Type is the media type of the content, once it is complete.
	Type string `json:"type,omitempty"`
	// Executable says that opening the file may run it.
	Executable bool `json:"executable,omitempty"`
	// Warning says what is strange about the file: that its name and its content do not agree.
	Warning string `json:"warning,omitempty"`
	// Error says why there is no file, if so.
	Error string `json:"error,omitempty"`
	// Target is the CDP target id of the tab whose doing it is; "" if none is known.
	Target string `json:"-"`
}

// item is a download under way or ended. Its fields belong to the desk's lock.
type item struct {
	Download

	guid    string
	context string   // browser context
	owner   *counter // nil if no tab is known
	began   time.Time
	out     string // where it goes, relative to the folder; "" for a name of its own
	claimed bool   // somebody waits for this one
	told    bool   // it was reported with an action
	from    string // the page it was begun on; "" if none is known
	saving  bool
	asking  context.CancelCauseFunc // ends the question whether it may be saved; nil if none is open
	ended   bool
	err     error
	done    chan struct{} // closed when it has ended
}

// errBroken says that Chromium gave a download up.
var errBroken = errors.New("the download broke off: the server did not send all of it, or it was cancelled in the browser")

// keptItems is how many downloads of a tab are remembered.
const keptItems = 50

// begin notes a download. The browser tells it twice: to the session of the tab, and to its own.
func (d *Desk) begin(t *page.Tab, ev cdp.Event) {
	var p struct {
		FrameID           string `json:"frameId"`
		GUID              string `json:"guid"`
		URL               string `json:"url"`
		SuggestedFilename string `json:"suggestedFilename"`
	}
	if d.opts.External || !ev.Decode(&p) || filepath.Base(p.GUID) != p.GUID {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.items[p.GUID]; known || d.closed {
		return
	}
	it := &item{
		Download: Download{URL: p.URL, SuggestedFilename: place.CleanName(p.SuggestedFilename)},
		guid:     p.GUID, began: time.Now(), done: make(chan struct{}),
	}
	d.items[p.GUID] = it
	if t == nil {
		t = d.showing(p.FrameID)
	}
	if t != nil {
		it.context, it.from = t.ContextID(), t.URL()
		it.owner = d.credit(t)
		it.Target = it.owner.tab.TargetID()
		d.assign(it)
	}
	if d.opts.Allowed != nil {
		if err := d.opts.Allowed(p.URL); err != nil {
			d.finish(it, err)
		}
	}
	if !it.ended {
		d.wg.Go(func() { d.watch(it) })
	}
}

// assign adds a download to its tab, and gives it to whoever waits there. The caller holds d.mu.
func (d *Desk) assign(it *item) {
	c := it.owner
	c.began = append(c.began, it)
	if len(c.began) > keptItems {
		c.began = slices.Delete(c.began, 0, 1)
	}
	switch w := c.waiter; {
	case w != nil:
		c.waiter = nil
		it.claimed, it.out, w.it = true, w.out, it
	case time.Since(c.left) < late:
		it.told = true
		d.finish(it, errAbandoned)
	}
	c.signal()
}

// showing finds the tab that shows a frame. The caller holds d.mu.
func (d *Desk) showing(frameID string) *page.Tab {
	for t := range d.tabs {
		for _, f := range t.Frames() {
			if string(f.ID()) == frameID {
				return t
			}
		}
	}
	return nil
}

// credit is whose download it is: a tab that was opened for nothing but a download is its opener's doing. The caller holds
// d.mu.
func (d *Desk) credit(t *page.Tab) *counter {
	for t.Opener() != nil && unused(t) {
		t = t.Opener()
	}
	return d.counter(t)
}

// unused says that a tab has shown no page yet.
func unused(t *page.Tab) bool {
	switch t.URL() {
	case "", ":", "about:blank":
		return true
	}
	return false
}

func (d *Desk) progress(ev cdp.Event) {
	var p struct {
		GUID          string  `json:"guid"`
		TotalBytes    float64 `json:"totalBytes"`
		ReceivedBytes float64 `json:"receivedBytes"`
		State         string  `json:"state"`
	}
	if d.opts.External || !ev.Decode(&p) || filepath.Base(p.GUID) != p.GUID {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.items[p.GUID]
	over := p.State == "completed" || p.State == "canceled"
	switch limit := float64(d.opts.MaxBytes); {
	case over && (it == nil || it.ended): // given up before
		_ = os.Remove(filepath.Join(d.staging, p.GUID))
		delete(d.items, p.GUID)
	case it == nil || it.ended || it.saving:
	case max(p.TotalBytes, p.ReceivedBytes) > limit:
		d.finish(it, d.tooLarge())
	case p.State == "completed":
		it.saving = true
		d.wg.Go(func() { d.save(it) })
	case p.State == "canceled":
		d.finish(it, errBroken)
		delete(d.items, p.GUID)
	}
}

// identifier is a random UUID (RFC 9562, version 4).
func identifier() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// finish ends a download; with an error it is cancelled and its file removed. One that is being saved ends when that is done.
// The caller holds d.mu.
func (d *Desk) finish(it *item, err error) {
	if it.asking != nil {
		it.asking(err)
	}
	if it.ended || it.saving {
		return
	}
	it.ended = true
	if it.err = err; err == nil {
		delete(d.items, it.guid)
	} else {
		// It stays known until the browser has let it go.
		d.cancel(it)
		_ = os.Remove(filepath.Join(d.staging, it.guid))
		d.log.Info("download failed", "error", err)
	}
	close(it.done)
	if it.owner != nil {
		it.owner.signal()
	}
}

func (d *Desk) cancel(it *item) {
	if d.root != nil {
		d.root.Post(proto.BrowserCancelDownload{GUID: it.guid, BrowserContextID: proto.BrowserBrowserContextID(it.context)})
	}
}

// report describes a download as it is now. The caller holds d.mu.
func (it *item) report() Download {
	r := it.Download
	r.InProgress = !it.ended
	if it.err != nil {
		r.Error = it.err.Error()
	}
	return r
}

// await returns a download once it is complete. When ctx ends it is cancelled.
func (d *Desk) await(ctx context.Context, it *item, gone <-chan struct{}) (Download, error) {
	select {
	case <-it.done:
	case <-ctx.Done():
		d.giveUp(it, context.Cause(ctx))
	case <-gone:
		d.giveUp(it, page.ErrBrowserGone)
	}
	<-it.done // at once, or when it is saved
	d.mu.Lock()
	defer d.mu.Unlock()
	return it.report(), it.err
}

func (d *Desk) giveUp(it *item, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finish(it, cause)
}
