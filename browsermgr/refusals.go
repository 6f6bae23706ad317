package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
)

// guardStatus tells how the profile's pages are guarded: those of a browser that runs, or of one that would be started
// or joined.
func (p *profileState) guardStatus(pl profile.Resolved, running *browser) profile.GuardStatus {
	m := p.manager
	launched, bypass := pl.Mode == profile.ModeLaunched, pl.ProxyBypassFlag()
	proxied := launched && m.Proxy != nil && (bypass == "" || !pl.Config.AllowProxyBypass)
	if running != nil {
		launched, proxied = running.isLocal(), running.proxy != ""
	}
	s := profile.GuardStatus{Mode: profile.GuardOff, Note: "nothing checks what pages reach"}
	switch {
	case proxied:
		s.Mode, s.Note = profile.GuardProxy, ""
	case !launched && m.NewGuardObservers != nil:
		s.Mode, s.Note = profile.GuardBestEffort, profile.BestEffortNote
	case launched && m.Proxy != nil && bypass != "":
		s.Note = "the flag " + bypass + " of the settings leads around the proxy, which they allow because pages may reach everything"
	}
	if m.RefusalCount != nil {
		s.Refusals = m.RefusalCount(p.name)
	}
	return s
}

// reportDevToolsPort tells where a browser's DevTools are; nil or zero if that is not known.
func (m *Manager) reportDevToolsPort(port *int) {
	if m.OnDevToolsPort != nil && port != nil && *port != 0 {
		m.OnDevToolsPort(*port)
	}
}

// proxyFor returns the proxy that a browser is started with; "" if it does without.
func (p *profileState) proxyFor(ctx context.Context, pl profile.Resolved) (string, error) {
	m := p.manager
	if m.Proxy == nil || pl.Config.AllowProxyBypass && pl.ProxyBypassFlag() != "" {
		return "", nil
	}
	address, err := m.Proxy(ctx, p.name)
	if err != nil {
		return "", fmt.Errorf("find the proxy for its traffic: %w", err)
	}
	return address, nil
}

// withRefusals does something in a tab, and finds out what the tab was refused meanwhile. If it failed, or led to a
// document that was refused, which the proxy answers with 403, the refusal is the error; otherwise, such as for a
// frame, it is told beside what happened.
func (w *Window) withRefusals(
	ctx context.Context, tab *page.Tab, do func() (page.Result, []files.Download, error),
) (notes []string, err error) {
	if w.manager.WatchRefusals == nil {
		res, got, err := do()
		return ResultNotes(res, got), err
	}
	finish := w.manager.WatchRefusals(w.profile, tab.TargetID())
	res, got, err := do()
	refusal := finish(context.WithoutCancel(ctx))
	switch {
	case refusal == nil || ctx.Err() != nil:
		return ResultNotes(res, got), err
	case err != nil || res.Navigated && res.Status == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %w", ErrNavigationBlocked, refusal)
	}
	return append(ResultNotes(res, got), "refused: "+refusal.Error()), nil
}

// Navigate takes a tab to an address as do does, and says why that failed where Chromium does not know it: the proxy on
// the way does. Its answer in place of a page is a failure, too.
func (u *Lease) Navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	return u.browser.navigate(tab, url, do)
}

func (b *browser) navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	since := time.Now()
	res, err := do()
	if why := b.explainUnreached(tab, url, since, res, err); why != nil {
		err = fmt.Errorf("navigate %s: %w", url, why)
	}
	return res, err
}

// explainUnreached returns why the server of a document was not reached, or nil if it was reached or the reason is not
// known.
func (b *browser) explainUnreached(tab *page.Tab, url string, since time.Time, res page.Result, err error) error {
	explain := b.manager.ExplainFailure
	if explain == nil || b.proxy == "" {
		return nil
	}
	failure, failed := errors.AsType[*address.NetError](err)
	switch {
	case failed && failure.Code == "ERR_TUNNEL_CONNECTION_FAILED":
		return explain(b.resolved.Name, tab.TargetID(), url, since)
	case err == nil && (res.Status == http.StatusBadGateway || res.Status == http.StatusGatewayTimeout):
		return explain(b.resolved.Name, tab.TargetID(), tab.URL(), since)
	}
	return nil
}
