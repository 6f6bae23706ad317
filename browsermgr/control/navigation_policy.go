package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"clank/browsermgr/address"
	"clank/browsermgr/egress/policy"
)

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
