package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
	"clank/browsermgr/survey"
	"clank/browsermgr/tabset"
)

// guard tells how the profile's pages are guarded: those of a browser that runs, or of one that would be started or joined.
func (p *profile) guard(pl plan.Plan, running *browser) report.GuardStatus {
	m := p.manager
	w := survey.Watch{Launched: pl.Mode == plan.Launched, Proxy: m.Proxy != nil, Guard: m.Guard != nil, Flag: pl.Around()}
	w.Proxied = w.Launched && w.Proxy && (w.Flag == "" || !pl.Config.Unguarded)
	if running != nil {
		w.Launched, w.Proxied = running.local(), running.proxy != ""
	}
	var refusals uint64
	if m.Refusals != nil {
		refusals = m.Refusals(p.name)
	}
	return w.Status(refusals)
}

// door tells where a browser's DevTools are; nil or zero if that is not known.
func (m *Manager) door(port *int) {
	if m.Door != nil && port != nil && *port != 0 {
		m.Door(*port)
	}
}

// proxyFor is the proxy that a browser is started with; "" if it does without.
func (p *profile) proxyFor(ctx context.Context, pl plan.Plan) (string, error) {
	m := p.manager
	if m.Proxy == nil || pl.Config.Unguarded && pl.Around() != "" {
		return "", nil
	}
	address, err := m.Proxy(ctx, p.name)
	if err != nil {
		return "", fmt.Errorf("find the proxy for its traffic: %w", err)
	}
	return address, nil
}

// watched does something in a tab, and finds out what the tab was refused meanwhile. If it failed, or led to a document that
// was refused, the refusal is the error; otherwise it is told beside what happened.
func (w *Window) watched(ctx context.Context, tab *page.Tab, do func() (page.Result, error)) (notes []string, err error) {
	if w.manager.Watch == nil {
		res, err := do()
		return tabset.Outcome(res), err
	}
	finish := w.manager.Watch(w.profile, tab.TargetID())
	res, err := do()
	refusal := finish(context.WithoutCancel(ctx))
	switch {
	case refusal == nil || ctx.Err() != nil:
		return tabset.Outcome(res), err
	case err != nil || res.Navigated:
		return nil, fmt.Errorf("%w: %w", ErrRefused, refusal)
	}
	return append(tabset.Outcome(res), "refused: "+refusal.Error()), nil
}

// Navigate takes a tab to an address as do does, and says why that failed where Chromium does not know it: the proxy on the
// way does. Its answer in place of a page is a failure, too.
func (u *Use) Navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	return u.browser.navigate(tab, url, do)
}

func (b *browser) navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	since := time.Now()
	res, err := do()
	if why := b.unreached(tab, url, since, res, err); why != nil {
		err = fmt.Errorf("navigate %s: %w", url, why)
	}
	return res, err
}

// unreached is why the server of a document was not reached; nil if it was, or nobody knows.
func (b *browser) unreached(tab *page.Tab, url string, since time.Time, res page.Result, err error) error {
	explain := b.manager.Explain
	if explain == nil || b.proxy == "" {
		return nil
	}
	failure, failed := errors.AsType[*address.NetError](err)
	switch {
	case failed && failure.Code == "ERR_TUNNEL_CONNECTION_FAILED":
		return explain(b.plan.Name, tab.TargetID(), url, since)
	case err == nil && (res.Status == http.StatusBadGateway || res.Status == http.StatusGatewayTimeout):
		return explain(b.plan.Name, tab.TargetID(), tab.URL(), since)
	}
	return nil
}
