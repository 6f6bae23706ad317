package browsermgr

import (
	"context"

	"clank/browsermgr/page"
	"clank/sessions"
)

// readTab runs something that only reads the current tab.
func (w *Window) readTab(ctx context.Context, read func(tab *page.Tab) error) error {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return err
	}
	defer u.release()
	return w.explain(ctx, u.browser, read(u.tab))
}

// WithTab runs something with the current tab, which is opened again if its browser has ended.
func (w *Window) WithTab(ctx context.Context, do func(tab *page.Tab) error) error {
	return w.readTab(ctx, do)
}

// Snapshot describes the current page as text with a ref for each element that can be acted on. Interactive lists only
// those.
func (w *Window) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (text string, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) error {
		snapshot, err := tab.Snapshot(ctx, page.SnapshotOptions{Interactive: o.Interactive, After: o.After, MaxChars: o.MaxChars})
		text = snapshot.Text
		return err
	})
	return text, err
}

// Text returns the readable text of the element with that ref, or of the page if ref is empty.
func (w *Window) Text(ctx context.Context, ref string) (text string, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) (err error) {
		text, err = tab.Text(ctx, ref)
		return err
	})
	return text, err
}

// MainFrameText returns the readable text of the page without its frames, in which advertisements change from look to look. It has them if
// the page itself says nothing.
func (w *Window) MainFrameText(ctx context.Context) (text string, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) error {
		r, err := tab.Read(ctx, page.ReadOptions{WithoutFrames: true})
		text = r.Text
		return err
	})
	return text, err
}

// State returns where the window is: the current page, and a line for each tab, the current one's beginning with "*". It asks
// neither the browser nor the page. A window whose browser has ended has no tabs, and the address at which it reopens.
func (w *Window) State(context.Context) (url, title string, tabs []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return "", "", nil, errWindowClosed
	}
	url, title, tabs = w.tabs.State(w.browser != nil && w.browser.isGone())
	return url, title, tabs, nil
}
