package transfer

import "clank/browsermgr/page"

// Waiting says whether somebody waits for the tab's next download.
func (d *Desk) Waiting(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.waiter != nil
}

// Armed says whether files are armed for the tab's next file chooser.
func (d *Desk) Armed(t *page.Tab) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	return c != nil && c.arming != nil
}
