package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"clank/browsermgr"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/page"
	"clank/browsermgr/tabname"
)

// Held is a tab that a request works with. It is the request's alone, though others may hold the same tab.
type Held struct {
	// Desk is that of the tab's profile.
	Desk *Desk
	// Use keeps the browser from being ended while nobody uses it.
	Use *browsermgr.Use
	// Tab is nil until one is found or opened.
	Tab *page.Tab
	// Names are the tab's.
	Names tabname.Tab
}

// Release gives back the use of the browser. The tab stays.
func (h *Held) Release() { h.Use.Release() }

// URL is the tab's address as clients may see it.
func (h *Held) URL() string { return h.Tab.URL() }

// Answer says which tab it was that something happened to.
func (h *Held) Answer() reply.Target {
	return reply.Target{Done: reply.Done{OK: true}, TargetID: h.Tab.TargetID()}
}

// Located is Answer with the tab's address.
func (h *Held) Located() reply.Located { return reply.Located{Target: h.Answer(), URL: h.URL()} }

// Choose makes the tab the one used last.
func (h *Held) Choose() { h.Desk.Book.Choose(h.Tab.TargetID()) }

// Is says whether the name is one of the tab's.
func (h *Held) Is(name string) bool {
	names, err := h.Desk.Book.Resolve(name)
	return err == nil && names.Target == h.Tab.TargetID()
}

func (h *Held) find(ctx context.Context, name string) error {
	names, ok := h.Desk.Book.Default()
	if name != "" {
		var err error
		if names, err = h.Desk.Book.Resolve(name); err != nil {
			return err
		}
	} else if !ok {
		return h.Open(ctx)
	}
	return h.take(names)
}

// take holds the tab with these names.
func (h *Held) take(names tabname.Tab) error {
	if h.Tab = h.Use.Browser.Tab(names.Target); h.Tab == nil {
		return fmt.Errorf("%w: %s has just been closed", tabname.ErrNotFound, names.ID)
	}
	h.Names = names
	h.Use.Touch(h.Tab)
	return nil
}

// Open opens a blank tab and holds it. If that fails late it is held all the same; otherwise Tab stays nil.
func (h *Held) Open(ctx context.Context) error {
	tab, err := h.Use.NewTab(ctx, page.TabOptions{}, "")
	if tab == nil {
		return err
	}
	h.Tab = tab
	h.Refresh()
	return err
}

// Refresh reads the names anew.
func (h *Held) Refresh() {
	h.Desk.sync(h.Use.Browser)
	if names, ok := h.Desk.Book.Find(h.Tab.TargetID()); ok {
		h.Names = names
	}
}

// Close closes the tab, whose names nobody takes over.
func (h *Held) Close(ctx context.Context) error {
	if err := h.Tab.Close(ctx); err != nil {
		return err
	}
	h.Desk.Book.Forget(h.Tab.TargetID())
	return nil
}

// Ours refuses what reaches further than the tab, into what a person does in the same browser. what is what was asked
// for, as in "removing all cookies".
func (h *Held) Ours(what string) error {
	if !h.Use.Joined() {
		return nil
	}
	return &reply.StatusError{
		Status: http.StatusNotImplemented, Reason: "existing_session_unsupported",
		Err: fmt.Errorf("%s is not supported for existing-session profiles such as %q: use a profile whose browser is ours", what, h.Desk.Name),
	}
}

// State is what a client has to know of a tab before it can go on.
type State struct {
	Dialogs page.Dialogs `json:"dialogs"`
}

// State tells which dialogs the tab has.
func (h *Held) State() *State { return &State{h.Tab.Dialogs()} }

// PendingDialog says whether an error means that a dialog has to be answered first.
func PendingDialog(err error) bool {
	_, ok := errors.AsType[*page.DialogError](err)
	return ok
}
