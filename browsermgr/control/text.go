package control

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

type textAnswer struct {
	targetAnswer

	URL             string        `json:"url"`
	Text            string        `json:"text"`
	Truncated       bool          `json:"truncated"`
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState `json:"browserState,omitempty"`
}

// readLimit bounds reading a page, waiting for what others do in it included.
const readLimit = 20 * time.Second

func text(ctx context.Context, c *call) (textAnswer, error) {
	limit := min(c.query.Clamp("maxChars", maxChars, 1, maxChars), maxChars)
	selector := c.query.String("selector")
	h, err := c.target(ctx)
	if err != nil {
		return textAnswer{}, err
	}
	defer h.release()
	if err := c.server.permitted(ctx, h); err != nil {
		return textAnswer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readLimit, &fault.LimitError{Limit: readLimit})
	defer cancel()
	got, err := h.tab.Read(ctx, page.TextOptions{Selector: selector, MaxChars: limit})
	if pendingDialog(err) {
		return textAnswer{targetAnswer: h.answer(), URL: h.url(), BlockedByDialog: true, BrowserState: h.state()}, nil
	}
	if err != nil {
		return textAnswer{}, err
	}
	if !got.Found {
		return textAnswer{}, fmt.Errorf("text: no element matches selector %q", selector)
	}
	return textAnswer{targetAnswer: h.answer(), URL: got.URL, Text: got.Text, Truncated: got.Truncated}, nil
}
