package transfer

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"clank/browsermgr/transfer/place"
)

// keptCopies is how many uploads of a tab are kept for it: a page reads its files when it likes.
const keptCopies = 20

// hold copies files for a tab, so that the page gets what was checked. The copies go with the tab, or with the desk.
func (d *Desk) hold(c *counter, paths []string) ([]string, error) {
	into, err := d.holding()
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	dir, files, err := d.opts.Uploads.Copy(paths, into, d.opts.MaxUpload)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.copies = append(c.copies, dir)
	c.drop(keptCopies)
	return files, nil
}

// holding is the directory for copies; it is made at first need.
func (d *Desk) holding() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return "", ErrClosed
	}
	if d.held != "" {
		return d.held, nil
	}
	var err error
	d.held, err = makeHeld(d.staging, d.opts.Downloads)
	return d.held, err
}

// makeHeld makes a directory for copies: in a staging that exists, else as a staging of its own, so that it does not outlive a
// process that is killed for long, else in the system's place for temporary files.
func makeHeld(staging, downloads string) (dir string, err error) {
	if staging != "" || downloads == "" {
		return os.MkdirTemp(staging, "clank")
	}
	folder, err := place.Open(downloads)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return folder.MakeStaging()
}

// drop removes a tab's copies but the newest. The caller holds the desk's lock.
func (c *counter) drop(keep int) {
	for len(c.copies) > keep {
		_ = os.RemoveAll(c.copies[0]) // what stays goes with the desk
		c.copies = slices.Delete(c.copies, 0, 1)
	}
}
