package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/tabname"
)

func tabRoutes() []route {
	return []route{
		on("GET", "/tabs", "Lists the tabs. Starts no browser.", listTabs),
		on("POST", "/tabs/open", "Opens a tab, and starts the browser if it does not run.", openTab).
			takes(need("url", "string", "address to open"), may("label", "string", "name to give to the tab")),
		on("POST", "/tabs/focus", "Brings a tab to the front and makes it the one used last.", focusTab).
			takes(need("targetId", "string", targetField.about)),
		on("DELETE", "/tabs/{targetId}", "Closes a tab.", closeTab).
			params(oneOf("targetIdMode", "raw: the path is Chromium's id and nothing else", "raw")),
		on("POST", "/tabs/action", "Works the list of tabs by position.", tabAction).takes(
			field{name: "action", kind: "string", about: "what to do", required: true, enum: tabActions},
			may("index", "integer", "position in the list, from 0"), targetField,
			may("label", "string", "name to give to the tab"),
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

// done is the answer of what has no more to say; other answers begin with it.
type done struct {
	OK bool `json:"ok"`
}

// targetAnswer is the answer of what happened to a tab.
type targetAnswer struct {
	done

	TargetID string `json:"targetId"`
}

func (h *held) answer() targetAnswer { return targetAnswer{done{true}, h.tab.TargetID()} }

type tabList struct {
	done

	Running bool      `json:"running"`
	Tabs    []tabJSON `json:"tabs"`
}

func listTabs(ctx context.Context, c *call) (tabList, error) {
	d, use, err := c.browser(ctx, false)
	if errors.Is(err, browsermgr.ErrNotRunning) {
		return tabList{done{true}, false, []tabJSON{}}, nil
	}
	if err != nil {
		return tabList{}, err
	}
	defer use.Release()
	return tabList{done{true}, true, c.describe(ctx, d, use, d.book.Tabs())}, nil
}

// listingLimit bounds what the policy may take to judge the tabs of a list.
const listingLimit = time.Second

// describe says what clients may know of the tabs. Addresses that the policy refuses are kept from them.
func (c *call) describe(ctx context.Context, d *desk, use *browsermgr.Use, tabs []tabname.Tab) []tabJSON {
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
			err := c.server.allow(ctx, d.name, t.URL)
			switch {
			case isBlocked(err):
				out[i].URL, out[i].URLUnavailableReason = "", navigationBlocked
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

func openTab(ctx context.Context, c *call) (openedTab, error) {
	url, label := c.body.Required("url"), c.body.String("label")
	if err := c.err(); err != nil {
		return openedTab{}, err
	}
	if label != "" {
		if err := tabname.CheckLabel(label); err != nil {
			return openedTab{}, err
		}
	}
	h, err := c.open(ctx, url, label)
	if err != nil {
		return openedTab{}, err
	}
	defer h.release()
	return openedTab{c.describe(ctx, h.desk, h.use, []tabname.Tab{h.names})[0], h.desk.name}, nil
}

// open opens a tab for the caller, who releases it. A page that did not load leaves no tab behind.
func (c *call) open(ctx context.Context, url, label string) (*held, error) {
	profile, err := c.server.Manager.FindProfile(c.profile())
	if err != nil {
		return nil, err
	}
	if url, err = c.server.checkAddress(ctx, profile.Name(), url); err != nil {
		return nil, err
	}
	d, use, err := c.browser(ctx, true)
	if err != nil {
		return nil, err
	}
	h := &held{desk: d, use: use}
	if err := c.load(ctx, h, url); err != nil {
		if h.tab != nil {
			err = errors.Join(err, h.close(context.WithoutCancel(ctx)))
		}
		use.Release()
		return nil, err
	}
	h.refresh()
	if label != "" {
		h.names, err = d.book.Label(h.tab.TargetID(), label)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	d.book.Choose(h.tab.TargetID())
	return h, nil
}

// load opens a blank tab and takes it to the address.
func (c *call) load(ctx context.Context, h *held, url string) error {
	if err := h.open(ctx, ""); err != nil || url == "about:blank" {
		return err
	}
	return c.server.watched(ctx, h, func() error {
		_, _, err := h.navigate(ctx, url, navigateLimit)
		return err
	})
}

func focusTab(ctx context.Context, c *call) (targetAnswer, error) {
	name := c.body.Required("targetId")
	if err := c.err(); err != nil {
		return targetAnswer{}, err
	}
	return c.focus(ctx, func(d *desk) (tabname.Tab, error) { return d.book.Resolve(name) })
}

// focus brings the tab that pick finds to the front.
func (c *call) focus(ctx context.Context, pick func(*desk) (tabname.Tab, error)) (targetAnswer, error) {
	h, err := c.existing(ctx, pick)
	if err != nil {
		return targetAnswer{}, err
	}
	defer h.release()
	if why := h.desk.quarantined(h.tab.TargetID()); why != nil {
		return targetAnswer{}, quarantined(h.names.Name(), why)
	}
	if err := c.server.permitted(ctx, h); err != nil {
		return targetAnswer{}, err
	}
	if err := h.tab.Activate(ctx); err != nil {
		return targetAnswer{}, err
	}
	h.desk.book.Choose(h.tab.TargetID())
	return h.answer(), nil
}

// existing holds the tab that pick finds in a browser that runs. The caller releases it.
func (c *call) existing(ctx context.Context, pick func(*desk) (tabname.Tab, error)) (*held, error) {
	d, use, err := c.running(ctx)
	if err != nil {
		return nil, err
	}
	h := &held{desk: d, use: use}
	names, err := pick(d)
	if err == nil {
		err = h.take(names)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// named picks a tab by its name, or the one used last.
func named(name string) func(*desk) (tabname.Tab, error) {
	return func(d *desk) (tabname.Tab, error) {
		if name != "" {
			return d.book.Resolve(name)
		}
		if names, ok := d.book.Default(); ok {
			return names, nil
		}
		return tabname.Tab{}, fmt.Errorf("%w: none is open", tabname.ErrNotFound)
	}
}

func closeTab(ctx context.Context, c *call) (targetAnswer, error) {
	name := c.r.PathValue("targetId")
	mode := c.query.String("targetIdMode")
	if mode != "" && mode != "raw" {
		return targetAnswer{}, fault.Invalidf("targetIdMode must be raw")
	}
	return c.closeTab(ctx, func(d *desk) (tabname.Tab, error) {
		if mode == "" {
			return d.book.Resolve(name)
		}
		if names, ok := d.book.Find(name); ok {
			return names, nil
		}
		return tabname.Tab{}, fmt.Errorf("%w: no tab has the raw targetId %q", tabname.ErrNotFound, name)
	})
}

func (c *call) closeTab(ctx context.Context, pick func(*desk) (tabname.Tab, error)) (targetAnswer, error) {
	h, err := c.existing(ctx, pick)
	if err != nil {
		return targetAnswer{}, err
	}
	defer h.release()
	return h.answer(), h.close(ctx)
}
