package control

import (
	"context"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func dialogRoutes() []route.Route {
	return []route.Route{
		route.On("GET", "/dialogs", "Lists the JavaScript dialogs of a tab.", listDialogs).Params(route.Tab()),
		route.On("POST", "/hooks/dialog", "Answers the dialog that is open, or the next one.", answerDialog).Takes(
			route.Need("accept", "boolean", "accept or dismiss"), route.May("promptText", "string", "what a prompt returns"),
			route.May("dialogId", "string", "which one"), route.Tab(), route.Limit(),
		),
	}
}

type dialogsAnswer struct {
	reply.Target

	BrowserState *desk.State `json:"browserState"`
}

func listDialogs(ctx context.Context, c *route.Call) (dialogsAnswer, error) {
	h, err := c.Target(ctx)
	if err != nil {
		return dialogsAnswer{}, err
	}
	defer h.Release()
	return dialogsAnswer{h.Answer(), h.State()}, nil
}

// dialogLimit bounds answering a dialog.
const dialogLimit = 120_000

type dialogAnswer struct {
	reply.Target

	Armed bool `json:"armed,omitempty"` // none was open: the next one is answered so
}

func answerDialog(ctx context.Context, c *route.Call) (dialogAnswer, error) {
	accept, given := c.Body.Bool("accept")
	if !given {
		c.Body.Fail(fault.Invalidf("accept is required"))
	}
	prompt, _ := c.Body.Text("promptText")
	id := c.Body.String("dialogId")
	limit := time.Duration(c.Body.Clamp("timeoutMs", dialogLimit, 500, dialogLimit)) * time.Millisecond
	h, err := c.Target(ctx)
	if err != nil {
		return dialogAnswer{}, err
	}
	defer h.Release()
	if accept {
		// What the person agreed to is the dialog that they were told of.
		if id, err = c.Asker.Dialog(ctx, h.Desk.Name, h.Tab, id); err != nil {
			return dialogAnswer{}, err
		}
	}
	answering, cancel := context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
	defer cancel()
	armed, err := h.Tab.HandleDialog(answering, page.DialogAnswer{ID: id, Accept: accept, PromptText: prompt}, limit)
	return dialogAnswer{h.Answer(), armed}, err
}
