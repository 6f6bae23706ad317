package computeruse

import (
	"cmp"
	"strings"

	"clank/internal/untrusted"
	"clank/sessions/agent"
)

// actionResult is what came of something that was done to the page, or read from it.
type actionResult struct {
	err      error  // it failed; the text may be a page's
	refused  string // it was not done because somebody or something said no; a sentence of ours
	decision string // what was decided, if people were asked
	remark   string // ours
	notes    []string
	body     string // what was read
}

func (d *actionResult) failed() bool { return d.err != nil || d.refused != "" }

// add takes in what came of a later part of the same act.
func (d *actionResult) add(o actionResult) {
	d.err, d.refused, d.remark, d.body = o.err, o.refused, o.remark, o.body
	d.decision = cmp.Or(o.decision, d.decision)
	d.notes = append(d.notes, o.notes...)
}

// text returns what the model reads, or "" if there is nothing to report. Text from untrusted sources is marked.
func (d *actionResult) text() string {
	var ours, theirs []string
	for _, s := range []string{d.refused, d.decision, d.remark} {
		if s != "" {
			ours = append(ours, s)
		}
	}
	if d.err != nil {
		ours = append(ours, "It failed.")
		theirs = append(theirs, "error: "+untrusted.CleanLine(d.err.Error(), maxNote))
	}
	for _, n := range d.notes {
		theirs = append(theirs, "note: "+untrusted.CleanLine(n, maxNote))
	}
	if d.body != "" {
		theirs = append(theirs, untrusted.Clean(d.body))
	}
	if len(theirs) > 0 {
		ours = append(ours, untrusted.Wrap(strings.Join(theirs, "\n")))
	}
	return strings.Join(ours, "\n")
}

// summary returns what people read about the result.
func (d *actionResult) summary() string {
	var rest string
	switch {
	case d.err != nil:
		rest = d.err.Error()
	case d.refused != "":
		rest = d.refused
	case d.body != "":
		rest = agent.Truncate(d.body, 500)
	default:
		rest = strings.Join(d.notes, "; ")
	}
	return strings.TrimSpace(strings.TrimSpace(d.decision+" "+d.remark) + " " + rest)
}
