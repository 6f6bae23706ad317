package files

import "clank/browsermgr/page"

// HasWaiter reports whether the tab's next download has a waiter.
func (d *Transfers) HasWaiter(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.waiter != nil
}

// ChooserArmed reports whether files are armed for the tab's next file chooser.
func (d *Transfers) ChooserArmed(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.armedChooser != nil
}

// IsIdle reports whether the browser has released every cancelled download.
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
