package main

import (
	"fmt"
	"strconv"

	"clank/browsermgr/control/client"
	"clank/browsermgr/profile"
)

// printBrowserStatus prints how a profile and its browser are, without what is not known.
func printBrowserStatus(p *outputPrinter, s profile.Status) {
	line := func(name, value string) {
		if value != "" {
			p.Line("%s: %s", name, cleanLine(value))
		}
	}
	line("profile", s.Profile)
	line("running", strconv.FormatBool(s.Running))
	line("driver", s.Driver)
	line("transport", s.Transport)
	line("pid", intOrEmpty(s.PID))
	line("port", intOrEmpty(s.CDPPort))
	line("address", stringOrEmpty(s.CDPURL))
	line("browser", stringOrEmpty(s.ChosenBrowser))
	line("found", stringOrEmpty(s.DetectedBrowser))
	line("program", stringOrEmpty(s.DetectedExecutablePath))
	line("problem", stringOrEmpty(s.DetectError))
	line("data", stringOrEmpty(s.UserDataDir))
	if s.HeadlessSource != "" {
		line("headless", strconv.FormatBool(s.Headless)+" ("+s.HeadlessSource+")")
	}
	line("color", s.Color)
	if g := s.Guard; g.Mode != "" {
		line("guard", fmt.Sprintf("%s, %d refused", g.Mode, g.Refusals))
		line("about it", g.Note)
	}
}

// printProfiles prints a list of profiles.
func printProfiles(p *outputPrinter, list []profile.Info) {
	for _, info := range list {
		state := "stopped"
		if info.Running {
			state = "running, " + countNoun(info.TabCount, "tab")
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
		p.Line("%s: %s", cleanLine(info.Name), state)
		where := intOrEmpty(info.CDPPort)
		if where != "" {
			where = "port " + where
		} else if where = stringOrEmpty(info.CDPURL); where == "" {
			where = info.Transport
		}
		p.Line("   %s, color %s", cleanLine(where), cleanLine(info.Color))
		if reason := stringOrEmpty(info.ReconcileReason); reason != "" {
			p.Line("   %s", cleanLine(reason))
		}
	}
}

// printReport prints what an examination found, and how to mend it.
func printReport(p *outputPrinter, r client.Report) {
	if r.Profile != "" {
		p.Line("profile: %s (%s)", cleanLine(r.Profile), cleanLine(r.Transport))
	}
	for _, c := range r.Checks {
		sign, known := map[string]string{"pass": "✓ ok  ", "warn": "! warn", "fail": "✗ FAIL", "info": "- info"}[c.Status]
		if !known {
			sign = "? " + cleanLine(c.Status)
		}
		p.Line("%s  %s: %s", sign, cleanLine(c.Label), cleanLine(c.Summary))
		if c.FixHint != "" {
			p.Line("          to mend it: %s", cleanLine(c.FixHint))
		}
	}
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func intOrEmpty(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// countNoun returns a number of things in words; what is the word for one.
func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
