package look

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

type textAnswer struct {
	reply.Target

	URL             string      `json:"url"`
	Text            string      `json:"text"`
	Truncated       bool        `json:"truncated"`
	BlockedByDialog bool        `json:"blockedByDialog,omitempty"`
	BrowserState    *desk.State `json:"browserState,omitempty"`
}

// readLimit bounds reading a page, waiting for what others do in it included.
const readLimit = 20 * time.Second

func text(ctx context.Context, c *route.Call) (textAnswer, error) {
	limit := min(c.Query.Clamp("maxChars", maxChars, 1, maxChars), maxChars)
	selector := c.Query.String("selector")
	h, err := c.Target(ctx)
	if err != nil {
		return textAnswer{}, err
	}
	defer h.Release()
	if err := h.Permitted(ctx); err != nil {
		return textAnswer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readLimit, &fault.LimitError{Limit: readLimit})
	defer cancel()
	got, err := h.Tab.Read(ctx, page.TextOptions{Selector: selector, MaxChars: limit})
	if desk.PendingDialog(err) {
		return textAnswer{Target: h.Answer(), URL: h.URL(), BlockedByDialog: true, BrowserState: h.State()}, nil
	}
	if err != nil {
		return textAnswer{}, err
	}
	if !got.Found {
		return textAnswer{}, fmt.Errorf("text: no element matches selector %q", selector)
	}
	return textAnswer{Target: h.Answer(), URL: got.URL, Text: got.Text, Truncated: got.Truncated}, nil
}
