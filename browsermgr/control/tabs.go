package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/control/action"
	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/tabname"
)

func tabRoutes() []route.Route {
	return []route.Route{
		route.On("GET", "/tabs", "Lists the tabs. Starts no browser.", listTabs),
		route.On("POST", "/tabs/open", "Opens a tab, and starts the browser if it does not run.", openTab).
			Takes(route.Need("url", "string", "address to open"), route.May("label", "string", "name to give to the tab")),
		route.On("POST", "/tabs/focus", "Brings a tab to the front and makes it the one used last.", focusTab).
			Takes(route.Need("targetId", "string", route.Tab().About)),
		route.On("DELETE", "/tabs/{targetId}", "Closes a tab.", closeTab).
			Params(route.OneOf("targetIdMode", "raw: the path is Chromium's id and nothing else", "raw")),
		route.On("POST", "/tabs/action", "Works the list of tabs by position.", tabAction).Takes(
			route.Field{Name: "action", Kind: "string", About: "what to do", Required: true, Enum: tabActions},
			route.May("index", "integer", "position in the list, from 0"), route.Tab(),
			route.May("label", "string", "name to give to the tab"),
		),
	}
}

// tabJSON is a tab as clients see it.
type tabJSON struct {
	SuggestedTargetID    string `json:"suggestedTargetId"`
	TabID                string `json:"tabId"`
	Label                string `json:"label,omitempty"`
	TargetID             string `json:"targetId"`
	Title                string `json:"title"`
	URL                  string `json:"url"`
	URLUnavailableReason string `json:"urlUnavailableReason,omitempty"`
	WebSocketURL         string `json:"wsUrl,omitempty"`
	Type                 string `json:"type"`
}

type tabList struct {
	reply.Done

	Running bool      `json:"running"`
	Tabs    []tabJSON `json:"tabs"`
}

func listTabs(ctx context.Context, c *route.Call) (tabList, error) {
	d, use, err := c.Browser(ctx, false)
	if errors.Is(err, browsermgr.ErrNotRunning) {
		return tabList{reply.Done{OK: true}, false, []tabJSON{}}, nil
	}
	if err != nil {
		return tabList{}, err
	}
	defer use.Release()
	return tabList{reply.Done{OK: true}, true, describe(ctx, d, use, d.Book.Tabs())}, nil
}

// listingLimit bounds what the policy may take to judge the tabs of a list.
const listingLimit = time.Second

// describe says what clients may know of the tabs. Addresses that the policy refuses are kept from them.
func describe(ctx context.Context, d *desk.Desk, use *browsermgr.Use, tabs []tabname.Tab) []tabJSON {
	ctx, cancel := context.WithTimeout(ctx, listingLimit)
	defer cancel()
	out := make([]tabJSON, len(tabs))
	var wg sync.WaitGroup
	for i, t := range tabs {
		out[i] = tabJSON{
			SuggestedTargetID: t.Name(), TabID: t.ID, Label: t.Label, TargetID: t.Target, Title: t.Title, URL: t.URL, Type: "page",
			WebSocketURL: use.WebSocketURL(t.Target),
		}
		wg.Go(func() {
			err := d.Allow(ctx, t.URL)
			switch {
			case desk.IsBlocked(err):
				out[i].URL, out[i].URLUnavailableReason = "", desk.NavigationBlocked
			case err != nil:
				out[i].URL, out[i].URLUnavailableReason = "", "navigation_check_failed"
			}
		})
	}
	wg.Wait()
	return out
}

type openedTab struct {
	tabJSON

	ResolvedProfile string `json:"resolvedProfile"`
}

func openTab(ctx context.Context, c *route.Call) (openedTab, error) {
	url, label := c.Body.Required("url"), c.Body.String("label")
	if err := c.Err(); err != nil {
		return openedTab{}, err
	}
	if label != "" {
		if err := tabname.CheckLabel(label); err != nil {
			return openedTab{}, err
		}
	}
	h, err := open(ctx, c, url, label)
	if err != nil {
		return openedTab{}, err
	}
	defer h.Release()
	return openedTab{describe(ctx, h.Desk, h.Use, []tabname.Tab{h.Names})[0], h.Desk.Name}, nil
}

// open opens a tab for the caller, who releases it. A page that did not load leaves no tab behind.
func open(ctx context.Context, c *route.Call, url, label string) (*desk.Held, error) {
	profile, err := c.Desks.Manager.FindProfile(c.Profile())
	if err != nil {
		return nil, err
	}
	if url, err = c.Desks.CheckAddress(ctx, profile.Name(), url); err != nil {
		return nil, err
	}
	if err := c.Asker.Go(ctx, profile.Name(), nil, url); err != nil {
		return nil, err
	}
	d, use, err := c.Browser(ctx, true)
	if err != nil {
		return nil, err
	}
	h := &desk.Held{Desk: d, Use: use}
	if err := load(ctx, h, url); err != nil {
		if h.Tab != nil {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		}
		use.Release()
		return nil, err
	}
	h.Refresh()
	if label != "" {
		h.Names, err = d.Book.Label(h.Tab.TargetID(), label)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	h.Choose()
	return h, nil
}

// load opens a blank tab and takes it to the address.
func load(ctx context.Context, h *desk.Held, url string) error {
	if err := h.Open(ctx); err != nil || url == "about:blank" {
		return err
	}
	return h.Watched(ctx, func() error {
		_, _, err := action.Navigate(ctx, h, url, navigateLimit)
		return err
	})
}

func focusTab(ctx context.Context, c *route.Call) (reply.Target, error) {
	name := c.Body.Required("targetId")
	if err := c.Err(); err != nil {
		return reply.Target{}, err
	}
	return focus(ctx, c, desk.Named(name))
}

// focus brings the tab that pick finds to the front.
func focus(ctx context.Context, c *route.Call, pick desk.Pick) (reply.Target, error) {
	h, err := c.Existing(ctx, pick)
	if err != nil {
		return reply.Target{}, err
	}
	defer h.Release()
	if err := h.Quarantined(); err != nil {
		return reply.Target{}, err
	}
	if err := h.Permitted(ctx); err != nil {
		return reply.Target{}, err
	}
	if err := h.Tab.Activate(ctx); err != nil {
		return reply.Target{}, err
	}
	h.Choose()
	return h.Answer(), nil
}

func closeTab(ctx context.Context, c *route.Call) (reply.Target, error) {
	name := c.Request.PathValue("targetId")
	mode := c.Query.String("targetIdMode")
	if mode != "" && mode != "raw" {
		return reply.Target{}, fault.Invalidf("targetIdMode must be raw")
	}
	return closePicked(ctx, c, func(d *desk.Desk) (tabname.Tab, error) {
		if mode == "" {
			return d.Book.Resolve(name)
		}
		if names, ok := d.Book.Find(name); ok {
			return names, nil
		}
		return tabname.Tab{}, fmt.Errorf("%w: no tab has the raw targetId %q", tabname.ErrNotFound, name)
	})
}

func closePicked(ctx context.Context, c *route.Call, pick desk.Pick) (reply.Target, error) {
	h, err := c.Existing(ctx, pick)
	if err != nil {
		return reply.Target{}, err
	}
	defer h.Release()
	return h.Answer(), h.Close(ctx)
}
