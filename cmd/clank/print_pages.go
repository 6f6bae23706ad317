package main

import (
	"encoding/json"
	"strings"

	"clank/browsermgr/control/client"
)

// printTabs prints a list of tabs as people count them, from 1.
func printTabs(p *outputPrinter, list client.TabList) {
	switch {
	case len(list.Tabs) > 0:
	case list.Running:
		p.Message("there is no tab")
	default:
		p.Message("there is no tab: the browser does not run; \"clank browser open <url>\" starts it")
	}
	for i, tab := range list.Tabs {
		title := cleanLine(tab.Title)
		if title == "" {
			title = "(untitled)"
		}
		address := cleanLine(tab.URL)
		if address == "" {
			address = "(" + cleanLine(tab.URLUnavailableReason) + ")"
		}
		p.Line("%d. %s", i+1, title)
		p.Line("   %s", address)
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

// printSnapshot prints the content of a page, and where its picture is.
func printSnapshot(p *outputPrinter, s client.Snapshot) {
	if len(s.Nodes) > 0 {
		p.Text(formatNodes(s.Nodes))
	} else {
		p.Text(s.Text)
	}
	if s.URL == "about:blank" {
		p.Message("nothing is open in this tab: \"clank browser navigate <url>\" goes to a page")
	}
	if s.ImagePath != "" {
		p.Line("MEDIA:%s", cleanLine(s.ImagePath))
	}
}

// formatNodes writes nodes as lines.
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

// printConsequences prints what an action brought about: downloads and dialogs.
func printConsequences(p *outputPrinter, r client.Result) {
	downloads := r.Downloads
	if r.Download != nil {
		downloads = append(downloads, *r.Download)
	}
	for _, d := range downloads {
		p.Line("downloaded: %s", cleanText(d.Path))
	}
	printRefused(p, r.Refused)
	if r.BlockedByDialog {
		p.Message("%s", dialogHint(r.BrowserState))
	}
}

// printRefused says what was refused of a page that is open; "" is nothing.
func printRefused(p *outputPrinter, refused string) {
	if refused != "" {
		p.Message("a part of the page was refused: %s", cleanText(refused))
	}
}

// printBatch prints how each of several actions went, and what they downloaded.
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
	for _, d := range r.Downloads {
		p.Line("downloaded: %s", cleanText(d.Path))
	}
}

// dialogHint says which dialog is open, and how to go on. state may be nil.
func dialogHint(state *client.BrowserState) string {
	const way = `answer it with "clank browser dialog --accept" or "--dismiss"`
	if state == nil || len(state.Dialogs.Pending) == 0 {
		return "a dialog is open: " + way
	}
	d := state.Dialogs.Pending[0]
	return "a dialog is open (" + cleanLine(d.ID) + ", " + cleanLine(d.Type) + " \"" + cleanLine(d.Message) + "\"): " + way
}
