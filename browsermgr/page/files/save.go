package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// saveDownload puts a complete download into its place, or removes it.
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
	defer d.mu.Unlock()
	if err == nil {
		it.Path = filepath.Join(d.folder.Dir(), rel)
	}
	it.saving = false
	d.endDownload(it, err)
	delete(d.downloads, it.browserID)
}

// inspectAndMove looks at a complete download, asks whether it may be kept, and moves it.
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
	it.Type, it.Executable, it.Warning = kind.Type, kind.Executable || named.Executable, kind.Mismatch
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
	if d.opts.Approve == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return ErrClosed
	}
	it.cancelApproval = cancel
	asked := it.toDownload()
	d.mu.Unlock()
	err := d.opts.Approve(ctx, asked)
	d.mu.Lock()
	it.cancelApproval = nil
	d.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// cleanSource returns an address as it is noted with a file: without user, password and fragment, and without the content of one that
// holds it itself.
func cleanSource(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "data" || u.Opaque == "blank" {
		return ""
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String()
}

func (d *Transfers) tooLargeError() error {
	return fmt.Errorf("%w: at most %d bytes", ErrTooLarge, d.opts.MaxBytes)
}

// sizeCheckInterval is how often it is looked how much lies in staging: the browser tells of its progress too seldom for fast downloads.
const sizeCheckInterval = 50 * time.Millisecond

// watchSize ends a download when more lies in staging than a single one may hold.
func (d *Transfers) watchSize(it *downloadItem) {
	tick := time.NewTicker(sizeCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-it.done:
			return
		case <-tick.C:
		}
		if stagedBytes(d.staging) <= d.opts.MaxBytes {
			continue
		}
		d.mu.Lock()
		if d.isNewest(it) {
			d.endDownload(it, d.tooLargeError())
		}
		d.mu.Unlock()
	}
}

// isNewest reports whether no download that is under way began after this one. The caller holds d.mu.
func (d *Transfers) isNewest(it *downloadItem) bool {
	for _, other := range d.downloads {
		if !other.ended && !other.saving && other.began.After(it.began) {
			return false
		}
	}
	return true
}

// stagedBytes returns how many bytes of downloads lie in a staging directory.
func stagedBytes(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // the directory goes with the desk
	}
	var sum int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}
