package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
)

func tabRoutes() []Route {
	return []Route{
		NewRoute("GET", "/tabs", "Lists the tabs. Starts no browser.", listTabs),
		NewRoute("POST", "/tabs/open", "Opens a tab, and starts the browser if it does not run.", openTab).
			WithBody(RequiredParam("url", "string", "address to open"),
				OptionalParam("label", "string", "name to give to the tab")),
		NewRoute("POST", "/tabs/focus", "Brings a tab to the front and makes it the one used last.", focusTab).
			WithBody(RequiredParam("targetId", "string", tabParam().About)),
		NewRoute("DELETE", "/tabs/{targetId}", "Closes a tab.", closeTab).
			WithQuery(EnumParam("targetIdMode", "raw: the path is Chromium's id and nothing else", "raw")),
		NewRoute("POST", "/tabs/action", "Works the list of tabs by position.", tabAction).WithBody(
			Param{Name: "action", Kind: "string", About: "what to do", Required: true, Enum: tabActions},
			OptionalParam("index", "integer", "position in the list, from 0"), tabParam(),
			OptionalParam("label", "string", "name to give to the tab"),
		),
	}
}

// Tab is the JSON representation of a tab.
type Tab struct {
	SuggestedTargetID    string `json:"suggestedTargetId"`
	TabID                string `json:"tabId"`
	Label                string `json:"label,omitempty"`
	TargetID             string `json:"targetId"`
	Title                string `json:"title"`
	URL                  string `json:"url"`
	URLUnavailableReason string `json:"urlUnavailableReason,omitempty"`
	WebSocketURL         string `json:"wsUrl,omitempty"`
	Type                 string `json:"type"`
	OpenerID             string `json:"openerId,omitempty"` // target id of the tab whose page opened it
}

// TabList holds the tabs of a profile; a browser that is not running has none.
type TabList struct {
	OKAnswer

	Running bool  `json:"running"`
	Tabs    []Tab `json:"tabs"`
}

func listTabs(ctx context.Context, c *Call) (TabList, error) {
	d, use, err := c.Browser(ctx, false)
	if errors.Is(err, browsermgr.ErrNotRunning) {
		return TabList{OKAnswer{OK: true}, false, []Tab{}}, nil
	}
	if err != nil {
		return TabList{}, err
	}
	defer use.Release()
	return TabList{OKAnswer{OK: true}, true, describeTabs(ctx, d, use, d.TabNames.Tabs())}, nil
}

// listPolicyTimeout bounds checking the tabs of a list against the policy.
const listPolicyTimeout = time.Second

// describeTabs describes tabs for clients, without addresses that the policy refuses.
func describeTabs(ctx context.Context, d *profileTabs, use *browsermgr.Lease, tabs []profile.NamedTab) []Tab {
	ctx, cancel := context.WithTimeout(ctx, listPolicyTimeout)
	defer cancel()
	out := make([]Tab, len(tabs))
	openers := map[string]string{}
	for _, tab := range use.Browser.Tabs() {
		if opener := tab.Opener(); opener != nil {
			openers[tab.TargetID()] = opener.TargetID()
		}
	}
	var wg sync.WaitGroup
	for i, t := range tabs {
		out[i] = Tab{
			SuggestedTargetID: t.Name(), TabID: t.ID, Label: t.Label, TargetID: t.Target, Title: t.Title, URL: t.URL,
			Type:         "page",
			WebSocketURL: use.WebSocketURL(t.Target), OpenerID: openers[t.Target],
		}
		wg.Go(func() {
			err := d.Allow(ctx, t.URL)
			switch tab := use.Browser.Tab(t.Target); {
			case tab != nil && tab.Held():
				out[i].Title, out[i].URL, out[i].URLUnavailableReason = "", "", "held_by_a_person"
			case IsNavigationBlocked(err):
				out[i].URL, out[i].URLUnavailableReason = "", reasonNavigationBlocked
			case err != nil:
				out[i].URL, out[i].URLUnavailableReason = "", "navigation_check_failed"
			}
		})
	}
	wg.Wait()
	return out
}

