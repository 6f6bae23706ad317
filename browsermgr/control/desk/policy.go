package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"clank/browsermgr/control/reply"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/page"
)

// Policy says which addresses the pages of a profile may be at. It is asked from many goroutines.
type Policy interface {
	// Allow says whether a document of the profile may be at the http or https address: nil, or a refusal for a person to
	// read. An error that ends with the context is not a refusal, but a check that could not be made.
	Allow(ctx context.Context, profile, address string) error
	// Watch notes which documents the tab with that CDP target id is refused from now on. finish, which is called once,
	// waits as long as the policy allows late ones and returns the first refusal, nil if there was none.
	Watch(profile, target string) (finish func(ctx context.Context) error)
}

// NavigationBlocked is the reason told with what the policy refuses.
const NavigationBlocked = "navigation_blocked"

// blocked is the answer to what the policy refuses.
func blocked(err error) error {
	text := err.Error()
	if !strings.HasPrefix(text, "Navigation blocked:") {
		err = fmt.Errorf("browser navigation blocked by policy: %w", err)
	}
	return &reply.StatusError{Status: http.StatusBadRequest, Reason: NavigationBlocked, Err: err}
}

// IsBlocked says whether an error is the policy's.
func IsBlocked(err error) bool {
	f, ok := errors.AsType[*reply.StatusError](err)
	return ok && f.Reason == NavigationBlocked
}

// CheckAddress judges an address that a client wants to go to, and returns how it is written in full.
func (s *Desks) CheckAddress(ctx context.Context, profile, address string) (string, error) {
	if strings.EqualFold(address, "about:blank") {
		return "about:blank", nil
	}
	if err := given(address); err != nil {
		return "", err
	}
	whole, err := page.Address(address)
	if err != nil {
		return "", invalid(fmt.Errorf("Invalid URL: %w", err)) //nolint:staticcheck // clients match on this spelling
	}
	return whole, s.allow(ctx, profile, whole)
}

func invalid(err error) error { return &reply.StatusError{Status: http.StatusBadRequest, Err: err} }

// given judges how an address is written, not where it leads: that is the policy's.
func given(address string) error {
	form, err := policy.Compile(policy.Rules{PrivateNetwork: policy.Allowed})
	if err != nil {
		return err
	}
	_, err = form.Given(address)
	refusal, refused := errors.AsType[*policy.Refusal](err)
	switch {
	case !refused:
		return err
	case refusal.Rule == policy.RuleScheme:
		return blocked(fmt.Errorf("Navigation blocked: %w", err)) //nolint:staticcheck // clients match on this spelling
	case refusal.Rule == policy.RuleMalformed, refusal.Rule == policy.RuleCredentials:
		return invalid(err)
	}
	return blocked(err)
}

// allow asks the policy about an address where a page is, or is to go.
func (s *Desks) allow(ctx context.Context, profile, address string) error {
	if s.Policy == nil || address == "" || strings.HasPrefix(address, "about:") {
		return nil
	}
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme != "http" && scheme != "https" {
		return blocked(fmt.Errorf("Navigation blocked: unsupported protocol %q", scheme+":")) //nolint:staticcheck // clients match on this spelling
	}
	err := s.Policy.Allow(ctx, profile, address)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("check %s against the navigation policy: %w", address, err)
	}
	return blocked(err)
}

// Allow asks the policy about an address where a page of the profile is, or is to go. [IsBlocked] knows its refusals.
func (d *Desk) Allow(ctx context.Context, address string) error {
	return d.all.allow(ctx, d.Name, address)
}

// Watched does something that may navigate the tab, and asks the policy about it afterwards: about what was refused
// meanwhile, and about where the tab is. A tab that is where it may not be is put in quarantine.
func (h *Held) Watched(ctx context.Context, do func() error) error {
	rules := h.Desk.all.Policy
	if rules == nil {
		return do()
	}
	finish := rules.Watch(h.Desk.Name, h.Tab.TargetID())
	err := do()
	// Also an act that was cancelled may have taken the tab somewhere.
	after := context.WithoutCancel(ctx)
	refusal := finish(after)
	if here := h.Permitted(after); here != nil {
		if IsBlocked(here) {
			h.Desk.quarantine(h.Tab.TargetID(), here)
		}
		return here
	}
	if refusal != nil {
		return blocked(refusal)
	}
	return err
}

// Permitted asks the policy about where the tab is, before something reads it or runs in it. Chromium's own page about an
// address that did not load is nobody's.
func (h *Held) Permitted(ctx context.Context) error {
	if strings.HasPrefix(h.Tab.URL(), "chrome-error:") {
		return nil
	}
	return h.Desk.Allow(ctx, h.Tab.URL())
}

// Pardon takes the tab out of quarantine.
func (h *Held) Pardon() { h.Desk.pardon(h.Tab.TargetID()) }

// Quarantined is the answer for a tab that is where it may not be; nil for others.
func (h *Held) Quarantined() error {
	why := h.Desk.quarantined(h.Tab.TargetID())
	if why == nil {
		return nil
	}
	return &reply.StatusError{
		Status: http.StatusConflict, Reason: NavigationBlocked,
		Err: fmt.Errorf("tab %s is in quarantine: navigate it to an allowed address or close it (%w)", h.Names.Name(), why),
	}
}
