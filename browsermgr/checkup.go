package browsermgr

import (
	"context"

	"clank/browsermgr/survey"
)

// Doctor looks for what keeps the profile's browser from working: at the profile, the machine, and the browser if it runs.
// deep also looks at a page of it. It starts nothing.
func (p *Profile) Doctor(ctx context.Context, deep bool) (Report, error) {
	s, err := p.Status(ctx)
	if err != nil {
		return Report{}, err
	}
	pl, err := p.profile.setup()
	if err != nil {
		return Report{}, err
	}
	x := survey.Examination{Plan: pl, Status: s, Deep: deep}
	if running := p.profile.look(); running != nil && running.enter() {
		defer running.uses.Away()
		x.Connected, x.Tabs = true, running.conn.Tabs()
	}
	return x.Report(ctx), nil
}
