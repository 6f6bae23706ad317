package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
)

func navigateRoutes() []Route {
	return []Route{NewRoute("POST", "/navigate", "Takes a tab to an address and returns when its document can be read.",
		serveNavigate).
		WithBody(RequiredParam("url", "string", "http or https address, or about:blank"), tabParam(), timeoutParam())}
}

// navigateTimeout is the default time limit of a load.
const navigateTimeout = 20 * time.Second

type navigateAnswer struct {
	TargetAnswer

	URL             string          `json:"url"`
	Download        *files.Download `json:"download,omitempty"`
	Notes           []string        `json:"notes,omitempty"` // side effects
	BlockedByDialog bool            `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState   `json:"browserState,omitempty"`
	Refused         string          `json:"refused,omitempty"` // a part of the page that was refused, such as a frame
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
			reached = loadedDocument(res, err)
			return err
		})
	})
	refused, err := refusedPart(ctx, h, err, reached)
	if IsNavigationBlocked(err) {
		// We opened the tab for this request, so nothing is lost.
		return navigateAnswer{}, errors.Join(err, h.Close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return navigateAnswer{}, fmt.Errorf("tab %s: %w", h.Names.Name(), err)
	}
	h.ClearQuarantine()
	answer := navigateAnswer{TargetAnswer: h.TargetAnswer(), URL: h.URL(), Refused: refused}
	if len(got) > 0 {
		answer.Download = &got[0]
	}
	answer.Notes = resultNotes(res, got)
	if res.BlockedByDialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.BrowserState()
	}
	return answer, nil
}

// loadedDocument reports whether a load led to a document of the server. If the proxy refused it, the status is 403.
func loadedDocument(res page.Result, err error) bool {
	return err == nil && res.Status != http.StatusForbidden
}

// refusedPart distinguishes a refused part of a page, such as a frame, from a refused page. It returns the refusal as
// refused if the load arrived and the tab's address is allowed, and otherwise err.
func refusedPart(ctx context.Context, h *heldTab, err error, loaded bool) (refused string, _ error) {
	if !loaded || !IsNavigationBlocked(err) || h.CheckPolicy(context.WithoutCancel(ctx)) != nil {
		return "", err
	}
	return RedactCredentials(err.Error()), nil
}

func dialogRoutes() []Route {
	return []Route{
		NewRoute("GET", "/dialogs", "Lists the JavaScript dialogs of a tab.", listDialogs).WithQuery(tabParam()),
		NewRoute("POST", "/hooks/dialog", "Answers the dialog that is open, or the next one.", answerDialog).WithBody(
			RequiredParam("accept", "boolean", "accept or dismiss"),
			OptionalParam("promptText", "string", "what a prompt returns"),
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

// maxDialogMillis bounds the timeout for answering a dialog.
const maxDialogMillis = 120_000

type dialogAnswer struct {
	TargetAnswer

	Armed bool `json:"armed,omitempty"` // no dialog was open; the next one gets this answer
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
		// The approval is for the dialog that the person was shown.
		if id, err = c.Approver.ApproveDialog(ctx, h.Profile.Name, h.Tab, id); err != nil {
			return dialogAnswer{}, err
		}
	}
	answering, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	defer cancel()
	armed, err := h.Tab.HandleDialog(answering, page.DialogAnswer{ID: id, Accept: accept, PromptText: prompt}, limit)
	return dialogAnswer{h.TargetAnswer(), armed}, err
}

// Policy decides which addresses the pages of a profile may have. It must be safe for concurrent use.
type Policy interface {
	// Allow returns nil if a document of the profile may have the http or https address, or a refusal for a person to
	// read. An error that wraps the cause of ctx means that the check could not be made.
	Allow(ctx context.Context, profile, address string) error
	// Watch records documents refused to the tab with that CDP target id from now on. finish, which must be called
	// once, waits for late refusals and returns the first; nil if there was none.
	Watch(profile, target string) (finish func(ctx context.Context) error)
}

// reasonNavigationBlocked is the reason given with refusals of the policy.
const reasonNavigationBlocked = "navigation_blocked"

// navigationBlocked returns the answer for a refusal of the policy.
func navigationBlocked(err error) error {
	text := err.Error()
	if !strings.HasPrefix(text, "Navigation blocked:") {
		err = fmt.Errorf("browser navigation blocked by policy: %w", err)
	}
	return &StatusError{Status: http.StatusBadRequest, Reason: reasonNavigationBlocked, Err: err}
}

// IsNavigationBlocked reports whether an error is a refusal of the policy.
func IsNavigationBlocked(err error) bool {
	f, ok := errors.AsType[*StatusError](err)
	return ok && f.Reason == reasonNavigationBlocked
}

// CheckAddress checks an address that a client requests against the policy and returns it normalized.
func (s *TabRegistry) CheckAddress(ctx context.Context, profile, entered string) (string, error) {
	if strings.EqualFold(entered, "about:blank") {
		return "about:blank", nil
	}
	if err := checkEnteredAddress(entered); err != nil {
		return "", err
	}
	whole, err := address.Parse(entered)
	if err != nil {
		return "", invalidAddress(fmt.Errorf("Invalid URL: %w", err)) //nolint:staticcheck // clients match on this spelling
	}
	return whole, s.allow(ctx, profile, whole)
}

func invalidAddress(err error) error { return &StatusError{Status: http.StatusBadRequest, Err: err} }

// checkEnteredAddress checks the form of an address; the policy checks where it leads.
func checkEnteredAddress(address string) error {
	form, err := policy.Compile(policy.Rules{PrivateNetwork: policy.PrivateAllowed})
	if err != nil {
		return err
	}
	_, err = form.CheckEnteredURL(address)
	refusal, refused := errors.AsType[*policy.Refusal](err)
	switch {
	case !refused:
		return err
	case refusal.Rule == policy.RuleScheme:
		return navigationBlocked(
			fmt.Errorf("Navigation blocked: %w", err)) //nolint:staticcheck // clients match on this spelling
	case refusal.Rule == policy.RuleMalformed, refusal.Rule == policy.RuleCredentials:
		return invalidAddress(err)
	}
	return navigationBlocked(err)
}

// allow checks a present or requested address of a page against the policy.
func (s *TabRegistry) allow(ctx context.Context, profile, address string) error {
	if s.Policy == nil || address == "" || strings.HasPrefix(address, "about:") {
		return nil
	}
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme != "http" && scheme != "https" {
		return navigationBlocked(
			//nolint:staticcheck // clients match on this spelling
			fmt.Errorf("Navigation blocked: unsupported protocol %q", scheme+":"))
	}
	err := s.Policy.Allow(ctx, profile, address)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("check %s against the navigation policy: %w", address, err)
	}
	return navigationBlocked(err)
}

// Allow checks a present or requested address of a page of the profile against the policy. [IsNavigationBlocked]
// reports whether the error is a refusal.
func (d *profileTabs) Allow(ctx context.Context, address string) error {
	return d.registry.allow(ctx, d.Name, address)
}

// WithPolicy runs do, which may navigate the tab, and then checks the policy: for requests refused meanwhile, and for
// the tab's address. A tab at a forbidden address is quarantined.
func (h *heldTab) WithPolicy(ctx context.Context, do func() error) error {
	rules := h.Profile.registry.Policy
	if rules == nil {
		return do()
	}
	finish := rules.Watch(h.Profile.Name, h.Tab.TargetID())
	err := do()
	// A cancelled action may have navigated too.
	after := context.WithoutCancel(ctx)
	refusal := finish(after)
	if here := h.CheckPolicy(after); here != nil {
		if IsNavigationBlocked(here) {
			h.Profile.setQuarantine(h.Tab.TargetID(), here)
		}
		return here
	}
	if refusal != nil {
		return navigationBlocked(refusal)
	}
	return err
}

// CheckPolicy checks the tab's address against the policy before it is read or scripted. Chromium's error pages are
// allowed.
func (h *heldTab) CheckPolicy(ctx context.Context) error {
	if page.IsErrorPage(h.Tab.URL()) {
		return nil
	}
	return h.Profile.Allow(ctx, h.Tab.URL())
}

// ClearQuarantine ends the tab's quarantine.
func (h *heldTab) ClearQuarantine() { h.Profile.clearQuarantine(h.Tab.TargetID()) }

// QuarantineError returns an error for a quarantined tab; nil for others.
func (h *heldTab) QuarantineError() error {
	why := h.Profile.quarantineError(h.Tab.TargetID())
	if why == nil {
		return nil
	}
	return &StatusError{
		Status: http.StatusConflict, Reason: reasonNavigationBlocked,
		Err: fmt.Errorf("tab %s is in quarantine: navigate it to an allowed address or close it (%w)", h.Names.Name(), why),
	}
}
