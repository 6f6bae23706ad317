package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Diagnosis holds the inputs of a doctor report.
type Diagnosis struct {
	Plan      Resolved
	Status    Status
	Connected bool        // we are connected to the browser
	Tabs      []*page.Tab // its tabs, if connected
	Deep      bool        // check a page, too
}

// Report looks for problems that keep the browser from working: in the profile, on the machine and, if it runs, in the
// browser.
func (x Diagnosis) Report(ctx context.Context) DoctorReport {
	s, pl := x.Status, x.Plan
	b := chrome.BrowserFacts{
		Enabled: s.Enabled, Profile: s.Profile,
		Driver:   strings.Replace(s.Driver, "openclaw", string(DriverManaged), 1), // the API has the name of older clients
		Started:  pl.Mode == ModeLaunched,
		Personal: pl.Mode == ModeJoined && pl.Address.IsZero(),
		Headless: s.Headless, HeadlessSource: s.HeadlessSource, HasDisplay: chrome.HasDisplay(), HTTP: s.CDPHTTP,
		Ready:      s.CDPReady,
		ProbeError: s.ProbeError, Executable: stringOrEmpty(s.DetectedExecutablePath),
		FindError: stringOrEmpty(s.DetectError), Deep: x.Deep,
		Guard: s.Guard.Mode, GuardNote: s.Guard.Note, Refusals: s.Guard.Refusals,
		WeakeningFlag: chrome.ProtectionWeakeningFlag(pl.Flags()), Connected: x.Connected,
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
			Executable: b.Executable, Snap: chrome.IsSnap(b.Executable), DataDir: stringOrEmpty(s.UserDataDir),
			TempDir:   os.TempDir(),
			NoSandbox: pl.Config.NoSandbox, Headless: s.Headless,
		})...)
	}
	return DoctorReport{
		OK: chrome.NoCheckFailed(checks), Profile: s.Profile, Transport: s.Transport, Checks: checks,
		Status: s,
	}
}

// otherHolders returns the other programs that use the profile's port and directory.
func otherHolders(ctx context.Context, pl Resolved, dir string) (port, holder string) {
	if pl.CDPPort != 0 && pl.WantsDevToolsPort() && !chrome.PortFree(ctx, pl.CDPPort) {
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
		tree, err := cdp.Ask[proto.AccessibilityGetFullAXTreeResult](ctx, tabs[0].MainFrame().Session,
			proto.AccessibilityGetFullAXTree{Depth: new(2)})
		nodes = min(len(tree.Nodes), enough)
		return err
	})
	return nodes, err
}

// Graphics describes a browser's graphics (CDP SystemInfo.getInfo). It is read once for each browser.
type Graphics struct {
	Renderer      string            `json:"renderer"`
	Backend       string            `json:"backend"`
	Acceleration  string            `json:"acceleration"` // hardware, software or unknown
	Devices       []string          `json:"devices"`
	FeatureStatus map[string]string `json:"featureStatus"`
	VideoDecoding []string          `json:"videoDecoding"` // profiles with hardware decoding
	VideoEncoding []string          `json:"videoEncoding"`
}

// graphicsTimeout bounds the query: Chromium may have to wait for its GPU process.
const graphicsTimeout = 10 * time.Second

// ReadGraphics queries a browser over its root session.
func ReadGraphics(ctx context.Context, root *cdp.Session) (*Graphics, error) {
	var info proto.SystemInfoGetInfoResult
	if err := root.BeginWithin(graphicsTimeout, proto.SystemInfoGetInfo{}).Wait(ctx, &info); err != nil {
		return nil, fmt.Errorf("read graphics: %w", err)
	}
	if info.Gpu == nil {
		return nil, errors.New("read graphics: the browser reports none")
	}
	gpu := info.Gpu
	text := func(key string) string {
		value, ok := gpu.AuxAttributes[key]
		if !ok {
			return ""
		}
		return value.Str()
	}
	g := &Graphics{
		Renderer: text("glRenderer"), Backend: text("glImplementationParts"), FeatureStatus: map[string]string{},
		Devices: []string{}, VideoDecoding: []string{}, VideoEncoding: []string{},
	}
	for _, d := range gpu.Devices {
		g.Devices = append(g.Devices, strings.TrimSpace(d.VendorString+" "+d.DeviceString))
	}
	for name, status := range gpu.FeatureStatus {
		g.FeatureStatus[name] = status.Str()
	}
	for _, c := range gpu.VideoDecoding {
		g.VideoDecoding = append(g.VideoDecoding, c.Profile)
	}
	for _, c := range gpu.VideoEncoding {
		g.VideoEncoding = append(g.VideoEncoding, c.Profile)
	}
	g.Acceleration = detectAcceleration(g.Renderer, g.FeatureStatus["gpu_compositing"])
	return g, nil
}

// detectAcceleration judges by the renderer's name and the compositing status.
func detectAcceleration(renderer, compositing string) string {
	renderer = strings.ToLower(renderer)
	software := []string{"swiftshader", "llvmpipe", "softpipe", "software"}
	switch {
	case slices.ContainsFunc(software, func(name string) bool { return strings.Contains(renderer, name) }):
		return "software"
	case strings.HasPrefix(compositing, "enabled"):
		return "hardware"
	case strings.HasPrefix(compositing, "disabled"):
		return "software"
	default:
		return "unknown"
	}
}
