package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
)

func navigateRoutes() []Route {
	return []Route{NewRoute("POST", "/navigate", "Takes a tab to an address and returns when its document can be read.", serveNavigate).
		WithBody(RequiredParam("url", "string", "http or https address, or about:blank"), tabParam(), timeoutParam())}
}

// navigateTimeout is how long a load may take unless a request says otherwise.
const navigateTimeout = 20 * time.Second

type navigateAnswer struct {
	TargetAnswer

	URL             string          `json:"url"`
	Download        *files.Download `json:"download,omitempty"`
	BlockedByDialog bool            `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState   `json:"browserState,omitempty"`
}

func serveNavigate(ctx context.Context, c *Call) (navigateAnswer, error) {
	url := c.Body.Required("url")
	limit := c.Timeout(navigateTimeout, time.Second)
	name := c.Body.String("targetId")
	if err := c.Err(); err != nil {
		return navigateAnswer{}, err
	}
	profile, err := c.Tabs.Manager.FindProfile(c.Profile())
	if err != nil {
		return navigateAnswer{}, err
	}
	if url, err = c.Tabs.CheckAddress(ctx, profile.Name(), url); err != nil {
		return navigateAnswer{}, err
	}
	h, err := c.AnyTab(ctx, name)
	if err != nil {
		return navigateAnswer{}, err
	}
	defer h.Release()
	if err := c.Approver.ApproveNavigation(ctx, profile.Name(), h.Tab, url); err != nil {
		return navigateAnswer{}, err
	}
	h.MarkUsed()
	var res page.Result
	var got []files.Download
	arrived := false
	err = h.Exclusively(ctx, func() error {
		return h.WithPolicy(ctx, func() error {
			bounded, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
			defer cancel()
			var err error
			res, got, err = navigateTab(bounded, h, url, limit)
			arrived = err == nil
			return err
		})
	})
	if IsNavigationBlocked(err) {
		return navigateAnswer{}, refusedLoad(ctx, h, err, arrived)
	}
	if err != nil {
		return navigateAnswer{}, fmt.Errorf("tab %s: %w", h.Names.Name(), err)
	}
	h.ClearQuarantine()
	answer := navigateAnswer{TargetAnswer: h.TargetAnswer(), URL: h.URL()}
	if len(got) > 0 {
		answer.Download = &got[0]
	}
	if res.BlockedByDialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.BrowserState()
	}
	return answer, nil
}

// refusedLoad is what becomes of the tab when the policy has refused something of a load, and the answer to it.
func refusedLoad(ctx context.Context, h *heldTab, why error, arrived bool) error {
	ctx = context.WithoutCancel(ctx)
	if arrived && h.CheckPolicy(ctx) == nil {
		h.ClearQuarantine()
		return &StatusError{
			Status: http.StatusBadRequest, Reason: reasonNavigationBlocked, Err: fmt.Errorf("%w (the page itself is open, without that part of it)", why),
		}
	}
	// It was us who took the tab there: nobody has anything in it that could be lost.
	return errors.Join(why, h.Close(ctx))
}
