package files

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// maxKeptCopies is how many uploads of a tab are kept for it: a page reads its files when it likes.
const maxKeptCopies = 20

// copyUploads copies files for a tab, so that the page gets what was checked. The copies go with the tab, or with the desk.
func (d *Transfers) copyUploads(c *tabTransfers, paths []string) ([]string, error) {
	into, err := d.copiesDir()
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	dir, files, err := d.opts.Uploads.Copy(paths, into, d.opts.MaxUpload)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.copyDirs = append(c.copyDirs, dir)
	c.dropCopies(maxKeptCopies)
	return files, nil
}

// copiesDir returns the directory for copies; it is made at first need.
func (d *Transfers) copiesDir() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return "", ErrClosed
	}
	if d.copiesPath != "" {
		return d.copiesPath, nil
	}
	var err error
	d.copiesPath, err = makeCopiesDir(d.staging, d.opts.Downloads)
	return d.copiesPath, err
}

// makeCopiesDir makes a directory for copies: in a staging that exists, else as a staging of its own, so that it does not outlive a
// process that is killed for long, else in the system's place for temporary files.
func makeCopiesDir(staging, downloads string) (dir string, err error) {
	if staging != "" || downloads == "" {
		return os.MkdirTemp(staging, "clank")
	}
	folder, err := OpenFolder(downloads)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return folder.MakeStaging()
}

// dropCopies removes a tab's copies but the newest. The caller holds the desk's lock.
func (c *tabTransfers) dropCopies(keep int) {
	for len(c.copyDirs) > keep {
		_ = os.RemoveAll(c.copyDirs[0]) // what stays goes with the desk
		c.copyDirs = slices.Delete(c.copyDirs, 0, 1)
	}
}
