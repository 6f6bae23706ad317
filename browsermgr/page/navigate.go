package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	navigateLimit = 20 * time.Second
	// loadGrace is how long a navigation waits for subresources once the document is parsed.
	loadGrace = 300 * time.Millisecond
	// errorPageLimit bounds the wait for Chromium's error page, for which it may start a process.
	errorPageLimit = 10 * time.Second
)

// ErrDownload is returned if an address leads to a download; the tab keeps its page.
var ErrDownload = errors.New("the address is a download, not a page")

// IsErrorPage reports whether url is the address of the page that Chromium shows in place of one that did not load.
func IsErrorPage(url string) bool { return strings.HasPrefix(url, "chrome-error:") }

// Navigate calls [Tab.NavigateWithin] with a limit of 20 s.
func (t *Tab) Navigate(ctx context.Context, url string) (Result, error) {
	return t.NavigateWithin(ctx, url, 0)
}

// NavigateWithin loads an address, which [address.Parse] parses: http, https or about:blank. It returns when the
// document is parsed (DOMContentLoaded), within limit (0 means 20 s) and until ctx ends, which stops loading. An HTTP
// error status is reported in Result.Status and is not an error; a download is an error that wraps [ErrDownload]. A
// crashed tab is revived. A beforeunload dialog is accepted.
func (t *Tab) NavigateWithin(ctx context.Context, url string, limit time.Duration) (Result, error) {
	target, err := address.Parse(url)
	if err != nil {
		return Result{}, err
	}
	limit = cmp.Or(limit, navigateLimit)
	return t.runNavigation(ctx, "navigate "+target, limit,
		func(ctx context.Context, f *frame.Frame, before actionBaseline) error {
			var res struct {
				LoaderID   string `json:"loaderId"`
				ErrorText  string `json:"errorText"`
				IsDownload bool   `json:"isDownload"`
			}
			err := f.BeginWithin(time.Hour, proto.PageNavigate{URL: target}).Wait(ctx, &res)
			switch {
			case err != nil:
				return err
			case res.IsDownload:
				return fmt.Errorf("load %s: %w", target, ErrDownload)
			case res.ErrorText != "":
				if res.ErrorText != "net::ERR_ABORTED" {
					// Chromium replaces the page with its error page, and loses commands sent meanwhile.
					_ = t.waitUntilWithin(ctx, errorPageLimit, func() bool { return t.loadState.Documents != before.Documents })
				}
				return address.NewNetError(target, res.ErrorText)
			case res.LoaderID == "":
				return t.waitUntilWithin(ctx, time.Second, func() bool { return t.loadState.SameDocument != before.SameDocument })
			}
			return t.waitUntil(ctx, func() bool { return t.loadState.Documents != before.Documents })
		})
}

// Reload loads the page again.
func (t *Tab) Reload(ctx context.Context) (Result, error) {
	return t.runNavigation(ctx, "reload", navigateLimit,
		func(ctx context.Context, f *frame.Frame, before actionBaseline) error {
			if err := f.Do(ctx, proto.PageReload{}); err != nil {
				return err
			}
			err := t.waitUntil(ctx, func() bool { return t.loadState.Documents != before.Documents })
			return cmp.Or(err, t.checkLoaded())
		})
}

// checkLoaded fails if the tab shows Chromium's error page.
func (t *Tab) checkLoaded() error {
	if IsErrorPage(t.URL()) {
		return errors.New("the page did not load, so that the browser shows its own error page: try again later, or " +
			"navigate to another address")
	}
	return nil
}

// Back goes one step back in the tab's history. It fails if there is none.
func (t *Tab) Back(ctx context.Context) (Result, error) { return t.goInHistory(ctx, "back", -1) }

// Forward goes one step forward in the tab's history. It fails if there is none.
func (t *Tab) Forward(ctx context.Context) (Result, error) { return t.goInHistory(ctx, "forward", 1) }

func (t *Tab) goInHistory(ctx context.Context, word string, by int) (Result, error) {
	return t.runNavigation(ctx, "go "+word, navigateLimit,
		func(ctx context.Context, f *frame.Frame, before actionBaseline) error {
			history, err := cdp.Ask[proto.PageGetNavigationHistoryResult](ctx, f.Session, proto.PageGetNavigationHistory{})
			if err != nil {
				return err
			}
			to := history.CurrentIndex + by
			if to < 0 || to >= len(history.Entries) {
				return fmt.Errorf("there is no page to go %s to", word)
			}
			if err := f.Do(ctx, proto.PageNavigateToHistoryEntry{EntryID: history.Entries[to].ID}); err != nil {
				return err
			}
			err = t.waitUntil(ctx, func() bool {
				return t.loadState.Documents != before.Documents || t.loadState.SameDocument != before.SameDocument
			})
			return cmp.Or(err, t.checkLoaded())
		})
}

func (t *Tab) documentCount() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loadState.Documents
}

// AwaitRequested waits, for at most d, until the navigation that the page has requested, if any, has taken place or was
// given up.
func (t *Tab) AwaitRequested(ctx context.Context, d time.Duration) error {
	return t.waitUntilWithin(ctx, d, func() bool { return !t.loadState.Pending })
}

// startNavigation starts a navigation of a tab's main frame.
type startNavigation func(context.Context, *frame.Frame, actionBaseline) error

// runNavigation starts a navigation of the main frame and waits until its document can be read, for at most limit.
func (t *Tab) runNavigation(ctx context.Context, act string, limit time.Duration,
	start startNavigation,
) (res Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", act, err)
		}
	}()
	release, err := t.acquireTurn(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()
	if err := t.clearCrash(); err != nil {
		return Result{}, err
	}
	defer t.beginUnload()()
	before := t.takeBaseline()
	ctx, cancel, err := t.watchContext(ctx, limit, true)
	if err != nil {
		return Result{}, err
	}
	defer cancel()
	err = start(ctx, t.main, before)
	if err == nil {
		err = t.awaitLoaded(ctx, limit)
	}
	res = t.resultSince(before)
	if dialog, ok := errors.AsType[*DialogError](err); ok {
		// The document has arrived; a dialog blocks its scripts.
		res.BlockedByDialog, res.Dialog = true, &dialog.Dialog
		return res, nil
	}
	if err != nil && ctx.Err() != nil {
		t.main.Post(proto.PageStopLoading{})
		over, late := errors.AsType[*fault.TimeLimitError](context.Cause(ctx))
		switch {
		case late && t.documentCount() != before.Documents: // what has arrived can be read
			res.Loading = true
			return res, nil
		case late:
			err = &fault.TimeLimitError{Limit: over.Limit, Unmet: "the server did not answer"}
		}
	}
	return res, err
}

// awaitLoaded waits until the present document is parsed, then briefly until it has loaded, and then for its title.
func (t *Tab) awaitLoaded(ctx context.Context, limit time.Duration) error {
	if err := t.awaitParsed(ctx, limit); err != nil {
		return err
	}
	if err := t.waitUntilWithin(ctx, loadGrace, func() bool { return t.loadState.Loaded }); err != nil {
		return err
	}
	t.awaitTitle(ctx)
	return nil
}

// awaitParsed waits until the present document is parsed, for at most d; what has arrived by then can be read.
func (t *Tab) awaitParsed(ctx context.Context, d time.Duration) error {
	return t.waitUntilWithin(ctx, d, func() bool { return t.loadState.Parsed || t.loadState.Loader == "" })
}
