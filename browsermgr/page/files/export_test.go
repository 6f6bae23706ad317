package files

import "clank/browsermgr/page"

// HasWaiter says whether somebody waits for the tab's next download.
func (d *Transfers) HasWaiter(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.waiter != nil
}

// ChooserArmed says whether files are armed for the tab's next file chooser.
func (d *Transfers) ChooserArmed(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.armedChooser != nil
}

// IsIdle reports whether nothing is under way that was given up and that the browser has not let go of.
func (d *Transfers) IsIdle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range d.downloads {
		if it.ended {
			return false
		}
	}
	return true
}