// OpenedTab is a tab that was opened.
type OpenedTab struct {
	Tab

	ResolvedProfile string   `json:"resolvedProfile"`
	Refused         string   `json:"refused,omitempty"` // a part of the page that was refused, such as a frame
	Notes           []string `json:"notes,omitempty"`   // side effects
}

func openTab(ctx context.Context, c *Call) (OpenedTab, error) {
	url, label := c.Body.Required("url"), c.Body.String("label")
	if err := c.Err(); err != nil {
		return OpenedTab{}, err
	}
	if label != "" {
		if err := profile.CheckTabLabel(label); err != nil {
			return OpenedTab{}, err
		}
	}
	h, opened, err := openNewTab(ctx, c, url, label)
	if err != nil {
		return OpenedTab{}, err
	}
	defer h.Release()
	opened.Tab = describeTabs(ctx, h.Profile, h.Lease, []profile.NamedTab{h.Names})[0]
	return opened, nil
}

// openNewTab opens a tab, on which the caller calls Release. If the page does not load, the tab is closed. The Tab of
// opened is left out.
func openNewTab(ctx context.Context, c *Call, url, label string) (_ *heldTab, opened OpenedTab, _ error) {
	profile, err := c.Tabs.Manager.FindProfile(c.Profile())
	if err != nil {
		return nil, opened, err
	}
	if url, err = c.Tabs.CheckAddress(ctx, profile.Name(), url); err != nil {
		return nil, opened, err
	}
	if err := c.Approver.ApproveNavigation(ctx, profile.Name(), nil, url); err != nil {
		return nil, opened, err
	}
	d, use, err := c.Browser(ctx, true)
	if err != nil {
		return nil, opened, err
	}
	h := &heldTab{Profile: d, Lease: use}
	if opened, err = openAndLoad(ctx, h, url); err != nil {
		if h.Tab != nil {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		}
		use.Release()
		return nil, opened, err
	}
	h.Refresh()
	if label != "" {
		h.Names, err = d.TabNames.Label(h.Tab.TargetID(), label)
	}
	if err != nil {
		use.Release()
		return nil, opened, err
	}
	h.MarkUsed()
	return h, opened, nil
}

// openAndLoad opens a blank tab and navigates it. The Tab of opened is left out.
func openAndLoad(ctx context.Context, h *heldTab, url string) (opened OpenedTab, err error) {
	opened.ResolvedProfile = h.Profile.Name
	if err := h.Open(ctx); err != nil || url == "about:blank" {
		return opened, err
	}
	reached := false
	err = h.WithPolicy(ctx, func() error {
		res, got, err := navigateTab(ctx, h, url, navigateTimeout)
		reached, opened.Notes = loadedDocument(res, err), resultNotes(res, got)
		return err
	})
	opened.Refused, err = refusedPart(ctx, h, err, reached)
	return opened, err
}

func focusTab(ctx context.Context, c *Call) (TargetAnswer, error) {
	name := c.Body.Required("targetId")
	if err := c.Err(); err != nil {
		return TargetAnswer{}, err
	}
	return focusPicked(ctx, c, pickNamed(name))
}

// focusPicked activates the tab that pick finds.
func focusPicked(ctx context.Context, c *Call, pick tabPicker) (TargetAnswer, error) {
	h, err := c.ExistingTab(ctx, pick)
	if err != nil {
		return TargetAnswer{}, err
	}
	defer h.Release()
	if err := h.QuarantineError(); err != nil {
		return TargetAnswer{}, err
	}
	if err := h.CheckPolicy(ctx); err != nil {
		return TargetAnswer{}, err
	}
	if err := h.Tab.Activate(ctx); err != nil {
		return TargetAnswer{}, err
	}
	h.MarkUsed()
	return h.TargetAnswer(), nil
}

