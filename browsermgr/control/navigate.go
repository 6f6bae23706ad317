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

// Policy says which addresses the pages of a profile may be at. It is asked from many goroutines.
type Policy interface {
	// Allow says whether a document of the profile may be at the http or https address: nil, or a refusal for a person
	// to read. An error that ends with the context is not a refusal, but a check that could not be made.
	Allow(ctx context.Context, profile, address string) error
	// Watch notes which documents the tab with that CDP target id is refused from now on. finish, which is called once,
	// waits as long as the policy allows late ones and returns the first refusal, nil if there was none.
	Watch(profile, target string) (finish func(ctx context.Context) error)
}

// reasonNavigationBlocked is the reason told with what the policy refuses.
const reasonNavigationBlocked = "navigation_blocked"

// navigationBlocked returns the answer to what the policy refuses.
func navigationBlocked(err error) error {
	text := err.Error()
	if !strings.HasPrefix(text, "Navigation blocked:") {
		err = fmt.Errorf("browser navigation blocked by policy: %w", err)
	}
	return &StatusError{Status: http.StatusBadRequest, Reason: reasonNavigationBlocked, Err: err}
}

// IsNavigationBlocked says whether an error is the policy's.
func IsNavigationBlocked(err error) bool {
	f, ok := errors.AsType[*StatusError](err)
	return ok && f.Reason == reasonNavigationBlocked
}

// CheckAddress judges an address that a client wants to go to, and returns how it is written in full.
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

// checkEnteredAddress judges how an address is written, not where it leads: that is the policy's.
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
		return navigationBlocked(fmt.Errorf("Navigation blocked: %w", err)) //nolint:staticcheck // clients match on this spelling
	case refusal.Rule == policy.RuleMalformed, refusal.Rule == policy.RuleCredentials:
		return invalidAddress(err)
	}
	return navigationBlocked(err)
}

// allow asks the policy about an address where a page is, or is to go.
func (s *TabRegistry) allow(ctx context.Context, profile, address string) error {
	if s.Policy == nil || address == "" || strings.HasPrefix(address, "about:") {
		return nil
	}
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme != "http" && scheme != "https" {
		return navigationBlocked(fmt.Errorf("Navigation blocked: unsupported protocol %q", scheme+":")) //nolint:staticcheck // clients match on this spelling
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

// Allow asks the policy about an address where a page of the profile is, or is to go. [IsNavigationBlocked] knows its
// refusals.
func (d *profileTabs) Allow(ctx context.Context, address string) error {
	return d.registry.allow(ctx, d.Name, address)
}

// WithPolicy does something that may navigate the tab, and asks the policy about it afterwards: about what was refused
// meanwhile, and about where the tab is. A tab that is where it may not be is put in quarantine.
func (h *heldTab) WithPolicy(ctx context.Context, do func() error) error {
	rules := h.Profile.registry.Policy
	if rules == nil {
		return do()
	}
	finish := rules.Watch(h.Profile.Name, h.Tab.TargetID())
	err := do()
	// Also an act that was cancelled may have taken the tab somewhere.
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

// CheckPolicy asks the policy about where the tab is, before something reads it or runs in it. Chromium's own page
// about an address that did not load is nobody's.
func (h *heldTab) CheckPolicy(ctx context.Context) error {
	if strings.HasPrefix(h.Tab.URL(), "chrome-error:") {
		return nil
	}
	return h.Profile.Allow(ctx, h.Tab.URL())
}

// ClearQuarantine takes the tab out of quarantine.
func (h *heldTab) ClearQuarantine() { h.Profile.clearQuarantine(h.Tab.TargetID()) }

// QuarantineError returns the answer for a tab that is where it may not be; nil for others.
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
