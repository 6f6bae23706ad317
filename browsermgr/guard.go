package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/page"
	"clank/browsermgr/plan"
)

// How the pages of a browser are kept from where they may not go.
const (
	GuardProxy      = "proxy"       // all traffic goes through a proxy that checks it
	GuardBestEffort = "best-effort" // requests are held and judged where the protocol tells of them
	GuardOff        = "off"         // nothing is checked
)

// GuardStatus says what stands between a profile's pages and the network, in the form of the control API.
type GuardStatus struct {
	Mode     string `json:"mode"`     // see the Guard constants
	Refusals uint64 `json:"refusals"` // requests of pages that were refused since the program started
	Note     string `json:"note,omitempty"`
}

const noteBestEffort = "this browser is not started here, so its requests are judged before they are sent, as far as its protocol tells of them: " +
	"WebSockets, WebRTC, shared and service workers, and names that change their address are not covered"

// guard tells how the profile's pages are guarded: those of a browser that runs, or of one that would be started or joined.
func (p *profile) guard(pl plan.Plan, running *browser) GuardStatus {
	m := p.manager
	var s GuardStatus
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
		s.Mode = GuardProxy
	case !launched && m.Guard != nil:
		s.Mode, s.Note = GuardBestEffort, noteBestEffort
	case launched && m.Proxy != nil && flag != "":
		s.Mode, s.Note = GuardOff, fmt.Sprintf("the flag %s of the settings leads around the proxy, which they allow because pages may reach everything", flag)
	default:
		s.Mode, s.Note = GuardOff, "nothing checks what pages reach"
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
		return outcome(res), err
	}
	finish := w.manager.Watch(w.profile, tab.TargetID())
	res, err := do()
	refusal := finish(context.WithoutCancel(ctx))
	switch {
	case refusal == nil || ctx.Err() != nil:
		return outcome(res), err
	case err != nil || res.Navigated:
		return nil, fmt.Errorf("%w: %w", ErrRefused, refusal)
	}
	return append(outcome(res), "refused: "+refusal.Error()), nil
}
