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

// Resting reports whether nothing is under way that was given up and that the browser has not let go of.
func (d *Desk) Resting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range d.items {
		if it.ended {
			return false
		}
	}
	return true
}
