package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// PersonFile is a file that a person uploads during a takeover.
type PersonFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// openChooser is a file chooser waiting for a person.
type openChooser struct {
	frame  *frame.Frame
	node   proto.DOMBackendNodeID
	single bool
}

// AskPerson makes the file choosers that a tab opens wait for [Transfers.GiveFiles], until it is called with ask false.
// Armed files stay armed.
func (d *Transfers) AskPerson(tab *page.Tab, ask bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	c := d.tabTransfersOf(tab)
	c.asksPerson, c.chooser = ask, nil
	c.interceptChoosers(ask || c.armedChooser != nil)
}

// Choosing reports whether a file chooser of the tab waits for a person.
func (d *Transfers) Choosing(tab *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[tab]
	return c != nil && c.chooser != nil
}

var errNoChooser = errors.New("no file chooser is open")

// GiveFiles sets the files of the waiting file chooser; none cancels it.
func (d *Transfers) GiveFiles(ctx context.Context, tab *page.Tab, given []PersonFile) error {
	c, leave, err := d.acquireTab(tab)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer leave()
	d.mu.Lock()
	chooser := c.chooser
	d.mu.Unlock()
	closed := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.chooser == chooser {
			c.chooser = nil
		}
	}
	switch {
	case chooser == nil:
		return errNoChooser
	case len(given) == 0:
		closed()
		return nil
	case chooser.single && len(given) > 1:
		return fault.Invalidf("the page takes one file only, not %d", len(given))
	}
	paths, err := d.keepGiven(c, given)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer closed()
	return fillNode(ctx, chooser.frame, chooser.node, paths)
}

// keepGiven writes the files to disk for a tab.
func (d *Transfers) keepGiven(c *tabTransfers, given []PersonFile) (paths []string, err error) {
	into, err := d.copiesDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(into, "up-")
	if err != nil {
		return nil, err
	}
	left := d.opts.MaxUpload
	for _, f := range given {
		name := filepath.Base(f.Name)
		dots := name == "." || name == ".." || name == string(filepath.Separator)
		left -= int64(len(f.Data))
		switch {
		case left < 0:
			err = errUploadTooLarge
		case dots || !utf8.ValidString(name) || len(name) > 255:
			err = fault.Invalidf("%q is not a valid file name", f.Name)
		default:
			to := placeCopy(dir, name, paths)
			paths = append(paths, to)
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, f.Data, 0o600))
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.copyDirs = append(c.copyDirs, dir)
	c.dropCopies(maxKeptCopies)
	return paths, nil
}

// Downloading reports whether the tab has a download in progress.
func (d *Transfers) Downloading(tab *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[tab]
	return c != nil && slices.ContainsFunc(c.downloads, func(item *downloadItem) bool { return !item.ended })
}
