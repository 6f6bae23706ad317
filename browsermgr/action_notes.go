package browsermgr

import (
	"fmt"

	"clank/browsermgr/page"
)

// resultNotes says in sentences what an action led to.
func resultNotes(res page.Result) []string {
	var notes []string
	if res.Value != nil {
		notes = append(notes, "result: "+string(res.Value))
	}
	if res.Status >= 400 {
		notes = append(notes, fmt.Sprintf("the server answered HTTP %d", res.Status))
	}
	if res.Loading {
		notes = append(notes, "the page is still loading")
	}
	if d := res.Dialog; res.BlockedByDialog && d != nil {
		note := fmt.Sprintf("the page shows a dialog (%s): %q", d.Type, d.Message)
		if d.Type == "prompt" && d.DefaultValue != "" {
			note += fmt.Sprintf(", with %q filled in", d.DefaultValue)
		}
		notes = append(notes, note+"; answer it with the action dialog")
	}
	return notes
}
