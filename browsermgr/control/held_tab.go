package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

// heldTab is a tab used by one request. Other requests may use the same tab.
type heldTab struct {
	// Profile holds the names and turns of the profile's tabs.
	Profile *profileTabs
	// Lease keeps the browser from being stopped as idle.
	Lease *browsermgr.Lease
	// Tab is nil until one is found or opened.
	Tab *page.Tab
	// Names holds the tab's names.
	Names profile.NamedTab
}

// Release releases the browser. The tab stays open.
func (h *heldTab) Release() { h.Lease.Release() }

// URL returns the tab's address.
func (h *heldTab) URL() string { return h.Tab.URL() }

// TargetAnswer returns the answer of an operation on the tab.
func (h *heldTab) TargetAnswer() TargetAnswer {
	return TargetAnswer{OKAnswer: OKAnswer{OK: true}, TargetID: h.Tab.TargetID()}
}

// LocatedAnswer returns the TargetAnswer with the tab's address.
func (h *heldTab) LocatedAnswer() LocatedAnswer {
	return LocatedAnswer{TargetAnswer: h.TargetAnswer(), URL: h.URL()}
}

// MarkUsed makes the tab the one used last.
func (h *heldTab) MarkUsed() { h.Profile.TabNames.MarkUsed(h.Tab.TargetID()) }

// Is reports whether name is one of the tab's names.
func (h *heldTab) Is(name string) bool {
	names, err := h.Profile.TabNames.Resolve(name)
	return err == nil && names.Target == h.Tab.TargetID()
}

func (h *heldTab) find(ctx context.Context, name string) error {
	names, err := pickNamed(name)(h.Profile)
	switch {
	case err != nil && name == "": // no tab is open
		return h.Open(ctx)
	case err != nil:
		return err
	}
	return h.setTab(names)
}

// setTab sets the tab and its names.
func (h *heldTab) setTab(names profile.NamedTab) error {
	if h.Tab = h.Lease.Browser.Tab(names.Target); h.Tab == nil {
		return fmt.Errorf("%w: %s has just been closed", profile.ErrTabNotFound, names.ID)
	}
	h.Names = names
	return nil
}

// Open opens a blank tab. If that fails after the tab was opened, Tab is set all the same; otherwise it stays nil.
func (h *heldTab) Open(ctx context.Context) error {
	tab, err := h.Lease.NewTab(ctx, page.TabOptions{})
	if tab == nil {
		return err
	}
	h.Tab = tab
	h.Refresh()
	return err
}

// Refresh rereads the names.
func (h *heldTab) Refresh() {
	h.Profile.sync(h.Lease.Browser)
	if names, ok := h.Profile.TabNames.Find(h.Tab.TargetID()); ok {
		h.Names = names
	}
}

// Close closes the tab; its names are not passed on.
func (h *heldTab) Close(ctx context.Context) error {
	if err := h.Tab.Close(ctx); err != nil {
		return err
	}
	h.Profile.TabNames.Forget(h.Tab.TargetID())
	return nil
}

// RefusePersonalBrowser returns an error in a person's own browser, for requests with effects beyond the tab. what
// names the request, as in "removing all cookies".
func (h *heldTab) RefusePersonalBrowser(what string) error {
	if !h.Lease.Joined() {
		return nil
	}
	return &StatusError{
		Status: http.StatusNotImplemented, Reason: "existing_session_unsupported",
		Err: fmt.Errorf("%s is not supported for existing-session profiles such as %q: use a profile whose browser is ours",
			what, h.Profile.Name),
	}
}

// browserState is what a client needs to know about a tab to continue.
type browserState struct {
	Dialogs page.Dialogs `json:"dialogs"`
}

// BrowserState returns the tab's dialogs.
func (h *heldTab) BrowserState() *browserState { return &browserState{h.Tab.Dialogs()} }

// isPendingDialog reports whether an error means that a dialog must be answered first.
func isPendingDialog(err error) bool {
	_, ok := errors.AsType[*page.DialogError](err)
	return ok
}

const (
	// turnTimeout bounds waiting for other requests that act in the same tab.
	turnTimeout = 3 * time.Minute
	// stopScriptsTimeout bounds terminating the scripts of an abandoned request.
	stopScriptsTimeout = 1500 * time.Millisecond
)

var errTabBusy = errors.New("other requests have kept the tab busy for three minutes")

// Exclusively runs do when no other request acts in the tab. If the request is abandoned meanwhile, its scripts are
// terminated before the next request runs; the tab stays open.
func (h *heldTab) Exclusively(ctx context.Context, do func() error) error {
	h.Profile.mu.Lock()
	turn := h.Profile.turnOf(h.Tab.TargetID())
	h.Profile.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.Tab.Done():
		return h.Tab.Err()
	case <-time.After(turnTimeout):
		return fmt.Errorf("wait for tab %s: %w", h.Names.Name(), errTabBusy)
	}
	defer func() { <-turn }()
	err := do()
	if ctx.Err() != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopScriptsTimeout)
		defer cancel()
		err = errors.Join(err, h.Tab.Stop(after))
	}
	return err
}

// findObserver returns the observer of type T on the tab's connection.
func findObserver[T page.Observer](h *heldTab) (found T, ok bool) {
	for _, o := range h.Lease.Observers {
		if found, ok = o.(T); ok {
			return found, true
		}
	}
	return found, false
}

// requireObserver returns the observer of type T, or an error if there is none. what names the feature in the message,
// as in "recording".
func requireObserver[T page.Observer](h *heldTab, what string) (T, error) {
	found, ok := findObserver[T](h)
	if !ok {
		return found, &StatusError{
			Status: http.StatusNotImplemented, Err: fmt.Errorf("%s is not available in the browser of profile %q", what,
				h.Profile.Name),
		}
	}
	return found, nil
}

// withObserver runs work with the request's tab and the observer of type T. For requests that read or change the page's
// data, permitted is set, which checks the page's address against the policy.
func withObserver[T page.Observer, R any](
	ctx context.Context, c *Call, permitted bool, what string, work func(*heldTab, T) (R, error),
) (out R, err error) {
	find := c.TargetTab
	if permitted {
		find = c.PermittedTab
	}
	h, err := find(ctx)
	if err != nil {
		return out, err
	}
	defer h.Release()
	found, err := requireObserver[T](h, what)
	if err != nil {
		return out, err
	}
	return work(h, found)
}
