package doctor

import "fmt"

// Browser is what was seen of a profile and its browser.
type Browser struct {
	Enabled    bool
	Profile    string
	Driver     string
	Started    bool   // by us; otherwise it is joined
	Personal   bool   // it is a person's, which we never ask in passing
	Executable string // found, of one that we start
	FindError  string
	Headless   bool
	Source     string // who decided on Headless
	Display    bool
	Connected  bool // we have a connection now
	HTTP       bool
	Ready      bool
	ProbeError string
	Port       string // who has the port of a browser that does not run; empty if nobody
	Holder     string // another program that has the profile's directory; empty if none
	Renderer   string
	Accelerate string // hardware, software, unknown, or empty
	Nodes      int    // of a look at its page
	LookError  string
	Looked     bool
	Guard      string // what checks where its pages go: proxy, best-effort or off
	GuardNote  string
	Refusals   uint64
	Weak       string // a flag that takes a protection from its pages; empty if there is none
}

const startHint = "clank browser start"

// Checks judges what was seen. A browser that merely does not run is no failure.
func (b Browser) Checks() []Check {
	checks := []Check{b.enabled(), {ID: "profile", Label: "Profile", Status: Pass, Summary: fmt.Sprintf("%q, driver %s", b.Profile, b.Driver)}}
	if b.Started {
		checks = append(checks, b.executable(), b.headless(), b.display(), b.lock(), b.port())
	} else {
		checks = append(checks, b.target())
	}
	checks = append(checks, b.http(), b.socket(), b.graphics(), b.policy())
	if b.Weak != "" {
		checks = append(checks, b.weak())
	}
	if b.Looked {
		checks = append(checks, b.look())
	}
	return checks
}

func (b Browser) weak() Check {
	return Check{
		ID: "flags", Label: "Flags", Status: Warn, Summary: b.Weak + " takes from pages what keeps others from reading them",
		FixHint: "take it out of the flags for the browser, and open hostile pages in no browser that has it",
	}
}

func (b Browser) enabled() Check {
	c := Check{ID: "plugin-enabled", Label: "Browser", Status: Pass, Summary: "switched on"}
	if !b.Enabled {
		c.Status, c.Summary, c.FixHint = Fail, "switched off in the settings", "switch it on: browser.enabled"
	}
	return c
}

func (b Browser) executable() Check {
	c := Check{ID: "managed-executable", Label: "Browser program", Status: Pass, Summary: b.Executable}
	if b.FindError != "" {
		c.Status, c.Summary, c.FixHint = Fail, b.FindError, "install Chromium, or name the program in the settings: executablePath"
	}
	return c
}

func (b Browser) headless() Check {
	how := "with a window"
	if b.Headless {
		how = "headless"
	}
	return Check{ID: "headless-mode", Label: "Window", Status: Info, Summary: how + " (" + b.Source + ")"}
}

func (b Browser) display() Check {
	c := Check{ID: "display", Label: "Display", Status: Pass, Summary: "there is one"}
	switch {
	case b.Display:
	case b.Headless:
		c.Summary = "there is none, and none is needed"
	default:
		c.Status, c.Summary = Fail, "a window is wanted, and neither DISPLAY nor WAYLAND_DISPLAY is set"
		c.FixHint = "set headless, or start the program in a desktop session or with xvfb-run"
	}
	return c
}

func (b Browser) lock() Check {
	c := Check{ID: "profile-lock", Label: "Profile directory in use", Status: Pass, Summary: "by nobody else"}
	if b.Holder != "" {
		c.Status, c.Summary, c.FixHint = Warn, "by "+b.Holder, "end that program, or use another profile"
	}
	return c
}

func (b Browser) port() Check {
	c := Check{ID: "devtools-port", Label: "DevTools port", Status: Pass, Summary: "free, or ours"}
	if b.Port != "" {
		c.Status, c.Summary, c.FixHint = Fail, b.Port, "end that program, or make a new profile, which gets another port"
	}
	return c
}

// policy says what checks where the browser's pages go.
func (b Browser) policy() Check {
	c := Check{ID: "policy", Label: "What pages may reach", Status: Pass, Summary: fmt.Sprintf("all traffic goes through the checking proxy; requests refused: %d", b.Refusals)}
	switch b.Guard {
	case "proxy":
	case "best-effort":
		c.Status, c.Summary, c.FixHint = Info, b.GuardNote, "use a profile whose browser is started here"
	default:
		c.Status, c.Summary, c.FixHint = Warn, b.GuardNote, "see the settings under \"What pages may reach\""
	}
	return c
}

func (b Browser) target() Check {
	c := Check{ID: "attach-target", Label: "Browser to join", Status: Pass, Summary: "connected"}
	switch {
	case b.Connected:
	case b.ProbeError == "":
		c.Summary = "it is there; the connection is made with the first use"
	case b.Personal:
		c.Status, c.Summary = Info, b.ProbeError
		c.FixHint = "open chrome://inspect/#remote-debugging in your browser and switch remote debugging on; it asks once for each connection"
	default:
		c.Status, c.Summary, c.FixHint = Fail, b.ProbeError, "start that browser, and compare its address with the profile's cdpUrl"
	}
	return c
}

func (b Browser) http() Check {
	c := Check{ID: "cdp-http", Label: "DevTools over HTTP", Status: Pass, Summary: "/json/version is answered"}
	switch {
	case b.HTTP:
	case b.Started && b.Connected:
		c.Status, c.Summary, c.FixHint = Warn, "not answered in time, though the connection stands", "stop and start the browser if it does not answer at all"
	case b.Started:
		c.Status, c.Summary, c.FixHint = Info, "the browser does not run", startHint
	default:
		c.Status, c.Summary = Info, "not offered, or not asked"
	}
	return c
}

func (b Browser) socket() Check {
	c := Check{ID: "cdp-websocket", Label: "DevTools commands", Status: Pass, Summary: "a command was answered"}
	switch {
	case b.Ready:
	case b.Connected:
		c.Status, c.Summary, c.FixHint = Fail, b.ProbeError, "stop and start the browser"
	case b.Started || b.Personal || b.ProbeError == "":
		c.Status, c.Summary, c.FixHint = Info, "not connected", startHint
	default:
		c.Status, c.Summary, c.FixHint = Fail, b.ProbeError, "see attach-target"
	}
	return c
}

func (b Browser) graphics() Check {
	c := Check{ID: "graphics", Label: "Graphics", Status: Info, Summary: "not known while the browser does not run"}
	switch b.Accelerate {
	case "":
	case "hardware":
		c.Status, c.Summary = Pass, "hardware: "+b.Renderer
	default:
		c.Summary = b.Accelerate + ": " + b.Renderer
	}
	return c
}

func (b Browser) look() Check {
	c := Check{ID: "live-snapshot", Label: "Look at a page", Status: Pass, Summary: fmt.Sprintf("%d nodes", b.Nodes)}
	switch {
	case !b.Connected:
		c.Status, c.Summary, c.FixHint = Info, "the browser does not run", startHint
	case b.LookError != "":
		c.Status, c.Summary, c.FixHint = Fail, b.LookError, "reload the page; if that does not help, stop and start the browser"
	case b.Nodes == 0:
		c.Status, c.Summary, c.FixHint = Warn, "the page shows nothing", "open a page and try again"
	}
	return c
}
