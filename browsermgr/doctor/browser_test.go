package doctor_test

import (
	"testing"

	"clank/browsermgr/doctor"
)

func TestBrowserIsJudgedByWhatWasSeen(t *testing.T) {
	healthy := doctor.Browser{Enabled: true, Started: true, Connected: true, HTTP: true, Ready: true, Headless: true, Accelerate: "software", Looked: true, Nodes: 3}
	for name, tc := range map[string]struct {
		change func(*doctor.Browser)
		id     string
		want   doctor.Status
		ok     bool
	}{
		"healthy":                {func(*doctor.Browser) {}, "cdp-websocket", doctor.Pass, true},
		"switched off":           {func(b *doctor.Browser) { b.Enabled = false }, "plugin-enabled", doctor.Fail, false},
		"no program":             {func(b *doctor.Browser) { b.FindError = "none" }, "managed-executable", doctor.Fail, false},
		"no display":             {func(b *doctor.Browser) { b.Headless = false }, "display", doctor.Fail, false},
		"another program has it": {func(b *doctor.Browser) { b.Holder = "x" }, "profile-lock", doctor.Warn, true},
		"port taken":             {func(b *doctor.Browser) { b.Port = "x" }, "devtools-port", doctor.Fail, false},
		"merely not running":     {func(b *doctor.Browser) { b.Connected, b.HTTP, b.Ready = false, false, false }, "cdp-http", doctor.Info, true},
		"look without a browser": {func(b *doctor.Browser) { b.Connected, b.HTTP, b.Ready = false, false, false }, "live-snapshot", doctor.Info, true},
		"hangs":                  {func(b *doctor.Browser) { b.Ready, b.ProbeError = false, "silent" }, "cdp-websocket", doctor.Fail, false},
		"HTTP hangs":             {func(b *doctor.Browser) { b.HTTP = false }, "cdp-http", doctor.Warn, true},
		"empty page":             {func(b *doctor.Browser) { b.Nodes = 0 }, "live-snapshot", doctor.Warn, true},
		"page that fails":        {func(b *doctor.Browser) { b.LookError = "x" }, "live-snapshot", doctor.Fail, false},
		"remote out of reach":    {func(b *doctor.Browser) { b.Started, b.Connected, b.Ready, b.ProbeError = false, false, false, "x" }, "attach-target", doctor.Fail, false},
		"hosted, not asked":      {func(b *doctor.Browser) { b.Started, b.Connected, b.Ready = false, false, false }, "cdp-websocket", doctor.Info, true},
		"person's, not there": {func(b *doctor.Browser) {
			b.Started, b.Personal, b.Connected, b.Ready, b.ProbeError = false, true, false, false, "x"
		}, "attach-target", doctor.Info, true},
		"person's, and connected": {func(b *doctor.Browser) { b.Started, b.Personal = false, true }, "attach-target", doctor.Pass, true},
	} {
		b := healthy
		tc.change(&b)
		checks := b.Checks()
		if got := find(t, checks, tc.id); got.Status != tc.want || doctor.OK(checks) != tc.ok {
			t.Errorf("%s: %+v, ok %t", name, got, doctor.OK(checks))
		}
		for _, c := range checks {
			if c.Status == doctor.Fail && c.FixHint == "" {
				t.Errorf("%s: no way out: %+v", name, c)
			}
		}
	}
}
