package control

import (
	"context"
	"errors"
	"net/http"
	"time"
	"unicode/utf16"

	"clank/browsermgr/fault"
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
	if c.query.String("selector") != "" {
		return textAnswer{}, &failure{status: http.StatusNotImplemented, err: errors.New("text: selector is not available")}
	}
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
	text, err := h.tab.Text(ctx, "")
	if pendingDialog(err) {
		return textAnswer{targetAnswer: h.answer(), URL: h.url(), BlockedByDialog: true, BrowserState: h.state()}, nil
	}
	if err != nil {
		return textAnswer{}, err
	}
	answer := textAnswer{targetAnswer: h.answer(), URL: h.url()}
	answer.Text, answer.Truncated = cutUnits(text, limit)
	return answer, nil
}

// cutUnits cuts a text to at most n UTF-16 units, never within a character.
func cutUnits(text string, n int) (string, bool) {
	for i, r := range text {
		if n -= utf16.RuneLen(r); n < 0 {
			return text[:i], true
		}
	}
	return text, false
}
