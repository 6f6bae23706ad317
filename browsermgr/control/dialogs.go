package control

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func dialogRoutes() []route {
	return []route{
		on("GET", "/dialogs", "Lists the JavaScript dialogs of a tab.", listDialogs).params(targetField),
		on("POST", "/hooks/dialog", "Answers the dialog that is open, or the next one.", answerDialog).takes(
			need("accept", "boolean", "accept or dismiss"), may("promptText", "string", "what a prompt returns"),
			may("dialogId", "string", "which one"), targetField, timeoutField,
		),
	}
}

// browserState is what a client has to know of a tab before it can go on.
type browserState struct {
	Dialogs page.Dialogs `json:"dialogs"`
}

func (h *held) state() *browserState { return &browserState{h.tab.Dialogs()} }

// pendingDialog says whether an error means that a dialog has to be answered first.
func pendingDialog(err error) bool {
	_, ok := errors.AsType[*page.DialogError](err)
	return ok
}

type dialogsAnswer struct {
	targetAnswer

	BrowserState *browserState `json:"browserState"`
}

func listDialogs(ctx context.Context, c *call) (dialogsAnswer, error) {
	h, err := c.target(ctx)
	if err != nil {
		return dialogsAnswer{}, err
	}
	defer h.release()
	return dialogsAnswer{h.answer(), h.state()}, nil
}

// dialogLimit bounds answering a dialog.
const dialogLimit = 120_000

type dialogAnswer struct {
	targetAnswer

	Armed bool `json:"armed,omitempty"` // none was open: the next one is answered so
}

func answerDialog(ctx context.Context, c *call) (dialogAnswer, error) {
	accept, given := c.body.Bool("accept")
	if !given {
		c.body.Fail(fault.Invalidf("accept is required"))
	}
	reply, _ := c.body.Text("promptText")
	id := c.body.String("dialogId")
	limit := time.Duration(c.body.Clamp("timeoutMs", dialogLimit, 500, dialogLimit)) * time.Millisecond
	h, err := c.target(ctx)
	if err != nil {
		return dialogAnswer{}, err
	}
	defer h.release()
	answering, cancel := context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
	defer cancel()
	armed, err := h.tab.HandleDialog(answering, page.DialogAnswer{ID: id, Accept: accept, PromptText: reply}, limit)
	return dialogAnswer{h.answer(), armed}, err
}
