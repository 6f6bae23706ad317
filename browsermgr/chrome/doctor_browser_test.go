package chrome_test

import (
	"testing"

	"clank/browsermgr/chrome"
)

func TestBrowserIsJudgedByWhatWasSeen(t *testing.T) {
	healthy := chrome.BrowserFacts{Enabled: true, Started: true, Connected: true, HTTP: true, Ready: true, Headless: true, Acceleration: "software", Deep: true, PageNodes: 3}
	for name, tc := range map[string]struct {
		change func(*chrome.BrowserFacts)
		id     string
		want   chrome.CheckStatus
		ok     bool
	}{
		"healthy":                {func(*chrome.BrowserFacts) {}, "cdp-websocket", chrome.CheckPass, true},
		"switched off":           {func(b *chrome.BrowserFacts) { b.Enabled = false }, "plugin-enabled", chrome.CheckFail, false},
		"no program":             {func(b *chrome.BrowserFacts) { b.FindError = "none" }, "managed-executable", chrome.CheckFail, false},
		"no display":             {func(b *chrome.BrowserFacts) { b.Headless = false }, "display", chrome.CheckFail, false},
		"another program has it": {func(b *chrome.BrowserFacts) { b.DirHolder = "x" }, "profile-lock", chrome.CheckWarn, true},
		"port taken":             {func(b *chrome.BrowserFacts) { b.PortHolder = "x" }, "devtools-port", chrome.CheckFail, false},
		"merely not running":     {func(b *chrome.BrowserFacts) { b.Connected, b.HTTP, b.Ready = false, false, false }, "cdp-http", chrome.CheckInfo, true},
		"look without a browser": {func(b *chrome.BrowserFacts) { b.Connected, b.HTTP, b.Ready = false, false, false }, "live-snapshot", chrome.CheckInfo, true},
		"hangs":                  {func(b *chrome.BrowserFacts) { b.Ready, b.ProbeError = false, "silent" }, "cdp-websocket", chrome.CheckFail, false},
		"HTTP hangs":             {func(b *chrome.BrowserFacts) { b.HTTP = false }, "cdp-http", chrome.CheckWarn, true},
		"empty page":             {func(b *chrome.BrowserFacts) { b.PageNodes = 0 }, "live-snapshot", chrome.CheckWarn, true},
		"page that fails":        {func(b *chrome.BrowserFacts) { b.PageError = "x" }, "live-snapshot", chrome.CheckFail, false},
		"remote out of reach":    {func(b *chrome.BrowserFacts) { b.Started, b.Connected, b.Ready, b.ProbeError = false, false, false, "x" }, "attach-target", chrome.CheckFail, false},
		"hosted, not asked":      {func(b *chrome.BrowserFacts) { b.Started, b.Connected, b.Ready = false, false, false }, "cdp-websocket", chrome.CheckInfo, true},
		"person's, not there": {func(b *chrome.BrowserFacts) {
			b.Started, b.Personal, b.Connected, b.Ready, b.ProbeError = false, true, false, false, "x"
		}, "attach-target", chrome.CheckInfo, true},
		"person's, and connected": {func(b *chrome.BrowserFacts) { b.Started, b.Personal = false, true }, "attach-target", chrome.CheckPass, true},
	} {
		b := healthy
		tc.change(&b)
		checks := b.Checks()
		if got := find(t, checks, tc.id); got.Status != tc.want || chrome.NoCheckFailed(checks) != tc.ok {
			t.Errorf("%s: %+v, ok %t", name, got, chrome.NoCheckFailed(checks))
		}
		for _, c := range checks {
			if c.Status == chrome.CheckFail && c.FixHint == "" {
				t.Errorf("%s: no way out: %+v", name, c)
			}
		}
	}
}
