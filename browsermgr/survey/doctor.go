package survey

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/doctor"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
)

// Examination is what a doctor looks at.
type Examination struct {
	Plan      plan.Plan
	Status    report.ProfileStatus
	Connected bool        // somebody here is connected to the browser
	Tabs      []*page.Tab // its tabs, if so
	Deep      bool        // look at a page, too
}

// Report looks for what keeps the browser from working: at the profile, the machine, and the browser if it runs.
func (x Examination) Report(ctx context.Context) report.Doctor {
	s, pl := x.Status, x.Plan
	b := doctor.Browser{
		Enabled: s.Enabled, Profile: s.Profile, Driver: s.Driver, Started: pl.Mode == plan.Launched, Personal: pl.Mode == plan.Joined && pl.At.IsZero(),
		Headless: s.Headless, Source: s.HeadlessSource, Display: chrome.HasDisplay(), HTTP: s.CDPHTTP, Ready: s.CDPReady,
		ProbeError: s.ProbeError, Executable: report.Deref(s.DetectedExecutablePath), FindError: report.Deref(s.DetectError), Looked: x.Deep,
		Guard: s.Guard.Mode, GuardNote: s.Guard.Note, Refusals: s.Guard.Refusals, Weak: chrome.Weakens(pl.Flags()), Connected: x.Connected,
	}
	if s.Graphics != nil {
		b.Renderer, b.Accelerate = s.Graphics.Renderer, s.Graphics.Acceleration
	}
	switch {
	case x.Connected && x.Deep:
		var err error
		if b.Nodes, err = countNodes(ctx, x.Tabs); err != nil {
			b.LookError = err.Error()
		}
	case !x.Connected && b.Started:
		b.Port, b.Holder = strangers(ctx, pl, report.Deref(s.UserDataDir))
	}
	checks := b.Checks()
	if b.Started && runtime.GOOS == "linux" {
		checks = append(checks, doctor.Here().Checks(doctor.Subject{
			Executable: b.Executable, Snap: chrome.IsSnap(b.Executable), DataDir: report.Deref(s.UserDataDir), TempDir: os.TempDir(),
			NoSandbox: pl.Config.NoSandbox, Headless: s.Headless,
		})...)
	}
	return report.Doctor{OK: doctor.OK(checks), Profile: s.Profile, Transport: s.Transport, Checks: checks, Status: s}
}

// strangers says who else has the profile's port or directory.
func strangers(ctx context.Context, pl plan.Plan, dir string) (port, holder string) {
	if pl.CDPPort != 0 && !chrome.Free(ctx, pl.CDPPort) {
		port = "port " + chrome.HolderOf(pl.CDPPort).String()
	}
	if h, runs := chrome.LastHolder(dir); runs && h.PID != os.Getpid() {
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
	err = tabs[0].Within(ctx, limit, func(ctx context.Context) error {
		tree, err := cdp.Ask[proto.AccessibilityGetFullAXTreeResult](ctx, tabs[0].Main().Session, proto.AccessibilityGetFullAXTree{Depth: new(2)})
		nodes = min(len(tree.Nodes), enough)
		return err
	})
	return nodes, err
}
