package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/page"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
	"clank/browsermgr/tabset"
)

// guard tells how the profile's pages are guarded: those of a browser that runs, or of one that would be started or joined.
func (p *profile) guard(pl plan.Plan, running *browser) report.GuardStatus {
	m := p.manager
	var s report.GuardStatus
	if m.Refusals != nil {
		s.Refusals = m.Refusals(p.name)
	}
	launched, flag := pl.Mode == plan.Launched, pl.Around()
	proxied := launched && m.Proxy != nil && (flag == "" || !pl.Config.Unguarded)
	if running != nil {
		launched, proxied = running.local(), running.proxy != ""
	}
	switch {
	case proxied:
		s.Mode = report.GuardProxy
	case !launched && m.Guard != nil:
		s.Mode, s.Note = report.GuardBestEffort, report.BestEffortNote
	case launched && m.Proxy != nil && flag != "":
		s.Mode, s.Note = report.GuardOff, fmt.Sprintf("the flag %s of the settings leads around the proxy, which they allow because pages may reach everything", flag)
	default:
		s.Mode, s.Note = report.GuardOff, "nothing checks what pages reach"
	}
	return s
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
