package browsermgr

import "clank/browsermgr/page"

// LiveState is the state of a window that its picture does not show.
type LiveState struct {
	URL     string
	Title   string
	Loading bool
	Tabs    []LiveTab
	Dialog  *page.Dialog // the one open longest
	Chooser bool         // a file chooser waits for the person in control of the window
}

// LiveTab describes a tab of the window.
type LiveTab struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

// Tabs lists the tabs of a profile's browser by their windows' keys; "" holds those of no window. It does not query the
// browser.
func (m *Manager) Tabs(name string) map[string][]LiveTab {
	p, err := m.FindProfile(name)
	if err != nil {
		return nil
	}
	b := p.state.current()
	if b == nil || !b.acquire() {
		return nil
	}
	defer b.uses.ReleaseUnused()
	tabs := map[string][]LiveTab{}
	for _, tab := range b.conn.Tabs() {
		key, _ := m.TabOwner(tab.TargetID())
		tabs[key] = append(tabs[key], LiveTab{ID: tab.ID(), Title: tab.Title(), URL: tab.URL()})
	}
	return tabs
}

// Live returns the window's current state. It queries neither the browser nor the page.
func (w *Window) Live() LiveState {
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.tabs.Current()
	if w.browser == nil || w.browser.isGone() || current == nil {
		return LiveState{URL: w.tabs.LastURL(), Tabs: []LiveTab{}}
	}
	s := LiveState{URL: current.URL(), Title: current.Title(), Loading: !current.Loaded()}
	if open := current.Dialogs().Pending; len(open) > 0 {
		s.Dialog = &open[0]
	}
	if transfers := w.browser.transfers(); transfers != nil {
		s.Chooser = w.takeover != nil && transfers.Choosing(current)
	}
	for _, tab := range w.tabs.All() {
		s.Tabs = append(s.Tabs, LiveTab{ID: tab.ID(), Title: tab.Title(), URL: tab.URL(), Current: tab == current})
	}
	return s
}

// Observed returns the current tab and its browser's observers, or nil if no page is open. It opens nothing.
func (w *Window) Observed() (*page.Tab, []page.Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.tabs.Current()
	if w.browser == nil || w.browser.isGone() || current == nil {
		return nil, nil
	}
	return current, w.browser.observers
}
