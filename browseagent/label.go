package browseagent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions/agent"
)

// passwordMask stands for a password wherever people can read it.
const passwordMask = "••••"

// element is what a line of a page state says about the element behind a ref.
type element struct {
	role, name string
	secret     bool // a password field
}

// elementNames are the elements of a page state by ref.
type elementNames map[string]element

var attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ \[([^\]]*)\]`) })

// parseElements reads the elements of a page state. Only what stands where an attribute stands is one: a page may write
// "[ref=e1]" into names and texts.
func parseElements(lines []string) elementNames {
	ns := make(elementNames)
	for _, l := range lines {
		e, attributes := parseElement(l)
		ref := ""
		for m := attribute().FindStringSubmatch(attributes); m != nil; m = attribute().FindStringSubmatch(attributes) {
			attributes = attributes[len(m[0]):]
			if r, ok := strings.CutPrefix(m[1], "ref="); ok {
				ref = r
			}
			e.secret = e.secret || m[1] == "password" || m[1] == "type=password"
		}
		if ref == "" {
			continue
		}
		e.secret = e.secret || (e.role == "textbox" && agent.IsPasswordFieldName(e.name))
		ns[ref] = e
	}
	return ns
}

// parseElement reads role and name of a line such as `  - button "Buy" [ref=e1]`, and returns what follows them. A
// whole key may be in single quotes, as YAML wants it.
func parseElement(line string) (e element, rest string) {
	line, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
	if !ok {
		return e, ""
	}
	if quoted, ok := strings.CutPrefix(line, "'"); ok {
		line = strings.ReplaceAll(quoted, "''", "'")
	}
	end := strings.IndexAny(line, " :")
	if end < 0 {
		return element{role: line}, ""
	}
	e.role, rest = line[:end], line[end:]
	if dec, name := json.NewDecoder(strings.NewReader(rest)), ""; strings.HasPrefix(rest, ` "`) && dec.Decode(&name) == nil {
		e.name, rest = agent.OneLine(name), rest[dec.InputOffset():]
	}
	return e, rest
}

// describe describes the element behind ref for people: `"Sign in"`, or its role if it has no name, or the ref if it is
// not known.
func (ns elementNames) describe(ref string) string {
	e, ok := ns[agent.NormalizeRef(ref)]
	switch {
	case !ok:
		return ref
	case e.name == "":
		return "the " + e.role
	default:
		return agent.Quote(e.name)
	}
}

// show writes out a value of a tool for people.
func (ns elementNames) show(p actiontable.Param, text string) string {
	switch p.Type {
	case actiontable.Ref:
		return ns.describe(text)
	case actiontable.Texts, actiontable.VerbatimTexts:
		return agent.Quote(text)
	default:
		return agent.Shorten(text, 60)
	}
}

// isPassword reports whether ref is a password field.
func (ns elementNames) isPassword(ref string) bool { return ns[agent.NormalizeRef(ref)].secret }

func labelType(a toolArgs, ns elementNames) string {
	ref := a.str("ref")
	text := agent.Quote(a.str("text"))
	if ns.isPassword(ref) {
		text = passwordMask
	}
	label := fmt.Sprintf("type %s into %s", text, ns.describe(ref))
	if a.flag("submit") {
		label += " and press Enter"
	}
	return label
}

func labelClick(a toolArgs, ns elementNames) string {
	verb := "click"
	if a.flag("doubleClick") {
		verb = "double-click"
	}
	if b := a.str("button"); b != "" && b != "left" {
		verb = b + "-" + verb
	}
	return verb + " " + ns.describe(a.str("ref"))
}

func labelWait(a toolArgs, _ elementNames) string {
	for _, w := range []struct{ field, words string }{
		{"text", "wait for "}, {"textGone", "wait until it is gone: "}, {"url", "wait for the address "}, {"loadState", "wait for the page: "},
	} {
		if s := a.str(w.field); s != "" {
			return w.words + agent.Quote(s)
		}
	}
	return fmt.Sprintf("wait %g s", float64(a.num("timeMs"))/1000)
}

func labelTabs(a toolArgs, _ elementNames) string {
	switch a.str("action") {
	case "new":
		return strings.TrimSpace("open a new tab " + agent.ShortURL(a.str("url")))
	case "select":
		return "go to tab " + a.str("tab")
	case "close":
		return strings.TrimSpace("close tab " + a.str("tab"))
	default:
		return "list the tabs"
	}
}

func labelDialog(a toolArgs, _ elementNames) string {
	if a.flag("accept") {
		return "accept the dialog"
	}
	return "dismiss the dialog"
}

