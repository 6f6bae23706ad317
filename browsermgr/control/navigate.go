package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr/control/action"
	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

func navigateRoutes() []route.Route {
	return []route.Route{route.On("POST", "/navigate", "Takes a tab to an address and returns when its document can be read.", navigate).
		Takes(route.Need("url", "string", "http or https address, or about:blank"), route.Tab(), route.Limit())}
}

// navigateLimit is how long a load may take unless a request says otherwise.
const navigateLimit = 20 * time.Second

type navigateAnswer struct {
	reply.Target

	URL             string             `json:"url"`
	Download        *transfer.Download `json:"download,omitempty"`
	BlockedByDialog bool               `json:"blockedByDialog,omitempty"`
	BrowserState    *desk.State        `json:"browserState,omitempty"`
}

func navigate(ctx context.Context, c *route.Call) (navigateAnswer, error) {
	url := c.Body.Required("url")
	limit := c.Timeout(navigateLimit, time.Second)
	name := c.Body.String("targetId")
	if err := c.Err(); err != nil {
		return navigateAnswer{}, err
	}
	profile, err := c.Desks.Manager.FindProfile(c.Profile())
	if err != nil {
		return navigateAnswer{}, err
	}
	if url, err = c.Desks.CheckAddress(ctx, profile.Name(), url); err != nil {
		return navigateAnswer{}, err
	}
	h, err := c.AnyTab(ctx, name)
	if err != nil {
		return navigateAnswer{}, err
	}
	defer h.Release()
	if err := c.Asker.Go(ctx, profile.Name(), h.Tab, url); err != nil {
		return navigateAnswer{}, err
	}
	h.Choose()
	var res page.Result
	var got []transfer.Download
	arrived := false
	err = h.Exclusively(ctx, func() error {
		return h.Watched(ctx, func() error {
			bounded, cancel := context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
			defer cancel()
			var err error
			res, got, err = action.Navigate(bounded, h, url, limit)
			arrived = err == nil
			return err
		})
	})
	if desk.IsBlocked(err) {
		return navigateAnswer{}, halted(ctx, h, err, arrived)
	}
	if err != nil {
		return navigateAnswer{}, fmt.Errorf("tab %s: %w", h.Names.Name(), err)
	}
	h.Pardon()
	answer := navigateAnswer{Target: h.Answer(), URL: h.URL()}
	if len(got) > 0 {
		answer.Download = &got[0]
	}
	if res.BlockedByDialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.State()
	}
	return answer, nil
}

// halted is what becomes of the tab when the policy has refused something of a load, and the answer to it.
func halted(ctx context.Context, h *desk.Held, why error, arrived bool) error {
	ctx = context.WithoutCancel(ctx)
	if arrived && h.Permitted(ctx) == nil {
		h.Pardon()
		return &reply.StatusError{
			Status: http.StatusBadRequest, Reason: desk.NavigationBlocked, Err: fmt.Errorf("%w (the page itself is open, without that part of it)", why),
		}
	}
	// It was us who took the tab there: nobody has anything in it that could be lost.
	return errors.Join(why, h.Close(ctx))
}
