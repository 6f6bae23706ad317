package browseagent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
	"clank/untrusted"
)

// The headings under which a result carries something long. What follows one of
// them, up to the end marker, is that alone.
const (
	sectionPage    = "page"         // the whole page state
	sectionChanges = "page changes" // a unified diff of the last page state
	sectionText    = "text"         // readable text
	sectionLinks   = "links"        // lines of `text -> URL`
	sectionTabs    = "tabs"         // one line for each tab
)

const (
	maxSaid  = 2000 // characters of an address, a note or an error
	maxTitle = 300  // characters of a title
)

// outcome is what came of one call.
//
// A model reads it as a first line "ok" or "failed", remarks of ours, and then,
// marked as untrusted, lines that begin with "error: ", "note: ", "url: " and
// "title: ", and at last one section.
type outcome struct {
	err     error  // the tool failed; the text may be a page's
	consent string // what became of the question whether it may be done, if there was one
	remarks []string
	notes   []string
	url     string // "" if nothing is known
	title   string // "" if it has not changed
	section string
	body    string
	images  []llm.Image
	view    *sessions.Image
	invalid bool // the call could not be understood; nothing was done
}

func failure(err error) outcome { return outcome{err: err} }

// misuse is the outcome of a call that could not be understood.
func misuse(format string, args ...any) *outcome {
	return &outcome{invalid: true, remarks: []string{fmt.Sprintf(format, args...)}}
}

// failed reports whether the tool did not do what it was asked to do.
func (o *outcome) failed() bool { return o.err != nil || o.invalid }

// text returns what the model reads, and how it reads when it is old: short is
// "" if there is nothing to leave out. n is the number of the step.
func (o *outcome) text(n int) (full, short string) {
	head := "ok"
	if o.failed() {
		head = "failed"
	}
	if o.consent != "" {
		head += "\n" + o.consent
	}
	head = strings.Join(append([]string{head}, o.remarks...), "\n")
	var lines []string
	if o.err != nil {
		lines = append(lines, "error: "+untrusted.Line(o.err.Error(), maxSaid))
	}
	for _, note := range o.notes {
		lines = append(lines, "note: "+untrusted.Line(note, maxSaid))
	}
	if o.url != "" {
		lines = append(lines, "url: "+untrusted.Line(o.url, maxSaid))
	}
	if o.title != "" {
		lines = append(lines, "title: "+untrusted.Line(o.title, maxTitle))
	}
	switch {
	case o.section != "" && o.body != "":
		gone := fmt.Sprintf("(%s of step %d left out)", strings.Replace(o.section, sectionPage, "page state", 1), n)
		short = head + "\n" + untrusted.Wrap(strings.Join(append(slices.Clip(lines), gone), "\n"))
		lines = append(lines, o.section+":", foreign(o.body))
	case o.section != "":
		lines = append(lines, o.section+": none")
	}
	if len(lines) == 0 {
		return head, ""
	}
	return head + "\n" + untrusted.Wrap(strings.Join(lines, "\n")), short
}

// heading matches a line that begins as our own do.
var heading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:error|note|url|title|page|page changes|text|links|tabs)[ \t]*:`)
})

// foreign moves lines of a page that begin as ours do by a space, so that a
// line which begins at the margin with one of our words is ours.
func foreign(body string) string {
	return heading().ReplaceAllString(untrusted.Clean(body), " $0")
}

// clean takes a secret out of what the page and the browser said.
func (o *outcome) clean(secret string) {
	if secret == "" {
		return
	}
	for i, n := range o.notes {
		o.notes[i] = strings.ReplaceAll(n, secret, "")
	}
	if o.err != nil && strings.Contains(o.err.Error(), secret) {
		o.err = errors.New(strings.ReplaceAll(o.err.Error(), secret, ""))
	}
}

// brief is what people read about the outcome beside the step's label.
func (o *outcome) brief() string {
	if o.consent != "" {
		rest := *o
		rest.consent = ""
		return strings.TrimSuffix(o.consent+" "+rest.brief(), " ")
	}
	switch {
	case o.err != nil:
		return o.err.Error()
	case o.invalid:
		return strings.Join(o.remarks, " ")
	case o.section == sectionText || o.section == sectionLinks:
		return working.Cut(o.body, 500)
	default:
		return strings.Join(o.notes, "; ")
	}
}

// fingerprint is equal for outcomes that tell the model the same.
func (o *outcome) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%v\x00%q\x00%q\x00%q\x00%q", o.err, o.remarks, o.notes, o.url, o.section)
	h.Write([]byte(o.body))
	for _, img := range o.images {
		sum := sha256.Sum256(img.Data)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
