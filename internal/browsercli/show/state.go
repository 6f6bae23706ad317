package show

import (
	"fmt"
	"strconv"

	"clank/browsermgr/control/client"
)

// Status prints how a profile and its browser are, without what is not known.
func Status(p *Printer, s client.Status) {
	line := func(name, value string) {
		if value != "" {
			p.Line("%s: %s", name, Word(value))
		}
	}
	line("profile", s.Profile)
	line("running", strconv.FormatBool(s.Running))
	line("driver", s.Driver)
	line("transport", s.Transport)
	line("pid", numeral(s.PID))
	line("port", numeral(s.CDPPort))
	line("address", deref(s.CDPURL))
	line("browser", deref(s.ChosenBrowser))
	line("found", deref(s.DetectedBrowser))
	line("program", deref(s.DetectedPath))
	line("problem", deref(s.DetectError))
	line("data", deref(s.UserDataDir))
	if s.HeadlessSource != "" {
		line("headless", strconv.FormatBool(s.Headless)+" ("+s.HeadlessSource+")")
	}
	line("color", s.Color)
	if g := s.Guard; g.Mode != "" {
		line("guard", fmt.Sprintf("%s, %d refused", g.Mode, g.Refusals))
		line("about it", g.Note)
	}
}

// Profiles prints a list of profiles.
func Profiles(p *Printer, list []client.ProfileInfo) {
	for _, info := range list {
		state := "stopped"
		if info.Running {
			state = "running, " + Counted(info.TabCount, "tab")
		}
		if info.IsDefault {
			state += ", default"
		}
		if info.IsRemote {
			state += ", remote"
		}
		if info.MissingFromConfig {
			state += ", no longer configured"
		}
		p.Line("%s: %s", Word(info.Name), state)
		where := numeral(info.CDPPort)
		if where != "" {
			where = "port " + where
		} else if where = deref(info.CDPURL); where == "" {
			where = info.Transport
		}
		p.Line("   %s, color %s", Word(where), Word(info.Color))
		if reason := deref(info.ReconcileReason); reason != "" {
			p.Line("   %s", Word(reason))
		}
	}
}

// Report prints what an examination found, and how to mend it.
func Report(p *Printer, r client.Report) {
	if r.Profile != "" {
		p.Line("profile: %s (%s)", Word(r.Profile), Word(r.Transport))
	}
	for _, c := range r.Checks {
		sign, known := map[string]string{"pass": "✓ ok  ", "warn": "! warn", "fail": "✗ FAIL", "info": "- info"}[c.Status]
		if !known {
			sign = "? " + Word(c.Status)
		}
		p.Line("%s  %s: %s", sign, Word(c.Label), Word(c.Summary))
		if c.FixHint != "" {
			p.Line("          to mend it: %s", Word(c.FixHint))
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func numeral(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// Counted is a number of things in words; what is the word for one.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
