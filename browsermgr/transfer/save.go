package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"clank/browsermgr/transfer/place"
)

// save puts a complete download into its place, or removes it.
func (d *Desk) save(it *item) {
	d.mu.Lock()
	rel := it.out
	d.mu.Unlock()
	if rel == "" {
		rel = identifier() + "-" + it.SuggestedFilename
	}
	err := d.settle(it, rel)
	if err != nil {
		err = fmt.Errorf("save download: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		it.Path = filepath.Join(d.folder.Dir(), rel)
	}
	it.saving = false
	d.finish(it, err)
	delete(d.items, it.guid)
}

// settle looks at a complete download, asks whether it may be kept, and moves it.
func (d *Desk) settle(it *item, rel string) (err error) {
	n, err := d.folder.Finish(filepath.Join(d.staging, it.guid))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if n.Size > d.opts.MaxBytes {
		return d.tooLarge()
	}
	kind, named := place.Identify(it.SuggestedFilename, n.Head), place.Identify(rel, n.Head)
	d.mu.Lock()
	it.Type, it.Executable, it.Warning = kind.Type, kind.Executable || named.Executable, kind.Disagrees
	if it.Warning == "" {
		it.Warning = named.Disagrees
	}
	d.mu.Unlock()
	if err := d.approve(it); err != nil {
		return err
	}
	if err := n.Mark(source(it.URL), source(it.from)); err != nil {
		d.log.Info("download is not marked as one", "error", err)
	}
	return d.folder.Take(n, rel)
}

// approve asks whether a complete download may be kept.
func (d *Desk) approve(it *item) error {
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
	it.asking = cancel
	asked := it.report()
	d.mu.Unlock()
	err := d.opts.Approve(ctx, asked)
	d.mu.Lock()
	it.asking = nil
	d.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// source is an address as it is noted with a file: without user, password and fragment, and without the content of one that
// holds it itself.
func source(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "data" || u.Opaque == "blank" {
		return ""
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String()
}

func (d *Desk) tooLarge() error {
	return fmt.Errorf("%w: at most %d bytes", ErrTooLarge, d.opts.MaxBytes)
}

// glance is how often it is looked how much lies in staging: the browser tells of its progress too seldom for fast downloads.
const glance = 50 * time.Millisecond

// watch ends a download when more lies in staging than a single one may hold.
func (d *Desk) watch(it *item) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-it.done:
			return
		case <-tick.C:
		}
		if staged(d.staging) <= d.opts.MaxBytes {
			continue
		}
		d.mu.Lock()
		if d.newest(it) {
			d.finish(it, d.tooLarge())
		}
		d.mu.Unlock()
	}
}

// newest reports whether no download that is under way began after this one. The caller holds d.mu.
func (d *Desk) newest(it *item) bool {
	for _, other := range d.items {
		if !other.ended && !other.saving && other.began.After(it.began) {
			return false
		}
	}
	return true
}

// staged is how many bytes of downloads lie in a staging directory.
func staged(dir string) int64 {
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
