package browsermgr

import (
	"context"

	"clank/browsermgr/profile"
)

// Doctor looks for what keeps the profile's browser from working: at the profile, the machine, and the browser if it runs.
// deep also looks at a page of it. It starts nothing.
func (p *Profile) Doctor(ctx context.Context, deep bool) (profile.DoctorReport, error) {
	s, err := p.Status(ctx)
	if err != nil {
		return profile.DoctorReport{}, err
	}
	pl, err := p.state.resolve()
	if err != nil {
		return profile.DoctorReport{}, err
	}
	x := profile.Diagnosis{Plan: pl, Status: s, Deep: deep}
	if running := p.state.current(); running != nil && running.acquire() {
		defer running.uses.ReleaseUnused()
		x.Connected, x.Tabs = true, running.conn.Tabs()
	}
	return x.Report(ctx), nil
}
