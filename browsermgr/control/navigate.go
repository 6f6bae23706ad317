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
	Notes           []string        `json:"notes,omitempty"` // what else happened
	BlockedByDialog bool            `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState   `json:"browserState,omitempty"`
	Refused         string          `json:"refused,omitempty"` // what the page lacks, such as a frame
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
	reached := false
	err = h.Exclusively(ctx, func() error {
		return h.WithPolicy(ctx, func() error {
			bounded, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
			defer cancel()
			var err error
			res, got, err = navigateTab(bounded, h, url, limit)
			reached = arrived(res, err)
			return err
		})
	})
	lacks, err := part(ctx, h, err, reached)
	if IsNavigationBlocked(err) {
		// It was us who took the tab there: nobody has anything in it that could be lost.
		return navigateAnswer{}, errors.Join(err, h.Close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return navigateAnswer{}, fmt.Errorf("tab %s: %w", h.Names.Name(), err)
	}
	h.ClearQuarantine()
	answer := navigateAnswer{TargetAnswer: h.TargetAnswer(), URL: h.URL(), Refused: lacks}
	if len(got) > 0 {
		answer.Download = &got[0]
	}
	answer.Notes = resultNotes(res, got)
	if res.BlockedByDialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.BrowserState()
	}
	return answer, nil
}

// arrived reports whether a load came to a document of its own. The proxy's refusal of one has the status 403.
func arrived(res page.Result, err error) bool {
	return err == nil && res.Status != http.StatusForbidden
}

// part tells a refusal of a part of a page, such as a frame, from one of the page. It returns what was refused if the
// load arrived and the tab is where it may be, and otherwise the error.
func part(ctx context.Context, h *heldTab, err error, arrived bool) (refused string, _ error) {
	if !arrived || !IsNavigationBlocked(err) || h.CheckPolicy(context.WithoutCancel(ctx)) != nil {
		return "", err
	}
	return RedactCredentials(err.Error()), nil
}

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