func closeTab(ctx context.Context, c *Call) (TargetAnswer, error) {
	name := c.Request.PathValue("targetId")
	mode := c.Query.String("targetIdMode")
	if mode != "" && mode != "raw" {
		return TargetAnswer{}, fault.Invalidf("targetIdMode must be raw")
	}
	return closePicked(ctx, c, func(d *profileTabs) (profile.NamedTab, error) {
		if mode == "" {
			return d.TabNames.Resolve(name)
		}
		if names, ok := d.TabNames.Find(name); ok {
			return names, nil
		}
		return profile.NamedTab{}, fmt.Errorf("%w: no tab has the raw targetId %q", profile.ErrTabNotFound, name)
	})
}

func closePicked(ctx context.Context, c *Call, pick tabPicker) (TargetAnswer, error) {
	h, err := c.ExistingTab(ctx, pick)
	if err != nil {
		return TargetAnswer{}, err
	}
	defer h.Release()
	return h.TargetAnswer(), h.Close(ctx)
}

var tabActions = []string{"list", "new", "label", "close", "select"}

// actionAnswer has different fields for each action: tabs for list, tab for new and label, targetId for close and
// select.
type actionAnswer struct {
	OKAnswer

	Running  *bool  `json:"running,omitempty"`
	Tabs     *[]Tab `json:"tabs,omitempty"`
	Tab      *Tab   `json:"tab,omitempty"`
	TargetID string `json:"targetId,omitempty"`
}

func tabAction(ctx context.Context, c *Call) (actionAnswer, error) {
	action := c.Body.Required("action")
	index, given := c.Body.NonNegative("index")
	label := c.Body.String("label")
	name := c.Body.String("targetId")
	if label != "" {
		if err := profile.CheckTabLabel(label); err != nil {
			c.Body.Fail(err)
		}
	}
	if err := c.Err(); err != nil {
		return actionAnswer{}, err
	}
	switch action {
	case "list":
		list, err := listTabs(ctx, c)
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, Running: &list.Running, Tabs: &list.Tabs}, err
	case "new":
		h, _, err := openNewTab(ctx, c, "about:blank", label)
		if err != nil {
			return actionAnswer{}, err
		}
		defer h.Release()
		return tabAnswer(ctx, h), nil
	case "label":
		return labelTab(ctx, c, name, label)
	case "close":
		closed, err := closePicked(ctx, c, pickIndex(index))
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, TargetID: closed.TargetID}, err
	case "select":
		if !given {
			return actionAnswer{}, fault.Invalidf("index is required")
		}
		chosen, err := focusPicked(ctx, c, pickIndex(index))
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, TargetID: chosen.TargetID}, err
	}
	return actionAnswer{}, &StatusError{
		Status: http.StatusBadRequest,
		Err:    fmt.Errorf("unknown tab action %q: use list, new, label, close or select", action),
	}
}

func labelTab(ctx context.Context, c *Call, name, label string) (actionAnswer, error) {
	required := newFields(map[string]any{"targetId": name, "label": label})
	required.Required("targetId")
	required.Required("label")
	if err := required.Err(); err != nil {
		return actionAnswer{}, err
	}
	h, err := c.ExistingTab(ctx, pickNamed(name))
	if err != nil {
		return actionAnswer{}, err
	}
	defer h.Release()
	if h.Names, err = h.Profile.TabNames.Label(h.Tab.TargetID(), label); err != nil {
		return actionAnswer{}, err
	}
	return tabAnswer(ctx, h), nil
}

func tabAnswer(ctx context.Context, h *heldTab) actionAnswer {
	return actionAnswer{
		OKAnswer: OKAnswer{OK: true},
		Tab:      &describeTabs(ctx, h.Profile, h.Lease, []profile.NamedTab{h.Names})[0],
	}
}

// pickIndex picks a tab by its index in the list.
func pickIndex(index int) tabPicker {
	return func(d *profileTabs) (profile.NamedTab, error) {
		tabs := d.TabNames.Tabs()
		if index >= len(tabs) {
			return profile.NamedTab{}, fmt.Errorf("%w: there is no tab number %d; %d are open",
				profile.ErrTabNotFound, index+1, len(tabs))
		}
		return tabs[index], nil
	}
}
