package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

func navigateRoutes() []route {
	return []route{on("POST", "/navigate", "Takes a tab to an address and returns when its document can be read.", navigate).
		takes(need("url", "string", "http or https address, or about:blank"), targetField, timeoutField)}
}

// navigateLimit is how long a load may take unless a request says otherwise.
const navigateLimit = 20 * time.Second

type navigateAnswer struct {
	targetAnswer

	URL             string             `json:"url"`
	Download        *transfer.Download `json:"download,omitempty"`
	BlockedByDialog bool               `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState      `json:"browserState,omitempty"`
}

func navigate(ctx context.Context, c *call) (navigateAnswer, error) {
	url := c.body.Required("url")
	limit := c.timeout(navigateLimit, time.Second)
	name := c.body.String("targetId")
	if err := c.err(); err != nil {
		return navigateAnswer{}, err
	}
	profile, err := c.server.Manager.FindProfile(c.profile())
	if err != nil {
		return navigateAnswer{}, err
	}
	if url, err = c.server.checkAddress(ctx, profile.Name(), url); err != nil {
		return navigateAnswer{}, err
	}
	h, err := c.anyTab(ctx, name)
	if err != nil {
		return navigateAnswer{}, err
	}
	defer h.release()
	h.desk.book.Choose(h.tab.TargetID())
	var res page.Result
	var got []transfer.Download
	err = h.exclusively(ctx, func() error {
		return c.server.watched(ctx, h, func() error {
			bounded, cancel := context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
			defer cancel()
			var err error
			res, got, err = h.navigate(bounded, url, limit)
			return err
		})
	})
	if isBlocked(err) {
		// It was us who took the tab there: nobody has anything in it that could be lost.
		return navigateAnswer{}, errors.Join(err, h.close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return navigateAnswer{}, fmt.Errorf("tab %s: %w", h.names.Name(), err)
	}
	h.desk.pardon(h.tab.TargetID())
	answer := navigateAnswer{targetAnswer: h.answer(), URL: h.url()}
	if len(got) > 0 {
		answer.Download = &got[0]
	}
	if res.BlockedByDialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.state()
	}
	return answer, nil
}
