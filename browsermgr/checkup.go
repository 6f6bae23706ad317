package browsermgr

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/doctor"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"

	"github.com/go-rod/rod/lib/proto"
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
	b := doctor.Browser{
		Enabled: s.Enabled, Profile: s.Profile, Driver: s.Driver, Started: pl.Mode == plan.Launched, Personal: pl.Mode == plan.Joined && pl.At.IsZero(),
		Headless: s.Headless, Source: s.HeadlessSource, Display: chrome.HasDisplay(), HTTP: s.CDPHTTP, Ready: s.CDPReady,
		ProbeError: s.ProbeError, Executable: report.Deref(s.DetectedExecutablePath), FindError: report.Deref(s.DetectError), Looked: deep,
		Guard: s.Guard.Mode, GuardNote: s.Guard.Note, Refusals: s.Guard.Refusals, Weak: chrome.Weakens(pl.Flags()),
	}
	if s.Graphics != nil {
		b.Renderer, b.Accelerate = s.Graphics.Renderer, s.Graphics.Acceleration
	}
	if running := p.profile.look(); running != nil && running.enter() {
		b.Connected = true
		if deep {
			if b.Nodes, err = running.lookAtPage(ctx); err != nil {
				b.LookError = err.Error()
			}
		}
		running.uses.Away()
	} else if b.Started {
		b.Port, b.Holder = strangers(ctx, pl, report.Deref(s.UserDataDir))
	}
	checks := b.Checks()
	if b.Started && runtime.GOOS == "linux" {
		checks = append(checks, doctor.Here().Checks(doctor.Subject{
			Executable: b.Executable, Snap: chrome.IsSnap(b.Executable), DataDir: report.Deref(s.UserDataDir), TempDir: os.TempDir(),
			NoSandbox: pl.Config.NoSandbox, Headless: s.Headless,
		})...)
	}
	return Report{OK: doctor.OK(checks), Profile: s.Profile, Transport: s.Transport, Checks: checks, Status: s}, nil
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

// lookAtPage counts the nodes of the first page's accessibility tree, up to 25.
func (b *browser) lookAtPage(ctx context.Context) (nodes int, err error) {
	const enough, limit = 25, 5 * time.Second
	tabs := b.conn.Tabs()
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
