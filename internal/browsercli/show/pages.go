package show

import (
	"encoding/json"
	"strings"

	"clank/browsermgr/control/client"
)

// Tabs prints a list of tabs as people count them, from 1.
func Tabs(p *Printer, list client.TabList) {
	switch {
	case len(list.Tabs) > 0:
	case list.Running:
		p.Say("there is no tab")
	default:
		p.Say("there is no tab: the browser does not run; \"clank browser open <url>\" starts it")
	}
	for i, tab := range list.Tabs {
		title := Word(tab.Title)
		if title == "" {
			title = "(untitled)"
		}
		address := Word(tab.URL)
		if address == "" {
			address = "(" + Word(tab.URLUnavailableReason) + ")"
		}
		p.Line("%d. %s", i+1, title)
		p.Line("   %s", address)
		p.Line("   id: %s", Word(tab.TargetID))
		if tab.TabID != "" {
			named := Word(tab.TabID)
			if tab.Label != "" {
				named += " " + Word(tab.Label)
			}
			p.Line("   tab: %s", named)
		}
	}
}

// Snapshot prints the content of a page, and where its picture is.
func Snapshot(p *Printer, s client.Snapshot) {
	if len(s.Nodes) > 0 {
		p.Block(outline(s.Nodes))
	} else {
		p.Block(s.Text)
	}
	if s.URL == "about:blank" {
		p.Say("nothing is open in this tab: \"clank browser navigate <url>\" goes to a page")
	}
	if s.ImagePath != "" {
		p.Line("MEDIA:%s", Word(s.ImagePath))
	}
}

// outline writes nodes as lines.
func outline(nodes []client.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(strings.Repeat("  ", min(max(n.Depth, 0), 100)) + "- " + Word(n.Role))
		if n.Name != "" {
			name, _ := json.Marshal(Clean(n.Name))
			b.WriteString(" " + string(name))
		}
		b.WriteString(" [ref=" + Word(n.Ref) + "]")
		if n.Value != "" {
			b.WriteString(": " + Word(n.Value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Consequences prints what an action brought about: downloads and dialogs.
func Consequences(p *Printer, r client.Result) {
	downloads := r.Downloads
	if r.Download != nil {
		downloads = append(downloads, *r.Download)
	}
	for _, d := range downloads {
		p.Line("downloaded: %s", Clean(d.Path))
	}
	if r.BlockedByDialog {
		p.Say("%s", DialogHint(r.BrowserState))
	}
}

// Batch prints how each of several actions went, and what they downloaded.
func Batch(p *Printer, r client.Result) {
	for i, entry := range r.Results {
		switch {
		case !entry.OK:
			p.Line("%d. failed: %s", i+1, Word(entry.Error))
		case entry.Navigated:
			p.Line("%d. done, now on %s", i+1, Word(entry.URL))
		case len(entry.Value) > 0:
			p.Line("%d. done: %s", i+1, Clean(string(entry.Value)))
		default:
			p.Line("%d. done", i+1)
		}
	}
	for _, d := range r.Downloads {
		p.Line("downloaded: %s", Clean(d.Path))
	}
}

// DialogHint says which dialog is open, and how to go on. state may be nil.
func DialogHint(state *client.BrowserState) string {
	const way = `answer it with "clank browser dialog --accept" or "--dismiss"`
	if state == nil || len(state.Dialogs.Pending) == 0 {
		return "a dialog is open: " + way
	}
	d := state.Dialogs.Pending[0]
	return "a dialog is open (" + Word(d.ID) + ", " + Word(d.Type) + " \"" + Word(d.Message) + "\"): " + way
}
