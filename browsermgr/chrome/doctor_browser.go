package chrome

import "fmt"

// BrowserFacts holds observations about a profile and its browser.
type BrowserFacts struct {
	Enabled        bool
	Profile        string
	Driver         string
	Started        bool   // by us; otherwise it is attached or joined
	Personal       bool   // a person's own, to which we do not connect for a check
	Executable     string // path, if we start the browser
	FindError      string
	Headless       bool
	HeadlessSource string // what decided on Headless
	HasDisplay     bool
	Connected      bool // we are connected
	HTTP           bool
	Ready          bool
	ProbeError     string
	PortHolder     string // program that uses the port of a browser that is not running; empty for none
	DirHolder      string // another program that uses the profile's directory; empty for none
	Renderer       string
	Acceleration   string // hardware, software, unknown, or empty
	PageNodes      int    // number of nodes on one of its pages
	PageError      string
	Deep           bool
	Guard          string // what checks addresses of its pages: proxy, best-effort or off
	GuardNote      string
	Refusals       uint64
	WeakeningFlag  string // flag that weakens the protection of its pages; empty for none
}

const startHint = "clank browser start"

// Checks evaluates the facts. A browser that is not running is not a failure.
func (b BrowserFacts) Checks() []Check {
	checks := []Check{
		b.enabled(),
		{ID: "profile", Label: "Profile", Status: CheckPass, Summary: fmt.Sprintf("%q, driver %s", b.Profile, b.Driver)},
	}
	if b.Started {
		checks = append(checks, b.executable(), b.headless(), b.display(), b.lock(), b.port())
	} else {
		checks = append(checks, b.target())
	}
	checks = append(checks, b.http(), b.socket(), b.graphics(), b.policy())
	if b.WeakeningFlag != "" {
		checks = append(checks, Check{
			ID: "flags", Label: "Flags", Status: CheckWarn, Summary: b.WeakeningFlag + " takes from pages what keeps others " +
				"from reading them",
			FixHint: "take it out of the flags for the browser, and open hostile pages in no browser that has it",
		})
	}
	if b.Deep {
		checks = append(checks, b.page())
	}
	return checks
}

// passUnless returns a passing check unless wrong is set.
func passUnless(wrong bool, id, label, pass string, status CheckStatus, summary, hint string) Check {
	if wrong {
		return Check{ID: id, Label: label, Status: status, Summary: summary, FixHint: hint}
	}
	return Check{ID: id, Label: label, Status: CheckPass, Summary: pass}
}

func (b BrowserFacts) enabled() Check {
	return passUnless(!b.Enabled, "plugin-enabled", "Browser", "switched on", CheckFail,
		"switched off in the settings", "switch it on: browser.enabled")
}

func (b BrowserFacts) executable() Check {
	return passUnless(b.FindError != "", "managed-executable", "Browser program", b.Executable, CheckFail,
		b.FindError, "install Chromium, or name the program in the settings: executablePath")
}

func (b BrowserFacts) headless() Check {
	how := "with a window"
	if b.Headless {
		how = "headless"
	}
	return Check{ID: "headless-mode", Label: "Window", Status: CheckInfo, Summary: how + " (" + b.HeadlessSource + ")"}
}

func (b BrowserFacts) display() Check {
	there := "there is one"
	if !b.HasDisplay {
		there = "there is none, and none is needed"
	}
	return passUnless(!b.HasDisplay && !b.Headless, "display", "Display", there, CheckFail,
		"a window is wanted, and neither DISPLAY nor WAYLAND_DISPLAY is set",
		"set headless, or start the program in a desktop session or with xvfb-run")
}

func (b BrowserFacts) lock() Check {
	return passUnless(b.DirHolder != "", "profile-lock", "Profile directory in use", "by nobody else", CheckWarn,
		"by "+b.DirHolder, "end that program, or use another profile")
}

