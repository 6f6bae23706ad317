package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
)

// LiveState is what a person who watches a window sees beside the picture.
type LiveState struct {
	URL     string
	Title   string
	Loading bool
	Tabs    []LiveTab
	Dialog  *page.Dialog // the oldest that is open
	Chooser bool         // files are asked of the person who works the window
}

// LiveTab is a tab of the window.
type LiveTab struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

// Live returns what is to be seen of the window now. It asks neither the browser nor the page.
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
		s.Chooser = w.hands != nil && transfers.Choosing(current)
	}
	for _, tab := range w.tabs.All() {
		s.Tabs = append(s.Tabs, LiveTab{ID: tab.ID(), Title: tab.Title(), URL: tab.URL(), Current: tab == current})
	}
	return s
}

// Observed returns the current tab and what follows the tabs of its browser, or nil if no page is open. It opens nothing.
func (w *Window) Observed() (*page.Tab, []page.Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.tabs.Current()
	if w.browser == nil || w.browser.isGone() || current == nil {
		return nil, nil
	}
	return current, w.browser.observers
}

// Watch begins to show the current tab to a person; the caller closes the Viewer. It opens nothing: a window without an
// open page is an error. The id is that of the tab, which stays the one that is shown.
func (w *Window) Watch(ctx context.Context, o screenshot.WatchOptions) (v *screenshot.Viewer, id string, err error) {
	w.mu.Lock()
	b, tab := w.browser, w.tabs.Current()
	w.mu.Unlock()
	if b == nil || tab == nil || !b.acquire() {
		return nil, "", errNoPage
	}
	defer b.release()
	if v, err = b.casts.Watch(ctx, tab, o); err != nil {
		return nil, "", w.explain(ctx, b, fmt.Errorf("watch the page: %w", err))
	}
	return v, tab.ID(), nil
}
