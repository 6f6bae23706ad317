package control

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

type textAnswer struct {
	TargetAnswer

	URL             string        `json:"url"`
	Text            string        `json:"text"`
	Truncated       bool          `json:"truncated"`
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState `json:"browserState,omitempty"`
}

// readTimeout bounds reading a page, waiting for what others do in it included.
const readTimeout = 20 * time.Second

func pageText(ctx context.Context, c *Call) (textAnswer, error) {
	limit := min(c.Query.Clamp("maxChars", maxChars, 1, maxChars), maxChars)
	selector := c.Query.String("selector")
	h, err := c.TargetTab(ctx)
	if err != nil {
		return textAnswer{}, err
	}
	defer h.Release()
	if err := h.CheckPolicy(ctx); err != nil {
		return textAnswer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, &fault.TimeLimitError{Limit: readTimeout})
	defer cancel()
	got, err := h.Tab.Read(ctx, page.ReadOptions{Selector: selector, MaxChars: limit})
	if isPendingDialog(err) {
		return textAnswer{TargetAnswer: h.TargetAnswer(), URL: h.URL(), BlockedByDialog: true, BrowserState: h.BrowserState()}, nil
	}
	if err != nil {
		return textAnswer{}, err
	}
	if !got.Found {
		return textAnswer{}, fmt.Errorf("text: no element matches selector %q", selector)
	}
	return textAnswer{TargetAnswer: h.TargetAnswer(), URL: got.URL, Text: got.Text, Truncated: got.Truncated}, nil
}
