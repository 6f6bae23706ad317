package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"clank/browsermgr/control/client"
)

// printBrowserStatus prints the state of a profile and its browser, omitting what is unknown.
func printBrowserStatus(p *outputPrinter, s client.ProfileStatus) {
	line := func(name, value string) {
		if value != "" {
			p.Line("%s: %s", name, cleanLine(value))
		}
	}
	line("profile", s.Profile)
	line("running", strconv.FormatBool(s.Running))
	line("driver", strings.Replace(s.Driver, "openclaw", "clank", 1)) // the API has the name that older clients know
	line("transport", s.Transport)
	line("pid", intOrEmpty(s.PID))
	if s.MemoryMB > 0 {
		line("memory", fmt.Sprintf("%d MB", s.MemoryMB))
	}
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

// profileList is the response to a request for the profiles.
type profileList struct {
	Profiles   []client.Profile
	MaxRunning int
}

// printProfiles prints a list of profiles, and the total memory of the running ones.
func printProfiles(p *outputPrinter, list profileList) {
	running, memory := 0, 0
	for _, info := range list.Profiles {
		if info.MemoryMB > 0 { // started by clank
			running, memory = running+1, memory+info.MemoryMB
		}
		state := "stopped"
		if info.Running {
			state = "running, " + countNoun(info.TabCount, "tab")
		}
		if info.MemoryMB > 0 {
			state += fmt.Sprintf(", %d MB", info.MemoryMB)
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
		where := info.Transport
		switch {
		case info.Listening && info.CDPPort != nil:
			where = "port " + intOrEmpty(info.CDPPort)
		case info.Listening || info.IsRemote:
			where = cmp.Or(stringOrEmpty(info.CDPURL), where)
		}
		p.Line("   %s, color %s", cleanLine(where), cleanLine(info.Color))
		if reason := stringOrEmpty(info.ReconcileReason); reason != "" {
			p.Line("   %s", cleanLine(reason))
		}
	}
	if list.MaxRunning > 0 {
		p.Line("%d of at most %s run, with %d MB together", running, countNoun(list.MaxRunning, "browser"), memory)
	}
}

// printReport prints the findings of a check, and how to fix them.
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

// countNoun returns a number with a noun; what is its singular.
func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// printTabs prints a list of tabs, numbered from 1.
func printTabs(p *outputPrinter, list client.TabList) {
	switch {
	case len(list.Tabs) > 0:
	case list.Running:
		p.Message("there is no tab")
	default:
		p.Message("there is no tab: the browser does not run; \"clank browser open <url>\" starts it")
	}
	for i, tab := range list.Tabs {
		p.Line("%d. %s", i+1, cmp.Or(cleanLine(tab.Title), "(untitled)"))
		p.Line("   %s", cmp.Or(cleanLine(tab.URL), "("+cleanLine(tab.URLUnavailableReason)+")"))
		p.Line("   id: %s", cleanLine(tab.TargetID))
		if tab.TabID != "" {
			named := cleanLine(tab.TabID)
			if tab.Label != "" {
				named += " " + cleanLine(tab.Label)
			}
			p.Line("   tab: %s", named)
		}
	}
}

// printSnapshot prints the content of a page, and the path of its image.
func printSnapshot(p *outputPrinter, s client.Snapshot) {
	if len(s.Nodes) > 0 {
		p.Text(formatNodes(s.Nodes))
	} else {
		p.Text(s.Text)
	}
	switch {
	case s.URL == "about:blank":
		p.Message("nothing is open in this tab: \"clank browser navigate <url>\" goes to a page")
	case s.Reason != "":
		p.Message("%s", cleanLine(s.Reason))
	}
	if s.ImagePath != "" {
		p.Line("MEDIA:%s", cleanLine(s.ImagePath))
	}
}

// formatNodes formats nodes as lines.
func formatNodes(nodes []client.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(strings.Repeat("  ", min(max(n.Depth, 0), 100)) + "- " + cleanLine(n.Role))
		if n.Name != "" {
			name, _ := json.Marshal(cleanText(n.Name))
			b.WriteString(" " + string(name))
		}
		b.WriteString(" [ref=" + cleanLine(n.Ref) + "]")
		if n.Value != "" {
			b.WriteString(": " + cleanLine(n.Value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// printConsequences prints what an action caused: downloads and dialogs.
func printConsequences(p *outputPrinter, r client.Result) {
	downloads := r.Downloads
	if r.Download != nil {
		downloads = append(downloads, *r.Download)
	}
	printDownloads(p, downloads)
	for _, note := range r.Notes {
		if (len(downloads) == 0 || !downloadNote().MatchString(note)) && !r.BlockedByDialog {
			p.Message("%s", cleanText(note))
		}
	}
	printRefused(p, r.Refused)
	if r.BlockedByDialog {
		p.Message("%s", dialogHint(r.BrowserState))
	}
}

// downloadNote matches notes about downloads, which have their own field.
var downloadNote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:still |not )?download`) })

// printRefused prints what was refused on an open page, unless refused is "".
func printRefused(p *outputPrinter, refused string) {
	if refused != "" {
		p.Message("a part of the page was refused: %s", cleanText(refused))
	}
}

// printBatch prints the result of each of several actions, and their downloads.
func printBatch(p *outputPrinter, r client.Result) {
	for i, entry := range r.Results {
		switch {
		case !entry.OK:
			p.Line("%d. failed: %s", i+1, cleanLine(entry.Error))
		case entry.Navigated:
			p.Line("%d. done, now on %s", i+1, cleanLine(entry.URL))
		case len(entry.Value) > 0:
			p.Line("%d. done: %s", i+1, cleanText(string(entry.Value)))
		default:
			p.Line("%d. done", i+1)
		}
	}
	printDownloads(p, r.Downloads)
}

// printDownloads prints the results of downloads.
func printDownloads(p *outputPrinter, list []client.Download) {
	for _, d := range list {
		switch name := cleanLine(d.SuggestedFilename); {
		case d.Error != "":
			p.Line("not downloaded: %s: %s", name, cleanText(d.Error))
		case d.InProgress:
			p.Line("still downloading: %s", name)
		default:
			p.Line("downloaded: %s", cleanText(d.Path))
		}
	}
}

// dialogHint describes the open dialog and how to continue. state may be nil.
func dialogHint(state *client.BrowserState) string {
	const way = `answer it with "clank browser dialog --accept" or "--dismiss"`
	if state == nil || len(state.Dialogs.Pending) == 0 {
		return "a dialog is open: " + way
	}
	d := state.Dialogs.Pending[0]
	return "a dialog is open (" + cleanLine(d.ID) + ", " + cleanLine(d.Type) + " \"" + cleanLine(d.Message) + "\"): " + way
}
