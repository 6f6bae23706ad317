package control

import (
	"context"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func dialogRoutes() []Route {
	return []Route{
		NewRoute("GET", "/dialogs", "Lists the JavaScript dialogs of a tab.", listDialogs).WithQuery(tabParam()),
		NewRoute("POST", "/hooks/dialog", "Answers the dialog that is open, or the next one.", answerDialog).WithBody(
			RequiredParam("accept", "boolean", "accept or dismiss"), OptionalParam("promptText", "string", "what a prompt returns"),
			OptionalParam("dialogId", "string", "which one"), tabParam(), timeoutParam(),
		),
	}
}

type dialogsAnswer struct {
	TargetAnswer

	BrowserState *browserState `json:"browserState"`
}

func listDialogs(ctx context.Context, c *Call) (dialogsAnswer, error) {
	h, err := c.TargetTab(ctx)
	if err != nil {
		return dialogsAnswer{}, err
	}
	defer h.Release()
	return dialogsAnswer{h.TargetAnswer(), h.BrowserState()}, nil
}

// maxDialogMillis bounds answering a dialog.
const maxDialogMillis = 120_000

type dialogAnswer struct {
	TargetAnswer

	Armed bool `json:"armed,omitempty"` // none was open: the next one is answered so
}

func answerDialog(ctx context.Context, c *Call) (dialogAnswer, error) {
	accept, given := c.Body.Bool("accept")
	if !given {
		c.Body.Fail(fault.Invalidf("accept is required"))
	}
	prompt, _ := c.Body.Text("promptText")
	id := c.Body.String("dialogId")
	limit := time.Duration(c.Body.Clamp("timeoutMs", maxDialogMillis, 500, maxDialogMillis)) * time.Millisecond
	h, err := c.TargetTab(ctx)
	if err != nil {
		return dialogAnswer{}, err
	}
	defer h.Release()
	if accept {
		// What the person agreed to is the dialog that they were told of.
		if id, err = c.Approver.ApproveDialog(ctx, h.Profile.Name, h.Tab, id); err != nil {
			return dialogAnswer{}, err
		}
	}
	answering, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	defer cancel()
	armed, err := h.Tab.HandleDialog(answering, page.DialogAnswer{ID: id, Accept: accept, PromptText: prompt}, limit)
	return dialogAnswer{h.TargetAnswer(), armed}, err
}