func (b BrowserFacts) port() Check {
	return passUnless(b.PortHolder != "", "devtools-port", "DevTools port", "free, or ours", CheckWarn,
		b.PortHolder+"; the browser takes another", "end that program, or make a new profile, which gets another port")
}

// policy reports what checks the addresses of the browser's pages.
func (b BrowserFacts) policy() Check {
	c := Check{
		ID: "policy", Label: "Network access", Status: CheckPass,
		Summary: fmt.Sprintf("all traffic goes through the checking proxy; requests refused: %d", b.Refusals),
	}
	switch b.Guard {
	case "proxy":
	case "best-effort":
		c.Status, c.Summary, c.FixHint = CheckInfo, b.GuardNote, "use a profile whose browser is started here"
	default:
		c.Status, c.Summary, c.FixHint = CheckWarn, b.GuardNote, "see the settings under \"Network access\""
	}
	return c
}

func (b BrowserFacts) target() Check {
	c := Check{ID: "attach-target", Label: "Browser to join", Status: CheckPass, Summary: "connected"}
	switch {
	case b.Connected:
	case b.ProbeError == "":
		c.Summary = "it is there; the connection is made with the first use"
	case b.Personal:
		c.Status, c.Summary = CheckInfo, b.ProbeError
		c.FixHint = "open chrome://inspect/#remote-debugging in your browser and switch remote debugging on; it asks once " +
			"for each connection"
	default:
		c.Status, c.Summary, c.FixHint = CheckFail, b.ProbeError, "start that browser, and compare its address with the "+
			"profile's cdpUrl"
	}
	return c
}

func (b BrowserFacts) http() Check {
	c := Check{ID: "cdp-http", Label: "DevTools over HTTP", Status: CheckPass, Summary: "/json/version is answered"}
	switch {
	case b.HTTP:
	case b.Started && b.Connected:
		c.Status, c.Summary, c.FixHint = CheckWarn, "no answer in time, although it is connected",
			"stop and start the browser if it does not answer at all"
	case b.Started:
		c.Status, c.Summary, c.FixHint = CheckInfo, "the browser does not run", startHint
	default:
		c.Status, c.Summary = CheckInfo, "not offered, or not asked"
	}
	return c
}

func (b BrowserFacts) socket() Check {
	c := Check{ID: "cdp-websocket", Label: "DevTools commands", Status: CheckPass, Summary: "a command was answered"}
	switch {
	case b.Ready:
	case b.Connected:
		c.Status, c.Summary, c.FixHint = CheckFail, b.ProbeError, "stop and start the browser"
	case b.Started || b.Personal || b.ProbeError == "":
		c.Status, c.Summary, c.FixHint = CheckInfo, "not connected", startHint
	default:
		c.Status, c.Summary, c.FixHint = CheckFail, b.ProbeError, "see attach-target"
	}
	return c
}

func (b BrowserFacts) graphics() Check {
	c := Check{ID: "graphics", Label: "Graphics", Status: CheckInfo, Summary: "not known while the browser does not run"}
	switch b.Acceleration {
	case "":
	case "hardware":
		c.Status, c.Summary = CheckPass, "hardware: "+b.Renderer
	default:
		c.Summary = b.Acceleration + ": " + b.Renderer
	}
	return c
}

func (b BrowserFacts) page() Check {
	c := Check{
		ID: "live-snapshot", Label: "Look at a page", Status: CheckPass,
		Summary: fmt.Sprintf("%d nodes", b.PageNodes),
	}
	switch {
	case !b.Connected:
		c.Status, c.Summary, c.FixHint = CheckInfo, "the browser does not run", startHint
	case b.PageError != "":
		c.Status, c.Summary, c.FixHint = CheckFail, b.PageError, "reload the page; if that does not help, stop and start "+
			"the browser"
	case b.PageNodes == 0:
		c.Status, c.Summary, c.FixHint = CheckWarn, "the page shows nothing", "open a page and try again"
	}
	return c
}
