package profile

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Diagnosis is what a doctor looks at.
type Diagnosis struct {
	Plan      Resolved
	Status    Status
	Connected bool        // somebody here is connected to the browser
	Tabs      []*page.Tab // its tabs, if so
	Deep      bool        // look at a page, too
}

// Report looks for what keeps the browser from working: at the profile, the machine, and the browser if it runs.
func (x Diagnosis) Report(ctx context.Context) DoctorReport {
	s, pl := x.Status, x.Plan
	b := chrome.BrowserFacts{
		Enabled: s.Enabled, Profile: s.Profile, Driver: s.Driver, Started: pl.Mode == ModeLaunched, Personal: pl.Mode == ModeJoined && pl.Address.IsZero(),
		Headless: s.Headless, HeadlessSource: s.HeadlessSource, HasDisplay: chrome.HasDisplay(), HTTP: s.CDPHTTP, Ready: s.CDPReady,
		ProbeError: s.ProbeError, Executable: stringOrEmpty(s.DetectedExecutablePath), FindError: stringOrEmpty(s.DetectError), Deep: x.Deep,
		Guard: s.Guard.Mode, GuardNote: s.Guard.Note, Refusals: s.Guard.Refusals, WeakeningFlag: chrome.ProtectionWeakeningFlag(pl.Flags()), Connected: x.Connected,
	}
	if s.Graphics != nil {
		b.Renderer, b.Acceleration = s.Graphics.Renderer, s.Graphics.Acceleration
	}
	switch {
	case x.Connected && x.Deep:
		var err error
		if b.PageNodes, err = countNodes(ctx, x.Tabs); err != nil {
			b.PageError = err.Error()
		}
	case !x.Connected && b.Started:
		b.PortHolder, b.DirHolder = otherHolders(ctx, pl, stringOrEmpty(s.UserDataDir))
	}
	checks := b.Checks()
	if b.Started && runtime.GOOS == "linux" {
		checks = append(checks, chrome.ThisMachine().Checks(chrome.MachineSubject{
			Executable: b.Executable, Snap: chrome.IsSnap(b.Executable), DataDir: stringOrEmpty(s.UserDataDir), TempDir: os.TempDir(),
			NoSandbox: pl.Config.NoSandbox, Headless: s.Headless,
		})...)
	}
	return DoctorReport{OK: chrome.NoCheckFailed(checks), Profile: s.Profile, Transport: s.Transport, Checks: checks, Status: s}
}

// otherHolders says who else has the profile's port or directory.
func otherHolders(ctx context.Context, pl Resolved, dir string) (port, holder string) {
	if pl.CDPPort != 0 && !chrome.PortFree(ctx, pl.CDPPort) {
		port = "port " + chrome.FindPortHolder(pl.CDPPort).String()
	}
	if h, runs := chrome.LastLockHolder(dir); runs && h.PID != os.Getpid() {
		holder = fmt.Sprintf("%s (pid %d), as it seems", h.Program, h.PID)
	}
	return port, holder
}

// countNodes counts the nodes of the first page's accessibility tree, up to 25.
func countNodes(ctx context.Context, tabs []*page.Tab) (nodes int, err error) {
	const enough, limit = 25, 5 * time.Second
	if len(tabs) == 0 {
		return 0, nil
	}
	err = tabs[0].RunConcurrently(ctx, limit, func(ctx context.Context) error {
		tree, err := cdp.Ask[proto.AccessibilityGetFullAXTreeResult](ctx, tabs[0].MainFrame().Session, proto.AccessibilityGetFullAXTree{Depth: new(2)})
		nodes = min(len(tree.Nodes), enough)
		return err
	})
	return nodes, err
}