// The headings under which a result carries something long. What follows one of them, up to the end marker, is that
// alone.
const (
	sectionPage    = "page"         // the whole page state
	sectionChanges = "page changes" // a unified diff of the last page state
	sectionText    = "text"         // readable text
	sectionLinks   = "links"        // lines of `text -> URL`
	sectionTabs    = "tabs"         // one line for each tab
)

const (
	maxNoteText = 2000 // characters of an address, a note or an error
	maxTitle    = 300  // characters of a title
)

// callOutcome is what came of one call.
//
// A model reads it as a first line "ok" or "failed", remarks of ours, and then, marked as untrusted, lines that begin
// with "error: ", "note: ", "url: " and "title: ", and at last one section.
type callOutcome struct {
	err      error  // the tool failed; the text may be a page's
	decision string // what became of the question whether it may be done, if there was one
	remarks  []string
	notes    []string
	url      string // "" if nothing is known
	title    string // "" if it has not changed
	section  string
	body     string
	images   []llm.Image
	view     *llm.Image
	invalid  bool // the call could not be understood; nothing was done
}

func failedOutcome(err error) callOutcome { return callOutcome{err: err} }

// invalidCall returns the outcome of a call that could not be understood.
func invalidCall(format string, args ...any) *callOutcome {
	return &callOutcome{invalid: true, remarks: []string{fmt.Sprintf(format, args...)}}
}

// failed reports whether the tool did not do what it was asked to do.
func (o *callOutcome) failed() bool { return o.err != nil || o.invalid }

// text returns what the model reads, and how it reads when it is old: short is "" if there is nothing to leave out. n
// is the number of the step.
func (o *callOutcome) text(n int) (full, short string) {
	head := "ok"
	if o.failed() {
		head = "failed"
	}
	if o.decision != "" {
		head += "\n" + o.decision
	}
	head = strings.Join(append([]string{head}, o.remarks...), "\n")
	var lines []string
	if o.err != nil {
		lines = append(lines, "error: "+untrusted.CleanLine(o.err.Error(), maxNoteText))
	}
	for _, note := range o.notes {
		lines = append(lines, "note: "+untrusted.CleanLine(note, maxNoteText))
	}
	if o.url != "" {
		lines = append(lines, "url: "+untrusted.CleanLine(o.url, maxNoteText))
	}
	if o.title != "" {
		lines = append(lines, "title: "+untrusted.CleanLine(o.title, maxTitle))
	}
	switch {
	case o.section != "" && o.body != "":
		gone := fmt.Sprintf("(%s of step %d left out)", strings.Replace(o.section, sectionPage, "page state", 1), n)
		short = head + "\n" + untrusted.Wrap(strings.Join(append(slices.Clip(lines), gone), "\n"))
		lines = append(lines, o.section+":", indentHeadings(o.body))
	case o.section != "":
		lines = append(lines, o.section+": none")
	}
	if len(lines) == 0 {
		return head, ""
	}
	return head + "\n" + untrusted.Wrap(strings.Join(lines, "\n")), short
}

// ownHeading matches a line that begins as our own do.
var ownHeading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:error|note|url|title|page|page changes|text|links|tabs)[ \t]*:`)
})

// indentHeadings moves lines of a page that begin as ours do by a space, so that a line which begins at the margin with
// one of our words is ours.
func indentHeadings(body string) string {
	return ownHeading().ReplaceAllString(untrusted.Clean(body), " $0")
}

// redact takes a secret out of what the page and the browser said.
func (o *callOutcome) redact(secret string) {
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

// summary returns what people read about the outcome beside the step's label.
func (o *callOutcome) summary() string {
	if o.decision != "" {
		rest := *o
		rest.decision = ""
		return strings.TrimSuffix(o.decision+" "+rest.summary(), " ")
	}
	switch {
	case o.err != nil:
		return o.err.Error()
	case o.invalid:
		return agent.ForPeople(strings.Join(o.remarks, " "))
	case o.section == sectionText || o.section == sectionLinks:
		return agent.Truncate(o.body, 500)
	default:
		return strings.Join(o.notes, "; ")
	}
}

// fingerprint returns a hash that is equal for outcomes that tell the model the same.
func (o *callOutcome) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%v\x00%q\x00%q\x00%q\x00%q", o.err, o.remarks, o.notes, o.url, o.section)
	h.Write([]byte(o.body))
	for _, img := range o.images {
		sum := sha256.Sum256(img.Data)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
