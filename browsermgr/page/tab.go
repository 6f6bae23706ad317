package page

import "context"

// Tab is one page of the browser. It is safe for concurrent use and does one action at a time: others wait their turn for
// as long as their context allows. Its identity survives navigation and crashes.
type Tab struct {
}

// ID is short and stable for the life of the connection: t1, t2, … Numbers are never reused.
func (t *Tab) ID() string { return "" }

// TargetID is Chromium's own id of the tab.
func (t *Tab) TargetID() string { return "" }

// ContextID is the browser context the tab belongs to.
func (t *Tab) ContextID() string { return "" }

// Opener is the tab whose page opened this one, or nil.
func (t *Tab) Opener() *Tab { return nil }

// URL is the last address Chromium reported. The page is not asked.
func (t *Tab) URL() string { return "" }

// Title is the last title Chromium reported. The page is not asked.
func (t *Tab) Title() string { return "" }

// Err is nil while the tab can be used; otherwise it wraps [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone].
func (t *Tab) Err() error { return nil }

// Done is closed when the tab is closed or the connection is lost.
func (t *Tab) Done() <-chan struct{} { return nil }

// Navigate loads an address: http, https or about:blank; a bare host gets https://, a loopback one http://. It returns
// when the document is parsed (DOMContentLoaded), within 20 s unless ctx is shorter. An HTTP error status is reported in
// Result.Status and is not an error. When ctx ends, loading is stopped.
func (t *Tab) Navigate(ctx context.Context, url string) (Result, error) {
	return Result{}, ErrTabGone
}

// Back goes one step back in the tab's history. It is an error if there is none.
func (t *Tab) Back(ctx context.Context) (Result, error) { return Result{}, ErrTabGone }

// Forward goes one step forward in the tab's history. It is an error if there is none.
func (t *Tab) Forward(ctx context.Context) (Result, error) { return Result{}, ErrTabGone }

// Reload loads the page again.
func (t *Tab) Reload(ctx context.Context) (Result, error) { return Result{}, ErrTabGone }

// Stop stops loading and ends running scripts, also an endless loop. It does not wait for a running action.
func (t *Tab) Stop(ctx context.Context) error { return ErrTabGone }

// Activate brings the tab to the front of its window.
func (t *Tab) Activate(ctx context.Context) error { return ErrTabGone }

// Close closes the tab and returns when it is gone. Dialogs, beforeunload included, do not keep it open.
func (t *Tab) Close(ctx context.Context) error { return ErrTabGone }
